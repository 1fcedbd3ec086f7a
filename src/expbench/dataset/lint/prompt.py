"""Rules over the visible text: what an agent reads must not tell what comes out, or send it to the paper.

Numbers that the design names as settings are no results, wherever they stand. A number with fewer than
three significant digits says little by itself: it counts when it has a unit or decimals, stands in a
sentence that speaks of a result, and is in the expected outcome in the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from expbench.dataset.citations import repository_path
from expbench.dataset.lint.finding import Finding, finding, span
from expbench.dataset.lint.numbers import (
    MIN_DIGITS,
    ResultNumbers,
    located_numbers,
    results_of,
    settings_of,
    stated,
)
from expbench.schema import ResearchTask

RUN_WORDS = 8
"""Words in a row, shared by prompt and outcome, from which the outcome is quoted."""

_TOKEN = re.compile(r"\w+(?:[.'’]\w+)*")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_TELLS = re.compile(
    r"\b(?:achiev\w*|reach\w*|report(?:s|ed)|result(?:s|ed|ing)? (?:in|of|show\w*)|expected|improv\w+|"
    r"increas\w+|decreas\w+|reduc\w+|outperform\w*|approximately|around|near|gains?|drops?|yield\w*|"
    r"exceed\w*|observed|shows?|attain\w*|obtain\w*|up to|as (?:high|low) as)\b",
    re.I,
)
_VERDICT = re.compile(
    r"\b(?:outperform\w*|higher|lower|better|worse|best|improv\w*|increas\w*|decreas\w*|reduc\w*|"
    r"degrad\w*|converg\w*|drops?|gains?|correctly|successful\w*|significant\w*|consistent\w*|"
    r"should|superior|faster|approximately|around|direct)\b",
    re.I,
)
_ASKS = re.compile(r"\b(?:which|whether|how|what)\b", re.I)
_SHORT = re.compile(
    r"(?<![\w.,–-])([-−–+]?\d{1,3}(?:\.\d+)?(?:\s?[–-]\s?\d{1,3}(?:\.\d+)?)?)\s?(%|percent\b|×|x\b|ms\b|dB\b|GB\b|MB\b|points?\b)?"
    r"(?![\w,]*\d|\.\d)"
)
_PAPER = re.compile(
    r"\b(?:tables?|tab\.|figures?|figs?\.?|sections?|sec\.|appendix|appendices)\s*~?\(?"
    r"(?:\d+(?:\.\d+)*[a-z]?\b|(?-i:[A-Z])(?:\.\d+)*\b(?![\w'’-]))|§\s*\d[\d.]*",
    re.I,
)
_FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w*")
_YES_NO = re.compile(
    r"(?:^|[.?!:,]\s+|\n)\W*(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have)\b"
    r"[^?]*(?:\?|$)",
    re.I,
)
_DIRECTION = re.compile(
    r"\b(?:outperf\w*|out-?perform\w*|surpass\w*|exceed\w*|improv\w*|increas\w*|decreas\w*|reduc\w*|"
    r"enhanc\w*|degrad\w*|boost\w*|lead to|leads to|result in|contribut\w*|benefi\w*|accelerat\w*|"
    r"(?:high|low|bett|wors|fast|slow|great|larg|small|strong|weak|clos|long|short|few)er?|more|less|"
    r"best|superior|inferior|state-of-the-art|comparable|competitive|similar|significant\w*|"
    r"effective\w*|efficient\w*|accurate\w*|successful\w*|robust\w*|consistent\w*|maintain\w*|"
    r"preserv\w*|generali[sz]e\w*|retain\w*|match\w*|sufficient\w*|necessary|essential|critical|"
    r"optimal|able to|capable|achiev\w*|help\w*|mitigat\w*|prevent\w*|suffer\w*)\b",
    re.I,
)
_CHANGES = re.compile(r"\b(?:affect|influence|impact|differ|var(?:y|ies)|change)\w*", re.I)
_OPEN = re.compile(
    r"^\W*\w+\s+(?:\S+\s+){1,3}or\s|\b(?:higher or lower|lower or higher|more or less|"
    r"better or worse|increase or decrease|or not)\b",
    re.I,
)
_DENIES = re.compile(
    r"\b(?:does not|do not|did not|doesn['’]t|no significant|not (?:significant|necessar|always|consist)\w*|"
    r"fails? to|cannot|no (?:clear|consistent|meaningful) |contrary)\b",
    re.I,
)


def visible(task: ResearchTask) -> dict[str, str]:
    """The fields that an agent reads."""
    return {"question": task.question, "method": task.method, "instructions": task.instructions}


def prompt_findings(task: ResearchTask) -> Iterator[Finding]:
    """All findings in a task's visible text."""
    texts = visible(task)
    yield from _result_numbers(task, texts)
    yield from _outcome_runs(task, texts)
    for field, text in texts.items():
        seen: set[str] = set()
        for match in _PAPER.finditer(text):
            if match.group().lower() not in seen:
                seen.add(match.group().lower())
                yield finding(task.id, "paper_reference", span(field, *match.span()), match.group())
        yield from _mask_names(task, field, text)
    yield from _yes_no(task)


def _result_numbers(task: ResearchTask, texts: Mapping[str, str]) -> Iterator[Finding]:
    results = results_of(task)
    settings = settings_of(task)
    numbers = ResultNumbers(results - stated(settings, results))
    short = _short_forms(task.reference.conclusion) - set().union(*map(_short_forms, settings))
    for field, text in texts.items():
        sure = {written for _, written in numbers.stated_in(text)}
        told: set[str] = set()
        for _, match in located_numbers(text):
            written = match.group().strip()
            if written in sure and written not in told:
                told.add(written)
                place = span(field, match.start(), match.start() + len(written))
                yield finding(task.id, "result_in_prompt", place, _around(text, match))
        for sentence in _SENTENCE.finditer(text) if short else ():
            if not _TELLS.search(sentence.group()):
                continue
            for match in _SHORT.finditer(sentence.group()):
                form = _form(match)
                if form in short and form not in told:
                    told.add(form)
                    at = sentence.start() + match.start()
                    place = span(field, at, at + len(match.group().strip()))
                    evidence = _around(sentence.group(), match)
                    yield finding(task.id, "result_in_prompt", place, evidence, "warning")


def _short_forms(text: str) -> set[str]:
    return {form for match in _SHORT.finditer(text) if (form := _form(match))}


def _form(match: re.Match[str]) -> str:
    """A short number as written, with its unit; empty when it is bare or long enough for the other rule."""
    number, unit = match.group(1).lstrip("+–").replace("−", "-"), match.group(2) or ""
    number = number.replace(" ", "").replace("–", "-")
    first = number.lstrip("-").partition("-")[0].replace(".", "").lstrip("0")
    if not first or len(first) >= MIN_DIGITS or not (unit or "." in number):
        return ""
    return number + unit.lower().replace("percent", "%").rstrip("s")


def _outcome_runs(task: ResearchTask, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Runs of words that quote a verdict of the outcome, each field's longest."""
    told = _words(task.reference.conclusion)
    runs = {tuple(told[i : i + RUN_WORDS]) for i in range(len(told) - RUN_WORDS + 1)}
    settings = " ".join(" ".join(_words(text)) for text in settings_of(task))
    for field, text in texts.items():
        tokens = list(_TOKEN.finditer(text))
        words = [token.group().lower() for token in tokens]
        longest = (0, 0)
        start = 0
        while start <= len(words) - RUN_WORDS:
            length = 0
            while tuple(words[start + length : start + length + RUN_WORDS]) in runs:
                length += 1
            if length:
                end = start + length + RUN_WORDS - 1
                quote = text[tokens[start].start() : tokens[end - 1].end()]
                if _quotes_verdict(quote, settings) and end - start > longest[1] - longest[0]:
                    longest = (start, end)
            start += length + 1
        if longest[1]:
            first, last = tokens[longest[0]].start(), tokens[longest[1] - 1].end()
            yield finding(
                task.id, "result_in_prompt", span(field, first, last), text[first:last], "warning"
            )


def _quotes_verdict(quote: str, settings: str) -> bool:
    return (
        _VERDICT.search(quote) is not None
        and _ASKS.search(quote) is None
        and " ".join(_words(quote)) not in settings
    )


def _words(text: str) -> list[str]:
    return [match.group().lower() for match in _TOKEN.finditer(text)]


def _mask_names(task: ResearchTask, field: str, text: str) -> Iterator[Finding]:
    told: set[str] = set()
    for match in _FILE.finditer(text) if task.mask else ():
        name = repository_path(match.group()).lstrip("./")
        hidden = [path for path in task.mask if path == name or path.endswith(f"/{name}")]
        if hidden and name not in told:
            told.add(name)
            place = span(field, *match.span())
            evidence = f"{match.group()} (masked: {hidden[0]})"
            yield finding(task.id, "mask_named_in_prompt", place, evidence)


def _yes_no(task: ResearchTask) -> Iterator[Finding]:
    """A direction in the wording, which the outcome affirms in its first sentence."""
    if _DENIES.search(task.reference.conclusion[:300]):
        return
    for match in _YES_NO.finditer(task.question):
        asked = match.group()
        if _directs(asked):
            place = span("question", *match.span())
            yield finding(task.id, "yes_no_question", place, asked.lstrip(".?!:, \n*-"))
            return


def _directs(asked: str) -> bool:
    """Whether a question says which way: not one between two things, or whether anything changes."""
    direction = _DIRECTION.search(asked)
    change = _CHANGES.search(asked)
    first = direction is not None and (change is None or direction.start() < change.start())
    return first and not _OPEN.search(asked)


def _around(text: str, match: re.Match[str], margin: int = 35) -> str:
    return text[max(0, match.start() - margin) : match.end() + margin]
