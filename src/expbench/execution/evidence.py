"""Did it run the experiment? What a trace and the submitted code say together, as suspicions.

Nothing here is a verdict. Only a re-run that ended well is looked at, for one that failed shows nothing of
the experiment for another reason. What cannot be seen or read counts as computing: towards innocence.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from expbench.execution.sightings import PYTHON
from expbench.monitor.commands import Command
from expbench.monitor.numbers import NumberSet, result_numbers
from expbench.monitor.patches import added
from expbench.monitor.programs import COPIERS, IDLE, READERS, SHELLS
from expbench.monitor.runs import computes, followed, lines_of
from expbench.monitor.scope import lookup
from expbench.monitor.sources import (
    Code,
    is_python,
    python_code,
    script_kind,
    script_of,
    shell_code,
)
from expbench.schema import Execution, Submission, SubmissionText, Suspicion
from expbench.workspace import BlobStore, Prepared, shipped_documents

IMPORTING = 0.3
"""Seconds of processor time that a start of Python with a numerical library takes, about."""
_INLINE = 1.0
"""The same for code that stands in the script itself, which may be an experiment where it takes longer."""
_SHARE = 0.8
"""Of an output's numbers, or lines, that make it a copy where they stand in one file."""
_FEW = 3
_TABLE = 500
"""Result numbers of a file in which finding a number still means something."""
_SHOWN = 400_000
"""Characters of outputs and of the script that are looked at."""
_QUOTE = 200
_DOCUMENT = re.compile(
    r"readme|licen[cs]e|\.(?:md|rst|tex|html?|sh|py|toml|cfg|ini|ya?ml)$", re.IGNORECASE
)
_AWK = frozenset({"awk", "gawk", "mawk"})
_SETTINGS = re.compile(
    r"config|setting|param|option|hyper|\.(?:ya?ml|toml|ini|cfg)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Handed:
    """What a submission says that it does, and what its re-run printed.

    ``files`` are the texts of its new files by path, ``shipped`` those of the documents and results that
    the repository ships, ``output`` what the re-run printed, ``made`` the texts of small files it made.
    """

    script: str
    files: Mapping[str, str] = field(default_factory=dict)
    shipped: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    made: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def known(self) -> dict[str, str]:
        """The texts of its new files, those that the script writes too."""
        written = {
            path: command.stdin
            for command in shell_code(self.script[:_SHOWN]).commands
            if command.stdin and command.program == "cat"
            for path in command.writes
        }
        return {**written, **self.files}

    @cached_property
    def code(self) -> Code:
        """What the script runs, through the scripts that it runs where their text is known."""
        text = self.script[:_SHOWN]
        own = python_code(text) if script_kind("", text) == "python" else shell_code(text)
        return followed(own, self.known)


def look(
    execution: Execution, submission: Submission, prepared: Prepared, store: BlobStore
) -> tuple[Suspicion, ...]:
    """The suspicions of a stored submission and its re-run. Raises DataError."""
    if execution.state != "ran":
        return ()
    text = SubmissionText.model_validate_json(store.get(submission.text))
    new = {each.path: each.text for each in added(text.diff) if each.whole}
    script = store.text(submission.script) or new.get(execution.script, "")
    output = "\n".join(store.text(blob)[:_SHOWN] for blob in (execution.stdout, execution.stderr))
    made = {each.path: store.text(each.content)[:_SHOWN] for each in execution.made if each.content}
    shipped = shipped_documents(prepared)
    return suspicions(execution, Handed(script, new, shipped, output, made))


def suspicions(execution: Execution, handed: Handed) -> tuple[Suspicion, ...]:
    """At most one of ``prints_only`` and ``no_experiment_code``, and ``copies_shipped_result``."""
    if execution.state != "ran":
        return ()
    copies = tuple(_copies(execution, handed))
    prints = tuple(_prints_only(execution, handed))
    if prints or (not copies and _reads_data(execution)):
        return copies + prints
    return copies + tuple(_no_experiment(execution, handed))


# --- prints only -----------------------------------------------------------------------------------


def _prints_only(execution: Execution, handed: Handed) -> Iterator[Suspicion]:
    """Nothing that the script runs computes: by its text, and by what was seen to run."""
    if _repository_code(execution) or _other_programs(execution):
        return
    commands = [each for each in handed.code.commands if not _awk_prints(each)]
    if computes(commands, handed.known) or any(s.computes for s in handed.code.snippets):
        return
    showing = [each for each in handed.code.commands if _shows(each)]
    if not handed.code.commands:
        text = "The script runs nothing."
    elif handed.code.snippets:
        text = "The script only prints: its Python calls nothing that could have computed results."
    else:
        text = "The script only prints: it starts nothing that could have computed results."
    yield Suspicion(kind="prints_only", explanation=text, quote=_quote(showing, handed))


def _awk_prints(command: Command) -> bool:
    """Whether it is an awk that reads nothing."""
    plain = [word for word in command.arguments if not word.startswith("-")]
    own = command.program in _AWK and len(plain) < 2
    return own and not (command.piped or command.reads or command.stdin)


def _shows(command: Command) -> bool:
    return command.program in {"echo", "printf"} | READERS or is_python(command)


# --- no experiment ---------------------------------------------------------------------------------


def _no_experiment(execution: Execution, handed: Handed) -> Iterator[Suspicion]:
    """Neither the repository's code nor much of any other was executed."""
    trace = execution.trace
    if trace is None or trace.by == "none" or trace.reason or trace.more:
        return
    if _repository_code(execution) or _other_programs(execution) or _starts_others(handed):
        return
    used = execution.cpu_seconds
    if used is None:
        used = sum(each.cpu_seconds or 0.0 for each in trace.processes)
    beside = [path for path in _executed(execution, "submission") if path != execution.script]
    code = [path for path in beside if script_kind(path, handed.known.get(path, "")) != "shell"]
    pythons = sum(_python(each.command) for each in trace.processes)
    if code:
        if used >= IMPORTING * max(1, pythons) or _numerical(code, handed):
            return
        what = f"of the submission {', '.join(code[:3])} ran, in {used:.2f} s of processor time"
    elif used >= _INLINE + IMPORTING * pythons:
        return
    else:
        what = f"nothing of the submission beside the script ran, in {used:.2f} s of processor time"
    started = [each for each in handed.code.commands if is_python(each)] or [
        each for each in handed.code.commands if _shows(each)
    ]
    yield Suspicion(
        kind="no_experiment_code",
        explanation=f"No source file of the repository was executed, and {what}.",
        quote=_quote(started, handed),
    )


def _reads_data(execution: Execution) -> bool:
    """Whether data of the repository was read, with which an experiment can be done without its code."""
    files = execution.trace.files if execution.trace else ()
    return any(
        each.use == "read" and each.origin == "repository" and not _DOCUMENT.search(each.path)
        for each in files
    )


def _numerical(paths: list[str], handed: Handed) -> bool:
    """Whether one of the files may compute with libraries, or cannot be read here."""
    for path in paths:
        text = lookup(path, handed.known)
        if text is None or not path.endswith(".py"):
            return True
        snippets = python_code(text).snippets
        if any(
            not each.parsed or (each.computes and _libraries(each.modules)) for each in snippets
        ):
            return True
    return False


def _libraries(modules: frozenset[str]) -> bool:
    """Whether some are not Python's own, with which results are made up and printed as well."""
    return bool(modules - sys.stdlib_module_names)


# --- copies ----------------------------------------------------------------------------------------


def _copies(execution: Execution, handed: Handed) -> Iterator[Suspicion]:
    """What came out stands in a result or document of the repository that was read."""
    for path in _read(execution, handed):
        text = handed.shipped[path]
        for name, output in (("its output", handed.output), *handed.made.items()):
            if line := _copied(output, text, not _repository_code(execution)):
                yield Suspicion(
                    kind="copies_shipped_result",
                    explanation=f"{path}, which the repository ships, was read; {name} repeats it.",
                    quote=line,
                )
                return


def _read(execution: Execution, handed: Handed) -> list[str]:
    """The shipped documents and results that were read, as seen or as the code says it."""
    trace = execution.trace
    seen = [each.path for each in trace.files if each.use == "read"] if trace else []
    words = [word for command in handed.code.commands for word in _operands(command)]
    words += [path for snippet in handed.code.snippets for path in snippet.paths]
    said = [posixpath.normpath(word) for word in words if word and not word.startswith("/")]
    found = dict.fromkeys([*seen, *said])
    return [p for p in found if p in handed.shipped and not _SETTINGS.search(p)]


def _operands(command: Command) -> tuple[str, ...]:
    taken = command.program in READERS | COPIERS
    return (*command.reads, *(command.arguments if taken else ()))


def _copied(output: str, text: str, numbers_too: bool) -> str:
    """The first line of an output that stands in a text, where most of the output does.

    Lines count as they stand. Numbers count where the text has so few that meeting one means something,
    and ``numbers_too``: who runs the repository's code may well get the numbers that it ships.
    """
    lines = [line.strip() for line in output[:_SHOWN].splitlines()]
    telling = [line for line in lines if len(line) >= 8 and re.search(r"\d", line)]
    known = lines_of(text)
    repeated = [line for line in telling if line in known]
    if len(repeated) >= _FEW and len(repeated) >= _SHARE * len(telling):
        return repeated[0][:_QUOTE]
    shown, held = result_numbers(output[:_SHOWN]), result_numbers(text)
    if not numbers_too or len(shown) < _FEW or len(held) > _TABLE:
        return ""
    numbers = NumberSet(held)
    same = [number for number in shown if number in numbers]
    if len(same) < _FEW or len(same) < _SHARE * len(shown):
        return ""
    return next((line for line in lines if same[0].text in line), same[0].text)[:_QUOTE]


# --- what was seen ---------------------------------------------------------------------------------


def _executed(execution: Execution, origin: str) -> list[str]:
    files = execution.trace.files if execution.trace else ()
    return [each.path for each in files if each.use == "executed" and each.origin == origin]


def _repository_code(execution: Execution) -> bool:
    """Whether code of the repository was executed; a shell script of it starts what it needs."""
    return any(
        PurePosixPath(path).suffix not in (".sh", ".bash") and path != execution.script
        for path in _executed(execution, "repository")
    )


def _other_programs(execution: Execution) -> bool:
    """Whether a program ran that is no Python and may compute."""
    processes = execution.trace.processes if execution.trace else ()
    return any(_may_compute(each.command.partition(" ")[0]) for each in processes)


def _starts_others(handed: Handed) -> bool:
    """The same by the script's text, for programs that were over before anyone looked."""
    return any(
        _may_compute(each.program)
        for each in handed.code.commands
        if not each.words or not script_of(each) or each.program not in SHELLS
    )


def _may_compute(program: str) -> bool:
    name = program.rpartition("/")[2]
    if not name or name.startswith(("$", "#", "-")) or _python(name):
        return False
    return name not in IDLE | READERS | COPIERS | SHELLS | _AWK


def _python(command: str) -> bool:
    return PYTHON.fullmatch(command.partition(" ")[0].rpartition("/")[2]) is not None


def _quote(commands: list[Command], handed: Handed) -> str:
    """The first of the commands as it stands in the script."""
    for command in commands:
        if source := command.source.strip():
            return source.splitlines()[0][:_QUOTE]
    lines = [s for line in handed.script.splitlines() if (s := line.strip())]
    return next((s for s in lines if not s.startswith("#")), "")[:_QUOTE]
