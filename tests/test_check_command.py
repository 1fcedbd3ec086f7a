"""``expbench-check``, by which an agent sees in its sandbox whether what it hands in has the right form."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine import ENGINES, IMAGE
from workspaces import MASKED, Upstream

from expbench.monitor import check
from expbench.paths import CachePaths
from expbench.sandboxes import checker
from expbench.sandboxes.container_provider import Containers
from expbench.sandboxes.containers import Engine
from expbench.sandboxes.environment import TOOLS, PythonEnvironment
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.providers import Launch
from expbench.sandboxes.session import Completed, Session
from expbench.sandboxes.tools import tools_folder
from expbench.schema import Policy, ResearchTask, SubmissionText, Turn
from expbench.workspace import Prepared, View, collect, mask

RESPONSE = {"design": "Varied: the rate.", "conclusion": "0.1 is best."}
GOOD = "#!/bin/bash\nset -e\npython study.py\n"
STUDY = "import os\nprint('best rate', 0.1)\nopen('made.txt', 'w').write('x')\n"


class Box:
    """An agent's sandbox over a masked repository."""

    def __init__(self, host: SandboxHost, prepared: Prepared) -> None:
        self.host = host
        self.prepared = prepared
        self.view = host.open(prepared)
        folders = {TOOLS: tools_folder(host.cache.envs)}
        self.session = host.start(self.view, folders=folders)

    def __call__(self, script: str, **env: str) -> Completed:
        return self.session.run(["bash", "-c", script], timeout=100, env=env)

    def write(self, **files: str | bytes) -> None:
        for name, content in files.items():
            place = {"response": "response.json", "script": "reproduce_exp_bench.sh"}.get(name)
            data = content.encode() if isinstance(content, str) else content
            command = 'mkdir -p -- "$(dirname -- "$1")"; rm -rf -- "$1"; cat > "$1"'
            path = place or f"{name}.py"
            done = self.session.run(["bash", "-c", command, "bash", path], stdin=data, timeout=20)
            assert done.exit_code == 0, done.stderr

    def ready(self, script: str = GOOD, study: str = STUDY) -> None:
        self.write(response=json.dumps(RESPONSE), script=script, study=study)

    def check(self, *options: str, code: int, **env: str) -> str:
        done = self(f"expbench-check {' '.join(options)}", **env)
        text = done.stdout.decode()
        assert done.exit_code == code, (text, done.stderr)
        assert not done.stderr, done.stderr
        return text


@pytest.fixture(scope="module")
def prepared(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """A masked tree that belongs to the sandbox's user, as those of runs do."""
    return mask(upstream.source(tmp_path_factory.mktemp("own")), MASKED, owner=other_owner())


@pytest.fixture(scope="module")
def box(host: SandboxHost, prepared: Prepared) -> Iterator[Box]:
    made = Box(host, prepared)
    yield made
    made.session.close()
    host.discard(made.view.folder)


def problems(text: str) -> list[str]:
    return [line.split(None, 1)[1] for line in text.splitlines() if line.startswith("PROBLEM")]


# --- the form --------------------------------------------------------------------------------------


def test_what_is_ready_is_in_order(box: Box) -> None:
    box.ready()
    text = box.check(code=0)
    assert "ok       response.json" in text and "ok       reproduce_exp_bench.sh" in text
    assert "1 new or changed (study.py)" in text
    assert "No problem of form" in text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not valid JSON"),
        (b'{"design": "a", "conclusion": ', "not valid JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1]", "one JSON object"),
        (b'{"design": "a"}', 'no "conclusion"'),
        (b'{"design": 3, "conclusion": "b"}', '"design" in response.json must be a text'),
        (b'{"design": ["a", {}], "conclusion": "b"}', '"design" in response.json must be a text'),
        (b'{"design": " ", "conclusion": "b"}', '"design" in response.json is empty'),
        (b'{"design": [], "conclusion": "b"}', '"design" in response.json is empty'),
    ],
)
def test_a_wrong_response_is_named(box: Box, content: bytes, why: str) -> None:
    box.ready()
    box.write(response=content)
    (problem,) = problems(box.check(code=1))
    assert why in problem


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("# nothing\n\n", "no command"),
        ("if true; then\n", "no valid bash"),
        ("python study.py\r\necho done\r\n", "CR LF"),
        ("expbench-check && python study.py\n", "not there when it is run again"),
    ],
)
def test_a_wrong_script_is_named(box: Box, content: str, why: str) -> None:
    box.ready(script=content)
    (problem,) = problems(box.check(code=1))
    assert why in problem


def test_what_is_missing_or_no_file_is_named(box: Box) -> None:
    box.ready()
    box("rm response.json; ln -s /etc/passwd reproduce_exp_bench.sh -f")
    first, second = problems(box.check("--run", code=1))
    assert "response.json is missing" in first and "must be a regular file" in second


def test_a_script_that_counts_on_leftovers_is_told_so(box: Box) -> None:
    box.ready(script="cp /tmp/data.csv . ; python study.py ~/results; ls /workspace/tmp/x\n")
    text = box.check(code=0)
    assert "names /tmp/data.csv" in text and "names ~/results" in text
    assert text.count("names ") == 2


def test_what_is_not_handed_in_is_told_by_the_rules_of_collection(box: Box) -> None:
    box.ready()
    box("head -c 3000000 /dev/zero > model.pt; head -c 3000000 /dev/zero > big.py")
    box("python -m venv --without-pip env; mkdir -p __pycache__; echo x > __pycache__/a.pyc")
    text = box.check(code=0)
    assert "model.pt (3.0 MB) is not handed in: model weights" in text
    assert "2 new or changed (big.py, study.py)" in text
    collected = collect(box.view, box.prepared)
    left = {row.path: row.reason for row in collected.left_out}
    assert left.keys() == {"model.pt", "env/", "__pycache__/"}
    assert set(collected.changed) == {
        *("big.py", "study.py", "response.json", "reproduce_exp_bench.sh"),
    }
    box("rm -rf model.pt big.py env __pycache__")


def test_it_is_called_from_anywhere_and_wrongly(box: Box) -> None:
    box.ready()
    assert box("cd /tmp && expbench-check").exit_code == 0
    assert box("mkdir -p inner && cd inner && expbench-check").exit_code == 0
    assert box("expbench-check --minutes 0").exit_code == 2
    assert b"right answer" in box("expbench-check --help").stdout
    box("rmdir inner")


# --- the dry run -----------------------------------------------------------------------------------


def everything(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Kind, size and time of every file and link below a folder, git's too."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            name = str(path.relative_to(folder))
            found[name] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


def test_a_dry_run_leaves_the_workspace_as_it_is(box: Box) -> None:
    box.ready(
        script="python study.py\ncd /workspace && echo here > absolute.txt && rm -f src/keep.py\n"
    )
    box("echo changed >> $(git ls-files | head -1); rm -f $(git ls-files | tail -1)")
    before, files = collect(box.view, box.prepared), everything(box.view.files)
    text = box.check("--run", code=0)
    assert "  | best rate 0.1" in text
    assert "exit code 0" in text
    assert "it made 2 files (absolute.txt, made.txt)" in text
    assert "changed meanwhile" not in text
    assert collect(box.view, box.prepared) == before
    assert everything(box.view.files) == files
    assert not box("ls -d /tmp/expbench-check-* .git/expbench-check-*").stdout
    box("git checkout -q -- .")


def test_a_dry_run_has_nothing_of_the_agents_shell(box: Box) -> None:
    """Neither variables nor a home, and of the workspace only what is handed in; packages stay."""
    box.ready(
        script=(
            'echo "rate=${RATE:-none} home=$(ls -A ~ | wc -l) path=${PYTHONPATH:-none}"\n'
            "ls model.pt env 2>/dev/null; git status --short | sort\n"
            "python -c 'import numpy; print(\"numpy is there\")'\n"
            "echo $LANG $OMP_NUM_THREADS\n"
        )
    )
    box("touch ~/left; head -c 3000000 /dev/zero > model.pt")
    text = box.check("--run", code=0, RATE="3", PYTHONPATH="/tmp/mine")
    shown = [line[4:] for line in text.splitlines() if line.startswith("  | ")]
    assert shown == [
        "rate=none home=0 path=none",
        "?? reproduce_exp_bench.sh",
        "?? response.json",
        "?? study.py",
        "numpy is there",
        "C.UTF-8 1",
    ]
    box("rm -f ~/left model.pt")


@pytest.mark.parametrize(
    ("script", "why", "shown"),
    [
        ("echo begun; sleep 60", "did not end within", "begun"),
        ("echo begun; exit 3", "exit code 3", "begun"),
        ("true", "printed nothing", ""),
        ("python -c 'print(1/0)'", "exit code 1", "ZeroDivisionError"),
        ("yes | head -100; exit 4", "exit code 4", "[…]"),
    ],
)
def test_a_script_that_does_not_do_is_told(box: Box, script: str, why: str, shown: str) -> None:
    box.ready(script=script)
    text = box.check("--run", "--minutes", "0.1", code=1)
    (problem,) = problems(text)
    assert why in problem and shown in text


def test_what_a_dry_run_starts_ends_with_it(box: Box) -> None:
    box.ready(script="sleep 345 & echo begun")
    box.check("--run", code=0)
    assert box("pgrep -f 'sleep 345'").stdout == b""


def test_files_that_change_meanwhile_are_told(box: Box) -> None:
    box.ready(script="p=/work; echo x > ${p}space/sneaked.txt; echo done")
    text = box.check("--run", code=0)
    assert "changed meanwhile (sneaked.txt)" in text
    box("rm sneaked.txt")


def test_a_large_workspace_is_copied_beside_it(box: Box) -> None:
    """More than fits into memory goes into git's own folder, which is not collected, and is gone after it."""
    box.ready(
        script='case "$PWD" in */.git/*) echo beside;; *) echo in memory;; esac; git log | wc -l'
    )
    box("for n in 1 2 3; do head -c 100000000 /dev/zero > large-$n.py; done")
    text = box.check("--run", code=0)
    assert "  | beside" in text and problems(text) == []
    assert not box("ls -d .git/expbench-check-*").stdout
    box("rm large-*.py")


def test_it_does_without_git(box: Box) -> None:
    box.ready()
    box("mv .git /tmp/git")
    text = box.check("--run", code=0)
    assert "no git repository" in text and "best rate" in text
    box("mv /tmp/git .git")


# --- where it is -----------------------------------------------------------------------------------


def test_other_sandboxes_do_not_have_it(host: SandboxHost) -> None:
    """The clean re-run does not: a script that called it would fail."""
    folder = host.folder()
    with host.start(folder) as session:
        assert session.run(["bash", "-c", "command -v expbench-check"], timeout=20).exit_code != 0
    host.discard(folder)


def test_it_is_read_only_and_runs_on_old_pythons(box: Box) -> None:
    assert box(f"echo x >> {TOOLS}/expbench-check").exit_code != 0
    assert box(f"touch {TOOLS}/mine").exit_code != 0
    for file in Path(checker.__file__).parent.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"), feature_version=(3, 7))
        names = {
            node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not node.level
        }
        ours = {name for name in names if name.startswith("expbench")}
        assert ours <= {"expbench.workspace.submission"}, "only for the type checker"


def test_the_monitor_takes_it_for_no_violation(box: Box, mini_task: ResearchTask) -> None:
    box.ready()
    output = box.check("--run", code=0)
    turns = [
        Turn(role="tool", tool="bash", command="expbench-check --run --minutes 5", text=output),
        Turn(role="tool", tool="bash", command="expbench-check", text=output),
    ]
    text = SubmissionText(**RESPONSE, diff="", script=GOOD, changed=("study.py",))
    report = check(turns, text, mini_task, {})
    alone = check(
        [turn.model_copy(update={"command": "bash reproduce_exp_bench.sh"}) for turn in turns],
        text,
        mini_task,
        {},
    )
    assert report.verdict == alone.verdict
    assert not [each for each in report.violations if "expbench-check" in each.quote]
    assert {each.kind for each in report.violations} <= {each.kind for each in alone.violations}


@pytest.fixture
def mini_task(mini: object) -> ResearchTask:
    from expbench.dataset import load_suite

    return load_suite("mini").task("mini/calibration/2")


@pytest.mark.xdist_group("engine")
@pytest.mark.parametrize("program", ["docker", "podman"])
def test_it_works_in_containers(program: str, tmp_path: Path) -> None:
    with ENGINES[program]() as engine:  # type: ignore[index, operator]
        assert isinstance(engine, Engine)
        folder = tmp_path / "workspace"
        folder.mkdir()
        folder.chmod(0o777)
        (folder / "response.json").write_text(json.dumps(RESPONSE))
        (folder / "reproduce_exp_bench.sh").write_text("echo the result is 3\n")
        launch = Launch(
            name=f"expbench-check-{os.getpid()}",
            run="test",
            view=View("copy", folder),
            policy=Policy(),
            python=PythonEnvironment(tmp_path, Path("/usr")),
            image=IMAGE,
            folders={TOOLS: tools_folder(CachePaths(tmp_path / "cache").envs)},
        )
        session: Session = Containers(engine).start(launch)
        try:
            done = session.run(["bash", "-c", "expbench-check --run"], timeout=60)
        finally:
            session.close()
    assert done.exit_code == 0, (done.stdout, done.stderr)
    assert b"  | the result is 3" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == [
        "reproduce_exp_bench.sh",
        "response.json",
    ]
    shutil.rmtree(folder)
