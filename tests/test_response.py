"""``response.json`` as agents really write it: what can be read is read, and nothing raises."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expbench.schema import Blob, Submission
from expbench.workspace import Response, parse_response
from expbench.workspace.submission.response import TEXT_CAP

GOOD = {"design": "vary the rate", "conclusion": "0.1 wins"}
TEXT = json.dumps(GOOD)
READ = Response("vary the rate", "0.1 wins")


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        json.dumps(GOOD, indent=4).replace("\n", "\r\n").encode(),
        f"```json\n{TEXT}\n```\n".encode(),
        f"Here is my {{final}} answer:\n\n{TEXT}\n\nI hope this helps {{you}}.".encode(),
        f"{TEXT}\n{TEXT}\n".encode(),
        f"[{TEXT}]".encode(),
        f'{{"notes": 1}}\n{TEXT}'.encode(),
        json.dumps({"Design": GOOD["design"], "CONCLUSION": GOOD["conclusion"]}).encode(),
        json.dumps({"task": "t", "response": {"answer": GOOD}}).encode(),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        f"```json\n{TEXT}\n```".encode("utf-16-le"),
        json.dumps(TEXT).encode(),
        f"answer: {json.dumps(TEXT)}".encode(),
        json.dumps({"answers": [{"id": 1}, GOOD]}).encode(),
        json.dumps({"plan": {"design": GOOD["design"]}, "conclusion": GOOD["conclusion"]}).encode(),
        b'{"design": "vary the rate"}\n{"conclusion": "0.1 wins"}',
        json.dumps({"experiment_design": GOOD["design"], "conclusions": "0.1 wins"}).encode(),
        json.dumps({"design": "", "notes": {"design": GOOD["design"]}, **GOOD}).encode(),
        json.dumps({"task": 5, **GOOD, "extra": [1, 2]}).encode(),
        b'{"design": "x", "design": "vary the rate", "conclusion": "0.1 wins"}',
    ],
    ids=[
        "plain",
        "utf-8 mark",
        "utf-16 little",
        "utf-16 big",
        "crlf",
        "fenced",
        "prose around",
        "twice",
        "in a list",
        "after another object",
        "other case",
        "wrapped",
        "utf-16 little without mark",
        "utf-16 big without mark",
        "utf-16 fenced",
        "quoted",
        "quoted after prose",
        "in a list of an object",
        "in two places",
        "in two objects",
        "longer names",
        "empty first",
        "more fields",
        "duplicate key",
    ],
)
def test_a_complete_answer_is_read_in_any_wrapping(raw: bytes) -> None:
    """R35"""
    assert parse_response(raw) == READ


def test_latin_1_is_read() -> None:
    """R35"""
    raw = json.dumps({"design": "naïve é", "conclusion": "x"}, ensure_ascii=False)
    assert parse_response(raw.encode("latin-1")).design == "naïve é"


def test_a_cut_character_does_not_spoil_the_others() -> None:
    """R35: one bad byte in UTF-8."""
    raw = json.dumps({"design": "naïve é ü ö", "conclusion": "x"}, ensure_ascii=False).encode()
    found = parse_response(raw.replace("ü".encode(), b"\xc3"))
    assert found.design is not None and found.design.startswith("naïve é ")


def test_quotes_of_windows_are_read() -> None:
    """R35"""
    assert parse_response(b'{"design": "\x93a\x94", "conclusion": "c"}').design == "“a”"


def test_a_raw_newline_in_a_text_is_read() -> None:
    assert parse_response(b'{"design": "a\nb", "conclusion": "c\td"}').design == "a\nb"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one", "one"),
        ("  one \n", "one"),
        (["one", "two"], "one\ntwo"),
        ({"rate": [0.1, 0.2], "seed": 3}, "rate: 0.1\n0.2\nseed: 3"),
        ([{"name": "rate", "values": "0.1"}], "name: rate\nvalues: 0.1"),
        ({"a": {"b": {"c": None}}}, "a: b: c: null"),
        (7, "7"),
        (0, "0"),
        (False, "false"),
        (1.5, "1.5"),
    ],
)
def test_a_design_of_any_shape_becomes_text(value: object, text: str) -> None:
    found = parse_response(json.dumps({"design": value, "conclusion": "c"}).encode())
    assert found == Response(text, "c")


@pytest.mark.parametrize("nothing", [None, "", " \n", [], {}])
@pytest.mark.parametrize("name", ["design", "conclusion"])
def test_an_empty_field_is_a_named_problem(name: str, nothing: object) -> None:
    found = parse_response(json.dumps({**GOOD, name: nothing}).encode())
    assert getattr(found, name) is None
    assert found.problems == (f"response.json has no {name}",)
    other = "conclusion" if name == "design" else "design"
    assert getattr(found, other) == GOOD[other]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (None, "no response.json"),
        (b"", "response.json holds no JSON object"),
        (b"\0" * 100, "response.json holds no JSON object"),
        (b"[1, 2]", "response.json holds no JSON object"),
        (b'"design"', "response.json holds no JSON object"),
        (TEXT[:-20].encode(), "response.json holds no JSON object"),
        (b"{design: 'x'}", "response.json holds no JSON object"),
        (b"\xff\xfe{", "response.json holds no JSON object"),
    ],
    ids=["absent", "empty", "nul", "list", "text", "truncated", "not json", "half utf-16"],
)
def test_what_cannot_be_read_is_a_named_problem(raw: bytes | None, problem: str) -> None:
    assert parse_response(raw) == Response(None, None, (problem,))


def test_an_object_with_neither_field_says_so_for_both() -> None:
    assert len(parse_response(b'{"answer": 1}').problems) == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"{" * 5_000_000,
        b"[" * 5_000_000,
        b'{"design":' * 500_000,
        b'{"design":[' * 450_000,
        b'{"design": "' + b"x" * 5_000_000,
        b'{"a":[' * 450 + b'{"b":1},' * 500_000,
        b'{"a":[' + b'{"b":1},' * 500_000,
        b'{"' * 2_500_000,
        bytes(range(256)) * 20_000,
        b'{"design": ' + b"9" * 5_000_000 + b"}",
        b'{"design": "' + b"\\ud800" * 800_000 + b'"}',
    ],
    ids=[
        "braces",
        "brackets",
        "nested objects",
        "nested lists",
        "endless text",
        "wide in deep",
        "wide",
        "quotes",
        "binary",
        "digits",
        "surrogates",
    ],
)
def test_five_megabytes_of_garbage_end_soon(raw: bytes) -> None:
    """R29, R35: bounded work, bounded text."""
    started = time.monotonic()
    found = parse_response(raw)
    assert time.monotonic() - started < 10
    assert found.problems
    assert len(found.design or "") <= TEXT_CAP * 6


def test_a_text_that_is_too_long_is_cut() -> None:
    found = parse_response(json.dumps({**GOOD, "conclusion": "x" * 1_000_000}).encode())
    assert found.conclusion == "x" * TEXT_CAP
    assert found.design == GOOD["design"]


@pytest.mark.parametrize("depth", [19, 20, 21, 50, 300, 900, 930, 960, 980, 990])
def test_deep_nesting_is_cut_not_raised(depth: int) -> None:
    raw = '{"design": ' + "[" * depth + '"x"' + "]" * depth + ', "conclusion": "c"}'
    found = parse_response(raw.encode())
    assert isinstance(found, Response)
    assert depth > 19 or found == Response("x", "c")


def test_lone_surrogates_fit_into_a_submission() -> None:
    """R35: JSON can escape half a character, which no file can hold."""
    found = parse_response(b'{"design": "a \\ud83d b", "conclusion": "\\ud83e\\uddea"}')
    none = Blob(digest="0" * 64, size=0)
    made = Submission(
        task_id="v/p/0",
        base_tree="",
        design=found.design,
        conclusion=found.conclusion,
        patch=none,
        text=none,
    )
    assert Submission.model_validate_json(made.model_dump_json()) == made
    assert made.conclusion == "🧪"
    assert made.design is not None and made.design.startswith("a ") and made.design.endswith(" b")


def check(found: Response) -> None:
    """What holds of every result."""
    for text in (found.design, found.conclusion):
        assert text is None or text.strip() == text != ""
        (text or "").encode()
    assert bool(found.problems) == (found.design is None or found.conclusion is None)


@given(st.binary(max_size=300))
def test_random_bytes_never_raise(raw: bytes) -> None:
    """R35"""
    check(parse_response(raw))


@given(st.text(alphabet=st.sampled_from('{}[]",:\\ \nud8design0'), max_size=80))
def test_nearly_json_never_raises(text: str) -> None:
    """R35"""
    check(parse_response(text.encode()))
    check(parse_response(b'{"design": ' + text.encode() + TEXT.encode()))


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(design=VALUES, conclusion=VALUES, before=st.text(max_size=10))
def test_any_json_is_read(design: object, conclusion: object, before: str) -> None:
    """R35"""
    raw = json.dumps({"design": design, "conclusion": conclusion})
    found = parse_response(raw.encode())
    check(found)
    if isinstance(design, str) and design.strip():
        assert found.design == design.strip()
    check(parse_response((before + raw).encode()))
