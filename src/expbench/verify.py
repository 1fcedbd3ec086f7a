"""Is the ground truth true? The authors' own code, run in the sandbox, held against the expected outcome.

The whole repository at its pin, nothing masked, is written to a folder and a command runs there ``k``
times, by default the task's ``source`` scripts in order (notebooks as their code cells). What the runs
print and the text files that they make are searched for what the outcome claims: its result numbers,
or a pattern that a person gives for an outcome that has none. A run that fails, or that does not show a
number, says nothing against the truth: only a pattern that a person gives for the opposite contradicts.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from expbench.dataset.errata import Erratum, Kind
from expbench.errors import UserError
from expbench.monitor.numbers import NumberSet, result_numbers
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits, Policy, Record, ResearchTask
from expbench.workspace import Source, freeze, read_files, write_whole

State = Literal["confirmed", "contradicted", "stochastic", "not_runnable", "needs_a_reader"]

_TEXT_CAP = 2_000_000
_SHOWN = 4_000


class VerifyRun(Record):
    """One run: how it ended, what of the outcome it showed, and the end of its output."""

    exit_code: int
    seconds: float
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    contradiction: str = ""
    output: str = ""


class Verification(Record):
    """What ``k`` runs of the authors' code say about a task's expected outcome."""

    task_id: str
    command: str
    state: State
    reason: str
    runs: tuple[VerifyRun, ...] = ()


@dataclass(frozen=True)
class Check:
    """What is looked for in a run: the outcome's numbers, or patterns that a person gives."""

    numbers: tuple[str, ...] = ()
    expect: re.Pattern[str] | None = None
    contradict: re.Pattern[str] | None = None

    @classmethod
    def of(cls, task: ResearchTask, expect: str = "", contradict: str = "") -> Check:
        """Raises UserError for a pattern that is none."""
        found = result_numbers(task.reference.conclusion) if not expect else []
        try:
            return cls(
                tuple(dict.fromkeys(number.text for number in found)),
                re.compile(expect, re.MULTILINE) if expect else None,
                re.compile(contradict, re.MULTILINE) if contradict else None,
            )
        except re.error as error:
            raise UserError(f"A pattern is not a regular expression: {error}.") from None

    @property
    def possible(self) -> bool:
        return bool(self.numbers or self.expect)

    def look(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        """(found, missing, what contradicts) in a run's text."""
        against = self.contradict.search(text) if self.contradict else None
        contradiction = against.group()[:200] if against else ""
        if self.expect is not None:
            met = self.expect.search(text)
            if met:
                return (met.group()[:200],), (), contradiction
            return (), (self.expect.pattern,), contradiction
        printed = NumberSet.of(text)
        found = tuple(n for n in self.numbers if result_numbers(n)[0] in printed)
        return found, tuple(n for n in self.numbers if n not in found), contradiction


def default_command(task: ResearchTask, source: Source) -> str:
    """The task's ``source`` scripts, one after the other; modules without a main part are none.

    Raises:
        UserError: the task has no script that can be run as it stands.
    """
    texts = read_files(source, task.reference.source)
    parts = []
    for path in task.reference.source:
        runner = _runner(path, texts.get(path, ""))
        if runner:
            parts.append(f"{runner} {shlex.quote(path)}")
    if not parts:
        raise UserError(f"Task {task.id} names no script that can be run: give it with --command.")
    return " && ".join(parts)


def _runner(path: str, text: str) -> str:
    suffix = PurePosixPath(path).suffix
    if suffix == ".sh":
        return "bash"
    if suffix == ".ipynb":
        return f"python -c {shlex.quote(_NOTEBOOK)}"
    return "python" if suffix == ".py" and re.search(r"__main__|parse_args\(", text) else ""


def verify(
    task: ResearchTask,
    source: Source,
    host: SandboxHost,
    command: str,
    check: Check,
    repeat: int,
    limits: Limits,
) -> Verification:
    """Run the authors' code ``repeat`` times, each on a fresh tree in a fresh sandbox."""
    runs = tuple(_once(source, host, command, check, limits) for _ in range(repeat))
    state, reason = judge_runs(runs, check.possible)
    return Verification(task_id=task.id, command=command, state=state, reason=reason, runs=runs)


def judge_runs(runs: Sequence[VerifyRun], checkable: bool) -> tuple[State, str]:
    """The state that the runs show, and why."""
    total = len(runs)
    if failed := [run for run in runs if run.exit_code != 0]:
        last = failed[0].output.strip().splitlines()
        return "not_runnable", f"exit code {failed[0].exit_code}: {last[-1][:300] if last else ''}"
    against = [run.contradiction for run in runs if run.contradiction]
    complete = sum(not run.missing for run in runs) if checkable else 0
    if len(against) == total:
        return "contradicted", f"in {total} of {total} runs: {against[0]}"
    if checkable and complete == total and not against:
        return "confirmed", f"everything claimed was found in {total} of {total} runs"
    if complete or against:
        return "stochastic", f"claimed: {complete} of {total} runs; opposite: {len(against)}"
    if not checkable:
        return (
            "needs_a_reader",
            "the outcome has no number to look for: read the output, or --expect",
        )
    missing = sorted({text for run in runs for text in run.missing})
    return "needs_a_reader", f"not found in the output: {', '.join(missing)[:300]}"


def _once(
    source: Source, host: SandboxHost, command: str, check: Check, limits: Limits
) -> VerifyRun:
    folder = host.folder()
    try:
        write_whole(freeze(source, other_owner()), folder)
        before = {path: path.stat().st_mtime_ns for path in _texts(folder)}
        with host.start(folder, Policy(limits=limits)) as session:
            done = _run(session, command, limits)
        text = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        made = [path for path in _texts(folder) if before.get(path) != path.stat().st_mtime_ns]
        everything = "\n".join([text, *(_read(path) for path in made)])
        found, missing, contradiction = check.look(everything)
        return VerifyRun(
            exit_code=done.exit_code,
            seconds=round(done.seconds, 2),
            found=found,
            missing=missing,
            contradiction=contradiction,
            output=text[-_SHOWN:],
        )
    finally:
        host.discard(folder)


def _run(session: Session, command: str, limits: Limits) -> Completed:
    place = session.workspace
    path = ":".join(filter(None, (place, f"{place}/src", session.python_path)))
    seconds = limits.minutes * 60
    return session.run(["bash", "-c", command], timeout=seconds, env={"PYTHONPATH": path})


def _texts(folder: Path) -> list[Path]:
    """Regular text-like files that a run may write results to."""
    wanted = (".txt", ".json", ".csv", ".log", ".md", ".tsv")
    return [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in wanted and not path.is_symlink() and path.is_file()
    ]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_TEXT_CAP).decode("utf-8", errors="replace")


_NOTEBOOK = """\
import json, os, sys
path = sys.argv[1]
cells = json.load(open(path, encoding="utf-8"))["cells"]
code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
lines = [l for text in code for l in [*text.splitlines(), ""] if not l.lstrip().startswith(("%", "!"))]
os.chdir(os.path.dirname(os.path.abspath(path)))
sys.path.insert(0, os.getcwd())
exec(compile("\\n".join(lines), path, "exec"), {"__name__": "__main__", "display": print})
"""


_KINDS: dict[State, Kind] = {
    "confirmed": "ground_truth_confirmed",
    "contradicted": "wrong_ground_truth",
    "stochastic": "wrong_ground_truth",
}


def errata_row(verification: Verification) -> Erratum | None:
    """The errata row that the runs support, for a person to check; None where they decide nothing."""
    kind = _KINDS.get(verification.state)
    if kind is None:
        return None
    seconds = ", ".join(f"{run.seconds:g} s" for run in verification.runs)
    return Erratum(
        id=f"{verification.task_id.replace('/', '-')}-verified",
        tasks=(verification.task_id,),
        kind=kind,
        reason=f"The authors' own code, run at the pin: {verification.state}.",
        evidence=f"{verification.reason}; {len(verification.runs)} runs ({seconds})",
    )


def to_json(verifications: Sequence[Verification]) -> str:
    """The verifications, each with its ``errata_row`` or null."""
    rows = [
        {**each.model_dump(), "errata_row": row.model_dump() if row else None}
        for each in verifications
        for row in (errata_row(each),)
    ]
    return json.dumps(rows, indent=1)
