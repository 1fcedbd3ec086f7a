"""Words as numbers: the same shares as by the words themselves."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from expbench.workspace.wording import RUN, Wording, Words, share, telling_words

WORDS = st.sampled_from(
    [
        "a",
        "if",
        "Loss",
        "loss",
        "model",
        "config",
        "configure",
        "x_1",
        "naïve",
        "☃",
        "resnet50",
        "to_32bit",
        "0.12345",
        "20261130",
    ]
)
TEXTS = st.lists(WORDS, max_size=40).flatmap(
    lambda words: st.sampled_from([" ", "\n", "(", ", "]).map(lambda gap: gap.join(words))
)


def words(text: str) -> list[bytes]:
    return re.findall(rb"[0-9A-Za-z_\x80-\xff]+", text.encode().lower())


def telling(text: str) -> set[bytes]:
    return set(re.findall(rb"[A-Za-z_\x80-\xff]{4,}", text.encode().lower()))


def runs(text: str) -> set[tuple[bytes, ...]]:
    found = words(text)
    length = min(RUN, len(found))
    return (
        {tuple(found[i : i + length]) for i in range(len(found) - length + 1)} if found else set()
    )


@given(TEXTS, TEXTS)
def test_the_share_of_runs_is_that_of_the_words_themselves(one: str, other: str) -> None:
    wanted, held = runs(one), runs(other)
    found = Words.of(one.encode()).runs
    assert len(found) == len(wanted)
    expected = len(wanted & held) / len(wanted) if wanted else 0.0
    assert share(found, Words.of(other.encode()).runs) == expected


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=3), TEXTS)
def test_texts_with_two_thirds_of_a_sample_are_found(
    first: list[str], later: list[str], asked: str
) -> None:
    """Whenever they were learnt."""
    wording = Wording()
    names: dict[str, str] = {}
    for batch in (first, later):
        new = {f"{len(names)}-{n}": text for n, text in enumerate(batch)}
        names |= new
        assert wording.unknown(new) == list(new)
        wording.learn(list(new), {name: text.encode() for name, text in new.items()}.__getitem__)
        assert not wording.unknown(new)
    sample = wording.sample("asked", 1000, lambda _: asked.encode())
    wanted = telling(asked)
    assert len(sample) == len(wanted)
    expected = {
        name for name, text in names.items() if 3 * len(wanted & telling(text)) >= 2 * len(wanted)
    }
    assert wording.holding([sample, sample[:0]]) == [expected, set(names)]


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_texts_that_are_read_together_have_the_words_that_each_has(texts: list[str]) -> None:
    together = list(telling_words([text.encode() for text in texts]))
    alone = [next(telling_words([text.encode()])) for text in texts]
    assert [list(each) for each in together] == [list(each) for each in alone]
    assert [len(each) for each in together] == [len(telling(text)) for text in texts]
