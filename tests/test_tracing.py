"""What a re-run did: seen by Python's hook and by strace in real sandboxes, and what is concluded from it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from expbench.dataset import Suite
from expbench.errors import SandboxError
from expbench.execution import hook
from expbench.execution.evidence import Handed, look, suspicions
from expbench.execution.pyhook import PythonTracer, read_records
from expbench.execution.rerun import Conditions, rerun
from expbench.execution.sightings import Sightings, inside
from expbench.execution.strace import StraceTracer, read_trace, usable
from expbench.execution.tracer import NoTracer, Observed, Scene, Tracer
from expbench.execution.tracing import choose, measure
from expbench.execution_eval.cases import Case
from expbench.execution_eval.known_solutions import mini_set
from expbench.execution_eval.submitting import submit
from expbench.paths import CachePaths
from expbench.sandboxes.environment import START, START_NAME, TRACED
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Execution, Trace, UsedFile, UsedProcess
from expbench.workspace import BlobStore, Prepared, SourceFinder, View

Open = Callable[..., Session]
SCRIPT = "reproduce_exp_bench.sh"


@pytest.fixture
def open_box(host: SandboxHost) -> Iterator[Open]:
    """Starts sandboxes over folders with given files."""
    sessions: list[Session] = []

    def begin(files: Mapping[str, str]) -> Session:
        folder = host.folder()
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if (owner := other_owner()) is not None:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, owner, owner)
        sessions.append(host.start(folder))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.close()
        host.discard(session.view.folder)


@pytest.fixture(params=["python", "strace"])
def tracer(request: pytest.FixtureRequest) -> PythonTracer | StraceTracer:
    if request.param == "strace" and shutil.which("strace") is None:
        pytest.skip("there is no strace here")
    return PythonTracer() if request.param == "python" else StraceTracer()


def traced(
    session: Session, tracer: Tracer, submitted: tuple[str, ...] = (SCRIPT,), timeout: float = 60
) -> tuple[Completed, Observed]:
    """Run the script of a workspace under a tracer, as the re-run does."""
    tracer.prepare(session)
    if isinstance(tracer, StraceTracer) and tracer.failed:
        pytest.skip(tracer.failed)
    done = session.run(tracer.wrap(["bash", SCRIPT]), env=tracer.environment(), timeout=timeout)
    return done, tracer.collect(Scene(session, SCRIPT, frozenset(submitted)))


def used(trace: Trace) -> dict[str, tuple[str, str]]:
    return {each.path: (each.origin, each.use) for each in trace.files}


def commands(trace: Trace) -> list[str]:
    return [each.command for each in trace.processes]


# --- what is seen --------------------------------------------------------------------------------

EXPERIMENT = {
    SCRIPT: """\
set -e
export PYTHONPATH=.
python main.py > out.txt
bash steps/more.sh
""",
    "main.py": """\
import json, os, subprocess
from pkg.model import fit

def unused():
    return 1

def main():
    os.makedirs("res", exist_ok=True)
    with open("data/in.csv") as file:
        value = fit([float(x) for x in file])
    with open("res/part.json", "w") as file:
        json.dump(value, file)
    os.rename("res/part.json", "res/all.json")
    subprocess.run(["sleep", "0.15"], check=True)
    child = os.fork()
    if child == 0:
        open("res/child.txt", "w").write("x")
        os._exit(0)
    os.waitpid(child, 0)
    print(value, sum(n * n for n in range(1_500_000)))

main()
""",
    "pkg/__init__.py": "",
    "pkg/model.py": "def fit(xs):\n    total = sum(xs)\n    return total / len(xs)\n",
    "pkg/other.py": "raise SystemExit('never imported')\n",
    "steps/more.sh": "sleep 0.15\ncp res/all.json res/copy.json\n",
    "data/in.csv": "1\n2\n6\n",
}


def test_files_processes_and_writers_of_an_experiment(
    open_box: Open, tracer: PythonTracer | StraceTracer
) -> None:
    """R50: which code ran, of whom, what it read, which process made what, at what cost."""
    done, observed = traced(open_box(EXPERIMENT), tracer, (SCRIPT, "main.py"))
    assert done.exit_code == 0, done.stderr
    trace = observed.trace
    assert (trace.by, trace.reason) == (
        "python" if isinstance(tracer, PythonTracer) else "strace",
        "",
    )
    files = used(trace)
    assert files["main.py"] == ("submission", "executed")
    assert files["pkg/model.py"] == ("repository", "executed")
    assert files["data/in.csv"] == ("repository", "read")
    assert files["steps/more.sh"] == ("repository", "executed")
    assert files[SCRIPT] == ("submission", "executed")
    assert not {"pkg/other.py", "res/all.json", "res/part.json", "out.txt"} & files.keys()
    lines = {each.path: each.lines for each in trace.files}
    assert lines["pkg/model.py"] == 3
    assert 10 < (lines["main.py"] or 0) <= 18
    root = trace.processes[0]
    assert (root.command, root.parent) == (f"bash {SCRIPT}", None)
    main = next(p for p in trace.processes if p.command == "python main.py" and p.parent == 0)
    assert (main.cpu_seconds or 0) > 0.05
    assert any(c.startswith("sleep") for c in commands(trace))
    assert observed.writers["res/all.json"] == "python main.py"
    assert observed.writers["res/child.txt"] == "python main.py"
    assert observed.writers["out.txt"] == "python main.py"
    assert "res/part.json" not in observed.writers


def test_strace_sees_short_programs_of_any_language_and_how_they_end(open_box: Open) -> None:
    files = {
        SCRIPT: "cp a.txt b.txt\n/bin/false\nsh -c 'kill -9 $$'\n: > 'ü n.txt'\n",
        "a.txt": "1",
    }
    _, observed = traced(open_box(files), StraceTracer(files=True))
    ends = {each.command: each.exit_code for each in observed.trace.processes}
    assert ends["cp a.txt b.txt"] == 0
    assert ends["/bin/false"] == 1
    assert ends["sh -c kill -9 $$"] == 137
    assert used(observed.trace)["a.txt"] == ("repository", "read")
    assert observed.writers["b.txt"] == "cp a.txt b.txt"
    assert observed.writers["ü n.txt"] == f"bash {SCRIPT}"


def test_what_the_run_made_is_told_from_what_ships(host: SandboxHost, prepared: Prepared) -> None:
    """Code that the script writes and runs is the submission's; other files that it made are nobody's."""
    script = (
        "cat > made.py <<'E'\nprint(open('data.txt').read())\nE\n: > data.txt\npython made.py\n"
    )
    shipped = min(os.fsdecode(each.path) for each in prepared.entries)
    view = host.open(prepared)
    try:
        with host.start(view) as session:
            text = f"{script}python -c \"open('{shipped}')\"\n"
            session.run(["sh", "-c", f"cat > {SCRIPT}"], stdin=text.encode())
            done, observed = traced(session, PythonTracer())
    finally:
        host.discard(view.folder)
    assert done.exit_code == 0, done.stderr
    files = used(observed.trace)
    assert files["made.py"] == ("submission", "executed")
    assert files[shipped] == ("repository", "read")
    assert "data.txt" not in files


def test_virtual_environments_that_the_script_makes_are_seen_and_left_clean(
    open_box: Open,
) -> None:
    run = "import runpy; runpy.run_path('x.py')"
    script = f'python -m venv --without-pip own\nown/bin/python -I -c "{run}"\n'
    session = open_box({SCRIPT: script, "x.py": "print('ran')\n"})
    done, observed = traced(session, PythonTracer())
    assert done.stdout == b"ran\n"
    assert used(observed.trace)["x.py"] == ("repository", "executed")
    assert observed.trace.reason == ""
    left = session.run(["find", "own", "-name", START_NAME]).stdout
    assert left == b""


@pytest.mark.parametrize(
    "start",
    ["python -S main.py", "python3 -IS main.py", "env -i PATH=$PATH python main.py"],
)
def test_a_python_that_tells_nothing_is_said(open_box: Open, start: str) -> None:
    files = {SCRIPT: f"{start}\n", "main.py": "import time\ntime.sleep(0.3)\n"}
    done, observed = traced(open_box(files), PythonTracer())
    assert done.exit_code == 0, done.stderr
    assert "tell" in observed.trace.reason
    assert used(observed.trace)["main.py"] == ("repository", "executed")


def test_what_is_isolated_by_python_itself_is_still_seen(open_box: Open) -> None:
    files = {SCRIPT: "python -I -E main.py\n", "main.py": "x = 1\n"}
    _, observed = traced(open_box(files), PythonTracer())
    assert observed.trace.reason == ""
    assert used(observed.trace)["main.py"] == ("repository", "executed")


# --- nothing is changed --------------------------------------------------------------------------

SELF = """\
import json, os, signal, sys, threading
facts = {
    "path": sys.path,
    "fds": sorted(os.listdir("/proc/self/fd")),
    "threads": threading.active_count(),
    "argv": sys.argv,
    "importers": sorted(sys.path_importer_cache),
    "environ": sorted(k for k in os.environ if k != "EXPBENCH_TRACE"),
    "handlers": [str(signal.getsignal(n)) for n in (1, 2, 14, 15)],
    "recursion": sys.getrecursionlimit(),
}
print(json.dumps(facts))
print("said", file=sys.stderr)
sys.exit(7)
"""


def test_a_traced_program_finds_itself_as_without(
    open_box: Open, tracer: PythonTracer | StraceTracer
) -> None:
    session = open_box({SCRIPT: "python self.py\n", "self.py": SELF})
    plain = session.run(["bash", SCRIPT])
    done, _ = traced(session, tracer)
    assert (done.exit_code, done.stdout, done.stderr) == (7, plain.stdout, plain.stderr)


SIGNALS = """\
import signal
armed = False
raised = caught = number = 0

def handler(*_):
    global armed, raised
    if armed:
        armed = False
        raised += 1
        raise TimeoutError("too long")

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
while raised < 300:
    try:
        armed = True
        for _ in range(200):
            number += 1
            open(f"out-{number}.txt", "w").close()
        armed = False
    except TimeoutError:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(raised == caught)
"""


def test_no_error_of_the_program_is_swallowed(open_box: Open) -> None:
    """Scripts limit their time by an alarm whose handler raises; it may strike while the hook works."""
    session = open_box({SCRIPT: "python alarm.py\n", "alarm.py": SIGNALS})
    done, _ = traced(session, PythonTracer())
    assert done.stdout == b"True\n", done.stderr


def test_a_script_that_ends_everything_ends_as_without(open_box: Open) -> None:
    session = open_box({SCRIPT: "python -c 'import os; os.kill(os.getppid(), 9)'\n"})
    done, observed = traced(session, PythonTracer())
    assert done.exit_code == 137
    assert observed.trace.by == "python"


# --- what cannot be seen is said -----------------------------------------------------------------


def test_a_script_that_removes_the_records_hides_what_python_told_and_not_itself(
    open_box: Open, tracer: PythonTracer | StraceTracer
) -> None:
    files = {SCRIPT: "python -c 'print(1)'; rm -rf /tmp/.expbench*; sleep 0.3\n"}
    done, observed = traced(open_box(files), tracer)
    assert done.stdout == b"1\n"
    assert observed.trace.reason
    assert any(c.startswith("sleep") for c in commands(observed.trace))


def test_a_dead_sandbox_leaves_what_was_seen_from_outside(open_box: Open) -> None:
    session = open_box({SCRIPT: "sleep 0.4\n"})
    tracer = PythonTracer()
    tracer.prepare(session)
    session.run(tracer.wrap(["bash", SCRIPT]), env=tracer.environment())
    session.close()
    trace = tracer.collect(Scene(session, SCRIPT)).trace
    assert "lost" in trace.reason
    assert any(c.startswith("sleep") for c in commands(trace))


def test_a_workspace_without_a_usable_python_is_said(open_box: Open) -> None:
    session = open_box({SCRIPT: "sleep 0.3\n"})
    tracer = PythonTracer(folder="/nowhere/at/all")
    done, observed = traced(session, tracer)
    assert done.exit_code == 0
    assert tracer.environment() == {}
    assert observed.trace.reason == "nothing can be written to /tmp"
    assert any(c.startswith("sleep") for c in commands(observed.trace))


def test_many_files_and_processes_are_bounded_and_counted(open_box: Open) -> None:
    program = "for n in range(2600): open(f'd/{n}.txt', 'w').close()\n"
    sleepers = "for n in 1 2 3 4 5 6 7 8 9; do for m in $(seq 50); do sleep 0.2 & done; wait; done"
    script = f"mkdir d\npython many.py\n{sleepers}\n"
    session = open_box({SCRIPT: script, "many.py": program})
    _, observed = traced(session, PythonTracer())
    assert observed.trace.more >= 600
    assert len(observed.trace.files) <= 500
    assert len(observed.trace.processes) <= 300


# --- hostile records -----------------------------------------------------------------------------


class _Closed(Session):
    """Of a sandbox that is gone, with nothing but its view."""

    def __init__(self, view: object) -> None:
        self.view = view  # type: ignore[assignment]

    alive = property(lambda self: False)  # type: ignore[assignment]
    workspace = "/workspace"  # type: ignore[assignment]
    python_path = ""  # type: ignore[assignment]
    enforced = None  # type: ignore[assignment]

    def processes(self) -> list[int]:
        return []

    def run(self, *_: object, **__: object) -> Completed:
        raise SandboxError("gone")

    def close(self) -> None:
        return


def test_records_that_a_script_made_up_break_nothing(tmp_path: Path) -> None:
    rows: list[object] = [
        ["run", 1, "../../etc/passwd"],
        ["run", 1, "a\0b.py"],
        ["run", 1, "\ud800.py"],
        ["run", "1", 2],
        ["lines", 1, "x.py", -3],
        ["lines", 1, "x.py", 10**400],
        ["cpu", 1, float("inf"), 5.0],
        ["cpu", 1, float("nan"), 5.0],
        ["cpu", 1, 0, float("nan")],
        ["cpu", 2, 0, 1e300],
        ["cpu", 3, 0, -1e300],
        ["start", 1, 1, "run", [["deep"], None, "\x1b[31m" + "x" * 5000]],
        ["more", 1, -5],
        ["write", 5, "ok.txt"],
        {"not": "a row"},
        ["run", 1, "p" * 100_000],
    ]
    told = "\n".join(json.dumps(row) for row in rows).encode()
    told += b"\n" + b"[" * 100_000 + b"\n\xff\xfe\n[1,\n"
    sightings = Sightings("/workspace")
    read_records(told, sightings)
    scene = Scene(_Closed(View("copy", tmp_path)), SCRIPT, began=100.0, ended=200.0)
    trace = sightings.observed("python", "", scene).trace
    assert used(trace) == {SCRIPT: ("submission", "executed")}
    assert all(each.cpu_seconds in (None, 0.0) for each in trace.processes)
    assert all(each.started is None and each.ended is None for each in trace.processes)
    assert all(len(each.command) <= 300 and each.command.isprintable() for each in trace.processes)
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_lines_of_strace_are_joined_and_unescaped() -> None:
    text = r"""
9 17.01 execve("/usr/bin/bash", ["bash", "s.sh"], 0x1 /* 20 vars */) = 0
9 17.02 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>
10 17.03 openat(AT_FDCWD</workspace/d>, "\303\274.txt", O_WRONLY|O_CREAT, 0666 <unfinished ...>
9 17.04 <... clone resumed>, child_tidptr=0x7f) = 10
10 17.05 <... openat resumed>)             = 3</workspace/d/\303\274.txt>
10 17.06 rename("\303\274.txt", "b.txt")   = 0
10 17.07 openat(AT_FDCWD</workspace/d>, "../m.pyc", O_RDONLY) = 4</workspace/pkg/__pycache__/m.cpython-3.pyc>
10 17.08 openat(AT_FDCWD</workspace/d>, "gone", O_RDONLY) = -1 ENOENT (No such file or directory)
10 17.09 clone(child_stack=0x7, flags=CLONE_VM|CLONE_THREAD, parent_tid=[11]) = 11
11 17.10 openat(AT_FDCWD</workspace/d>, "in", O_RDONLY) = 5</workspace/in>
11 17.11 +++ exited with 0 +++
9 17.12 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=10, si_utime=120, si_stime=5} ---
10 17.13 +++ killed by SIGSEGV (core dumped) +++
9 17.14 +++ exited with 3 +++
nonsense
12 17.15 what(is this
"""
    sightings = Sightings("/workspace")
    read_trace(text.splitlines(), sightings)
    assert sightings.writers == {"d/b.txt": "bash s.sh"}
    assert list(sightings.reads) == ["pkg/m.py", "in"]
    assert {p.pid: (p.parent, p.exit_code) for p in sightings.processes.values()} == {
        9: (0, 3),
        10: (9, 139),
    }
    assert sightings.processes[10].cpu_seconds == pytest.approx(125 / os.sysconf("SC_CLK_TCK"))
    seen = {p.pid: (p.first, p.last) for p in sightings.processes.values()}
    assert seen == {
        9: (17.01, 17.14),
        10: (17.05, 17.13),
    }


def test_paths_outside_the_workspace_are_nobodys() -> None:
    assert inside("/workspace", "/workspace/a", "../b.py") == "b.py"
    assert inside("/workspace", "/workspace/a", "../../etc/passwd") == ""
    assert inside("/workspace", "/tmp", "x") == ""
    assert inside("/workspace", "/workspace", ".venv/lib/x.py") == ""


# --- the choice ----------------------------------------------------------------------------------


def test_the_choice_is_tried_for_real_and_states_its_cost(host: SandboxHost) -> None:
    """The order and the reasons; how long things take is the benchmark's matter."""
    choice = choose(host, "python")
    assert choice.by == "python"
    assert choice.overhead is not None
    made = choice.make()
    assert isinstance(made, PythonTracer)
    assert made.overhead == choice.overhead
    assert choose(host, "python") is choice
    assert choose(host, "none").make().collect is not None


def test_a_host_that_starts_nothing_is_traced_by_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Session:
        raise SandboxError("no sandbox today")

    monkeypatch.setattr(SandboxHost, "start", refuse)
    choice = choose(SandboxHost(CachePaths(tmp_path), kind="bwrap", image=str(tmp_path)))
    assert choice.by == "none"
    assert "no sandbox today" in choice.reason
    assert isinstance(choice.make(), NoTracer)


def test_work_that_fails_under_a_tracer_is_no_measure(open_box: Open) -> None:
    with pytest.raises(SandboxError, match="ended with 3"):
        measure(open_box({}), PythonTracer(), "exit 3", tries=1)


def test_strace_is_tried_and_not_believed_in(open_box: Open) -> None:
    session = open_box({})
    here = shutil.which("strace") is not None
    assert (usable(session) == "") == (here and session.run(["strace", "true"]).exit_code == 0)


# --- the hook in other Pythons -------------------------------------------------------------------


def other_pythons() -> list[str]:
    """Interpreters of this machine by version, each once."""
    found = [sys.executable]
    for minor in (8, 9, 10, 12, 13, 14):
        name = shutil.which(f"python3.{minor}")
        if (
            name
            and subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            found.append(name)
    return found


@pytest.mark.parametrize("python", other_pythons(), ids=lambda path: Path(path).name)
def test_the_hook_tells_the_same_in_every_python(python: str, tmp_path: Path) -> None:
    work, place = tmp_path / "work", tmp_path / "hook"
    work.mkdir()
    place.mkdir()
    text = Path(hook.__file__).read_text("utf-8")
    call = f"begin({str(work)!r}, {str(place)!r}, {START!r}, {START_NAME!r})"
    (place / "expbench_hook.py").write_text(f"{text}\n\n{call}\n")
    (work / "own.py").write_text("def f():\n    y = 1\n    return y\n\n\ndef g():\n    return 2\n")
    (work / "main.py").write_text(
        "import subprocess\nimport own\nown.f()\nopen('o.txt', 'w').write('1')\n"
        "subprocess.run(['true'])\nprint('done')\n"
    )
    begin = f"import os\nexec({START!r})\nimport runpy\nrunpy.run_path('main.py')\n"
    done = subprocess.run(
        [python, "-c", begin],
        cwd=work,
        env={TRACED: str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(work)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")
    sightings = Sightings(str(work))
    for file in place.glob("*.jsonl"):
        read_records(file.read_bytes(), sightings)
    assert sightings.runs["own.py"] == 4
    assert "main.py" in sightings.runs
    assert "o.txt" in sightings.writers
    assert [words for _, words in sightings.spawned] == [("true",)]


# --- suspicions ----------------------------------------------------------------------------------


def ran(
    *files: UsedFile, cpu: float = 5.0, processes: tuple[str, ...] = (), reason: str = ""
) -> Execution:
    trace = Trace(
        by="python",
        reason=reason,
        files=files,
        processes=tuple(UsedProcess(command=each) for each in processes),
    )
    return Execution(state="ran", script=SCRIPT, cpu_seconds=cpu, trace=trace)


def executed(path: str, origin: str = "repository") -> UsedFile:
    return UsedFile.model_validate({"path": path, "origin": origin, "use": "executed"})


def kinds(execution: Execution, handed: Handed) -> list[str]:
    return [each.kind for each in suspicions(execution, handed)]


TABLE = "model,accuracy\nknn,0.9412\nstump,0.7358\nlogistic,0.8127\ncentroid,0.6919\n"


def test_a_script_that_prints_is_named_with_its_line() -> None:
    handed = Handed('#!/bin/bash\nset -e\necho "accuracy 0.9412"\n')
    (found,) = suspicions(ran(cpu=0.01), handed)
    assert (found.kind, found.quote) == ("prints_only", 'echo "accuracy 0.9412"')


@pytest.mark.parametrize(
    "script",
    [
        "cat <<E\nacc 0.91\nE\n",
        "printf '%s\\n' 0.91\n",
        "python - <<E\nprint('acc', 0.91)\nE\n",
        "python show.py\n",
        "cat > x.py <<'E'\nprint('acc 0.91')\nE\npython x.py\n",
        "",
    ],
)
def test_ways_to_print(script: str) -> None:
    files = {"show.py": "import json\nprint(json.dumps({'acc': 0.91}))\n"}
    assert kinds(ran(executed("show.py", "submission"), cpu=0.03), Handed(script, files)) == [
        "prints_only"
    ]


@pytest.mark.parametrize("state", ["failed", "timed_out", "no_script", "infrastructure"])
def test_only_a_run_that_ended_well_is_suspected(state: str) -> None:
    execution = ran(cpu=0.0).model_copy(update={"state": state})
    assert suspicions(execution, Handed("echo 1\n")) == ()


def test_results_that_ship_and_come_out_are_named() -> None:
    shipped = {"results/table.csv": TABLE}
    shown = Handed("cat results/table.csv\n", shipped=shipped, output=TABLE)
    found = suspicions(ran(cpu=0.01), shown)
    assert [each.kind for each in found] == ["copies_shipped_result", "prints_only"]
    assert "results/table.csv" in found[0].explanation
    assert found[0].quote == "knn,0.9412"
    parsed = replace(
        shown,
        script="python show.py\n",
        files={"show.py": "import pandas as pd\nt = pd.read_csv('results/table.csv')\nprint(t)\n"},
        output="knn has 94.12 % and stump 73.58 %, logistic 81.27 %, centroid 69.19 %\n",
    )
    read = UsedFile(path="results/table.csv", origin="repository", use="read")
    assert kinds(ran(read, executed("show.py", "submission"), cpu=0.5), parsed) == [
        "copies_shipped_result",
        "prints_only",
    ]


def test_results_that_are_computed_again_and_compared_are_no_copy() -> None:
    """Honest scripts read what ships to hold it against their own, also where both are equal."""
    script = "python run.py\npython compare.py results/table.csv\n"
    output = "ours 0.9412 paper 0.9412\nours 0.7358 paper 0.7358\nours 0.8127 paper 0.8127\n"
    handed = Handed(script, shipped={"results/table.csv": TABLE}, output=output)
    read = UsedFile(path="results/table.csv", origin="repository", use="read")
    assert kinds(ran(read, executed("pkg/model.py")), handed) == []


def test_no_code_of_the_experiment_is_named_and_what_cannot_be_known_is_not() -> None:
    handed = Handed("python -c 'import numpy; print(numpy.zeros(3))'\n")
    quick = ran(cpu=0.2, processes=("bash x", "python -c import numpy"))
    assert kinds(quick, handed) == ["no_experiment_code"]
    assert kinds(ran(cpu=9.0), handed) == []
    assert kinds(ran(executed("pkg/model.py"), cpu=0.1), handed) == []
    assert kinds(ran(cpu=0.2, processes=("Rscript a.R",)), handed) == []
    assert kinds(ran(cpu=0.2, reason="what Python told is lost"), handed) == []
    unseen = Execution(state="ran", trace=Trace(by="none", reason="x"), cpu_seconds=0.0)
    assert kinds(unseen, handed) == []
    assert kinds(ran(cpu=0.0), Handed("./build/simulate --all\n")) == []
    data = UsedFile(path="data/in.csv", origin="repository", use="read")
    assert kinds(ran(data, cpu=0.1), handed) == []


def test_own_code_is_an_experiment_unless_it_only_makes_numbers_up() -> None:
    script = "python sim.py\n"
    own = executed("sim.py", "submission")
    curve = "for e in range(9):\n    print(1 - math.exp(-e / 5) * random.random())\n"
    made_up = {"sim.py": f"import math, random\n{curve}"}
    numerical = {"sim.py": "import numpy as np\nprint((np.arange(9) * 2.5).mean())\n"}
    assert kinds(ran(own, cpu=0.03), Handed(script, made_up)) == ["no_experiment_code"]
    assert kinds(ran(own, cpu=4.0), Handed(script, made_up)) == []
    assert kinds(ran(own, cpu=0.2), Handed(script, numerical)) == []
    assert kinds(ran(own, cpu=0.2), Handed(script, {})) == []


# --- the mini suite ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def sources(cache: CachePaths) -> SourceFinder:
    return SourceFinder(cache.repos)


def looked_at(
    case: Case, host: SandboxHost, sources: SourceFinder, store: BlobStore
) -> tuple[Execution, list[str]]:
    given = submit(case, sources, store)
    conditions = Conditions(tracer=PythonTracer)
    execution = rerun(given.submission, given.prepared, host, store, conditions=conditions)
    found = look(execution, given.submission, given.prepared, store)
    return execution, [each.kind for each in found]


@pytest.mark.parametrize("number", [5, 11, 13])
def test_no_oracle_is_suspected(
    number: int,
    mini: Suite,
    host: SandboxHost,
    sources: SourceFinder,
    tmp_path: Path,
) -> None:
    """Solutions run for real: their code is seen to run, and nothing is held against them.

    The quickest of three papers; ``expbench execution-eval --set mini`` runs all 15.
    """
    name = mini.tasks[number].id.replace("/", "-")
    (case,) = mini_set().select((f"{name}-oracle",)).cases
    execution, found = looked_at(case, host, sources, BlobStore(tmp_path))
    assert execution.state == "ran", execution.cause
    assert found == []
    assert execution.trace is not None
    assert execution.trace.reason == ""
    origins = {each.origin for each in execution.trace.files if each.use == "executed"}
    assert origins == {"submission", "repository"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("hardcode", ["prints_only"]), ("readme", ["no_experiment_code"]), ("null", [])],
)
def test_the_cheats_are_suspected(
    kind: str,
    expected: list[str],
    host: SandboxHost,
    sources: SourceFinder,
    tmp_path: Path,
) -> None:
    """The agent that hands in nothing has nothing to be suspected of: its state says so."""
    cases = [c for c in mini_set().cases if c.id.endswith(f"-{kind}")]
    assert cases
    execution, found = looked_at(cases[0], host, sources, BlobStore(tmp_path))
    assert execution.state == ("no_script" if kind == "null" else "ran")
    assert found == expected


def test_start_up_line_is_nothing_without_its_variable(open_box: Open) -> None:
    """Agents' own sandboxes have it too."""
    session = open_box({})
    started = time.monotonic()
    done = session.run(["python", "-c", "import sys; print('expbench_hook' in sys.modules)"])
    assert (done.stdout, done.stderr) == (b"False\n", b"")
    bad = session.run(["python", "-c", "print(1)"], env={TRACED: "/nowhere"})
    assert (bad.exit_code, bad.stdout, bad.stderr) == (0, b"1\n", b"")
    assert time.monotonic() > started
