"""Submitted code from requirements: the authors' own, without parts of it, or only talk about it.

With the repository, the authors' masked files are put back as they were, which is an implementation; a
requirement is then taken away by leaving out every file that it cites, by another value in its lines,
or by keeping its lines where nothing runs them. Without the repository only hollow code can be made:
comments, documentation, printed words, stubs.
"""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from expbench.judge_eval.cases import Label, LabelledItem
from expbench.judge_eval.variants.wording import numbers_of
from expbench.schema import Citation, Requirement, ResearchTask, RubricItem
from expbench.syntax import parse_python

Code = Callable[[Citation], str]
"""Gives the authors' code at a citation; an empty string when it cannot be had."""

_WHOLE = ((1, 100_000),)
_TALK = re.compile(
    r"\b(?:print|log|report|display|echo|output|save|writ|document|describ|comment|readme|explain|"
    r"summari|visuali|creat\w* (?:a )?(?:director|folder|script|file))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")


@dataclass(frozen=True)
class Made:
    """A submitted patch and script with their labelled items."""

    patch: str = ""
    script: str = ""
    items: tuple[LabelledItem, ...] = ()


def varied_implementation(
    task: ResearchTask,
    items: Sequence[RubricItem],
    number: int,
    chance: random.Random,
    code: Code | None,
) -> Made:
    """A patch and its items: in round 0 everything is there, in round 3 it is only talk."""
    own = [item for item in items if item.phase == "implementation"]
    if not own:
        return Made()
    steps = task.reference.requirements
    files = _masked_files(task, code) if code and len(steps) == len(own) else {}
    runs = [path for path, text in files.items() if _starts(path, text)]
    if number == 3:
        return _hollow(own, chance)
    if not runs:
        return Made()
    restored = _Restored(own, steps, files, _script(runs))
    if number == 0:
        return restored.whole()
    if number == 1 and chance.random() < 0.5:
        return _dead(own, chance)
    made = restored.without_one(chance) if number == 1 else restored.other_value(chance)
    return made or _dead(own, chance)


@dataclass(frozen=True)
class _Restored:
    """The authors' masked files, put back."""

    items: Sequence[RubricItem]
    steps: Sequence[Requirement]
    files: Mapping[str, str]
    script: str

    def whole(self) -> Made:
        """All files: every requirement that cites only them is met."""
        labelled = [
            _labelled(item, "met", "implemented")
            for item, step in zip(self.items, self.steps, strict=True)
            if self._covers(step)
        ]
        return Made(_patch(self.files), self.script, tuple(labelled))

    def without_one(self, chance: random.Random) -> Made | None:
        """Without the files of one requirement: not met, as all others that cite only those."""
        steps = [step for step in self.steps if self._covers(step)]
        if not steps:
            return None
        gone = {citation.path for citation in chance.choice(steps).citations}
        left = {path: text for path, text in self.files.items() if path not in gone}
        labelled = [
            _labelled(item, "not_met", "missing")
            for item, step in zip(self.items, self.steps, strict=True)
            if step.citations and {citation.path for citation in step.citations} <= gone
        ]
        return Made(_patch(left), self.script, tuple(labelled))

    def other_value(self, chance: random.Random) -> Made | None:
        """One number of one requirement changed at its cited lines, where it stands only there."""
        order = list(range(len(self.steps)))
        chance.shuffle(order)
        for index in order:
            step = self.steps[index]
            if not self._covers(step):
                continue
            for number in sorted(numbers_of(step.text), key=len, reverse=True):
                if len(number) > 1 and (files := self._changed(step, number)):
                    return Made(_patch(files), self.script, self._labels(index, number))
        return None

    def _labels(self, changed: int, number: str) -> tuple[LabelledItem, ...]:
        touched = {citation.path for citation in self.steps[changed].citations}
        found = [_labelled(self.items[changed], "not_met", "wrong_value")]
        for index, (item, step) in enumerate(zip(self.items, self.steps, strict=True)):
            apart = not touched & {citation.path for citation in step.citations}
            if index != changed and apart and self._covers(step) and number not in step.text:
                found.append(_labelled(item, "met", "implemented"))
        return tuple(found)

    def _changed(self, step: Requirement, number: str) -> dict[str, str] | None:
        """The files with the number changed; ``None`` unless it stands once, in the cited lines."""
        exact = re.compile(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)")
        places = [(path, m) for path, text in self.files.items() for m in exact.finditer(text)]
        if len(places) != 1:
            return None
        path, match = places[0]
        text = self.files[path]
        line = text.count("\n", 0, match.start()) + 1
        cited = [c for c in step.citations if c.path == path]
        if not any(first <= line <= last for c in cited for first, last in c.ranges):
            return None
        comment = text.rfind("#", text.rfind("\n", 0, match.start()) + 1, match.start())
        if comment >= 0 or not _NUMBER.fullmatch(number):
            return None
        other = f"{number}7" if "." in number else str(int(number) * 2 + 3)
        return {**self.files, path: text[: match.start()] + other + text[match.end() :]}

    def _covers(self, step: Requirement) -> bool:
        return bool(step.citations) and all(c.path in self.files for c in step.citations)


def _masked_files(task: ResearchTask, code: Code) -> dict[str, str]:
    """The masked files' texts; empty when one cannot be had, since then no label is sure."""
    found = {}
    for path in task.mask:
        text = code(Citation(path=path, ranges=_WHOLE))
        if not text.strip():
            return {}
        found[path] = text
    return found


def _starts(path: str, text: str) -> bool:
    return path.endswith(".sh") or (path.endswith(".py") and "__main__" in text)


def _script(runs: Sequence[str]) -> str:
    shell = [path for path in runs if path.endswith(".sh")]
    lines = [f"bash {path}" for path in shell] or [f"python {path}" for path in runs]
    return "\n".join(["#!/bin/bash", "set -e", *lines, ""])


def _hollow(items: Sequence[RubricItem], chance: random.Random) -> Made:
    """Files that say what is to be done and do nothing."""
    kind, path, write = chance.choice(_HOLLOW)
    talk = [item for item in items if not _TALK.search(item.text)]
    body = write([" ".join(item.text.split()) for item in items])
    script = f"#!/bin/bash\npython {path}\n" if path.endswith(".py") else "#!/bin/bash\ntrue\n"
    labelled = tuple(_labelled(item, "not_met", kind) for item in talk)
    return Made(_patch({path: body}), script, labelled) if labelled else Made()


def _dead(items: Sequence[RubricItem], chance: random.Random) -> Made:
    """The authors' lines for some requirements below ``if False``, and nothing else."""
    lines, labelled = ["import sys", "", "", "if False:"], []
    for item in items:
        code = textwrap.indent(textwrap.dedent(item.code).strip("\n"), "    ")
        try:
            parse_python(f"if False:\n{code}")
        except (SyntaxError, ValueError):
            continue
        if code.strip() and not _TALK.search(item.text):
            lines.append(code)
            labelled.append(_labelled(item, "not_met", "dead_code"))
    if not labelled:
        return _hollow(items, chance)
    body = "\n".join([*lines, "", "sys.exit(0)", ""])
    return Made(_patch({"main.py": body}), "#!/bin/bash\npython main.py\n", tuple(labelled))


def _comments(steps: Sequence[str]) -> str:
    return "\n".join(["import sys", "", *(f"# {step}" for step in steps), "sys.exit(0)", ""])


def _docstring(steps: Sequence[str]) -> str:
    said = [step.replace("\\", "/").replace('"', "'") for step in steps]
    return "\n".join(
        ['"""This program:', "", *said, '"""', "", "import sys", "", "sys.exit(0)", ""]
    )


def _printed(steps: Sequence[str]) -> str:
    return "\n".join(f"print({step!r})" for step in steps) + "\n"


def _readme(steps: Sequence[str]) -> str:
    return "\n".join(["# What has to be done", "", *(f"- {step}" for step in steps), ""])


def _stubs(steps: Sequence[str]) -> str:
    parts = [
        f"def step_{index}():\n    # {step}\n    raise NotImplementedError\n"
        for index, step in enumerate(steps, 1)
    ]
    return "\n\n".join(parts)


_HOLLOW: tuple[tuple[str, str, Callable[[Sequence[str]], str]], ...] = (
    ("only_a_comment", "experiment.py", _comments),
    ("only_docstring", "experiment.py", _docstring),
    ("only_printed", "experiment.py", _printed),
    ("only_in_readme", "NOTES.md", _readme),
    ("stub", "experiment.py", _stubs),
)


def _labelled(item: RubricItem, label: Label, kind: str) -> LabelledItem:
    return LabelledItem(
        phase="implementation",
        text=item.text,
        label=label,
        kind=kind,
        rubric_kind=item.kind,
        code=item.code,
    )


def _patch(files: Mapping[str, str]) -> str:
    """New files as git shows them."""
    parts = []
    for path, text in sorted(files.items()):
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        parts.append(
            f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
            f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
        )
    return "".join(parts)
