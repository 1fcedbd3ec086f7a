"""The clean re-run: found, mended, run, measured; what scripts do to be unkind is scored as what it is."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from expbench.errors import SandboxError
from expbench.execution import Conditions, execution_score, produced_score, rerun
from expbench.execution.pyhook import PythonTracer
from expbench.execution.rerun import FIXED
from expbench.execution.script import (
    Tree,
    find,
    foreign_roots,
    mend_text,
    replace_roots,
    shebang,
    starting_folder,
)
from expbench.execution.tracer import NoTracer, Observed, Scene
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.session import Session
from expbench.schema import (
    RESPONSE_NAME,
    SCRIPT_NAME,
    Execution,
    Limits,
    Policy,
    Submission,
    SubmissionText,
    Trace,
)
from expbench.workspace import BlobStore, Prepared, collect, from_folder, mask, materialise
from expbench.workspace.submission.outputs import looks_like_result

SHIPPED = {
    "lib/measure.py": "def mean(values):\n    return sum(values) / len(values)\n",
    "data/numbers.csv": "1\n2\n6\n",
    "results/old.json": '{"accuracy": 0.5}\n',
    "README.md": "The accuracy is 0.9137.\n",
}
PROGRAM = """\
import json, sys
sys.path.insert(0, "lib")
from measure import mean
found = mean([float(line) for line in open("data/numbers.csv")])
print("mean", found)
json.dump({"mean": found}, open("results.json", "w"))
"""
Submit = Callable[..., Submission]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    root = tmp_path_factory.mktemp("repository")
    lay(root, SHIPPED)
    source = from_folder(root, tmp_path_factory.mktemp("repos"))
    return mask(source, (), owner=other_owner())


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "store")


@pytest.fixture
def submit(repository: Prepared, store: BlobStore, tmp_path: Path) -> Submit:
    """A submission of these files, collected as an agent's is."""

    def make(files: dict[str, str | bytes], modes: dict[str, int] | None = None) -> Submission:
        workspace = tmp_path / "agent"
        shutil.rmtree(workspace, ignore_errors=True)
        materialise(repository, workspace)
        lay(workspace, files)
        for name, mode in (modes or {}).items():
            (workspace / name).chmod(mode)
        found = collect(workspace, repository)
        return Submission(
            task_id="mini/x/0",
            base_tree=repository.tree,
            patch=store.put(found.patch),
            text=store.put(SubmissionText().model_dump_json().encode()),
            script=store.put(found.script) if found.script is not None else None,
            changed=found.changed,
        )

    return make


@pytest.fixture
def run(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore
) -> Callable[..., Execution]:
    """Submit files and run the script again, within limits that suit a test."""

    def do(
        script: str | bytes = "",
        files: dict[str, str | bytes] | None = None,
        conditions: Conditions | None = None,
        **bounds: float,
    ) -> Execution:
        both = {**({SCRIPT_NAME: script} if script else {}), **(files or {})}
        added = {"files": bounds.pop("added")} if "added" in bounds else {}
        limits = {"minutes": 1.0, "memory_mib": 1024, **added, **bounds}
        policy = Policy(limits=Limits.model_validate(limits))
        chosen = replace(conditions or Conditions(), policy=policy)
        return rerun(submit(both), repository, host, store, conditions=chosen)

    return do


def lay(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def said(execution: Execution, store: BlobStore) -> str:
    return store.text(execution.stdout)


# --- an honest script -------------------------------------------------------------------------------


def test_an_honest_script_runs_and_everything_of_it_is_kept(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    script = "python study.py\necho warned >&2\nprintf '\\x89PNG' > plot.png\n"
    done = run(script, {"study.py": PROGRAM})
    assert (done.state, done.exit_code, done.cause, done.failure) == ("ran", 0, "", None)
    assert said(done, store) == "mean 3.0\n" and store.text(done.stderr) == "warned\n"
    assert done.script == SCRIPT_NAME and done.adapted == () and done.set_aside == ()
    made = {each.path: each for each in done.made}
    assert set(made) == {"results.json", "plot.png"} and done.made_more == 0
    assert store.text(made["results.json"].content) == '{"mean": 3.0}'
    assert made["plot.png"].content is not None and made["plot.png"].size == 4
    assert not made["results.json"].submitted and not made["results.json"].same
    assert done.cpu_seconds is not None and 0 < done.cpu_seconds < 60
    assert done.peak_memory_mib is not None and 1 < done.peak_memory_mib < 1024
    assert done.seconds is not None and done.enforced is not None
    assert done.trace is not None and done.trace.by == "none"
    assert done.produced and execution_score(done).value == produced_score(done).value == 1.0


def test_when_processes_ran_and_files_were_written_is_kept(run: Callable[..., Execution]) -> None:
    """R50: seconds from the script's begin; a time that a script invents is none of its run's."""
    script = """\
python3 -c 'import time; time.sleep(0.4); open("late.txt", "w").write("x")'
echo x > old.txt
touch -d 2001-01-01 old.txt
"""
    conditions = Conditions(tracer=PythonTracer)
    execution = run(script, conditions=conditions)
    assert execution.state == "ran"
    assert execution.seconds is not None
    written = {each.path: each.written for each in execution.made}
    assert written["old.txt"] is None
    assert 0.4 <= (written["late.txt"] or 0) <= execution.seconds + 0.1
    assert execution.trace is not None
    (python,) = [p for p in execution.trace.processes if p.command.startswith("python3 -c")]
    assert python.started is not None
    assert python.ended is not None
    assert 0 <= python.started < python.started + 0.35 <= python.ended <= execution.seconds + 0.1


def test_time_zone_language_and_hash_seed_are_fixed(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    """R51."""
    done = run('echo "$TZ $LANG $PYTHONHASHSEED"; date +%Z')
    assert said(done, store) == "UTC C.UTF-8 0\nUTC\n"
    assert FIXED == {"TZ": "UTC", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}


def test_conditions_reach_the_script(run: Callable[..., Execution], store: BlobStore) -> None:
    def arrange(session: Session) -> None:
        session.run(["bash", "-c", "echo 10 > data/numbers.csv"])

    conditions = Conditions(
        script="go.sh", environment={"PYTHONHASHSEED": "7", "PYTHONPATH": "lib"}, arrange=arrange
    )
    files = {"go.sh": "echo $PYTHONHASHSEED $PYTHONPATH; cat data/numbers.csv"}
    done = run(files=files, conditions=conditions)
    assert (done.state, done.script) == ("ran", "go.sh")
    assert said(done, store) == "7 lib\n10\n"


def test_a_tracer_is_used_as_its_protocol_says(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    seen: list[Scene] = []

    class Watching:
        own = (".watched",)

        def prepare(self, session: Session) -> None:
            session.run(["bash", "-c", "mkdir .watched; echo x > .watched/log"])

        def wrap(self, command: Sequence[str]) -> list[str]:
            return ["env", "WRAPPED=1", *command]

        def environment(self) -> dict[str, str]:
            return {"TRACED": "1"}

        def collect(self, scene: Scene) -> Observed:
            seen.append(scene)
            assert scene.session.run(["cat", ".watched/log"]).stdout == b"x\n"
            return Observed(Trace(by="python"), {"out.txt": "bash"})

    conditions = Conditions(tracer=Watching)
    done = run("echo $WRAPPED$TRACED > out.txt", {"new.py": ""}, conditions)
    assert done.trace == Trace(by="python")
    assert [(each.path, each.writer, each.size) for each in done.made] == [("out.txt", "bash", 3)]
    assert seen[0].submitted == {"new.py", SCRIPT_NAME} and seen[0].script == SCRIPT_NAME


def test_nothing_of_the_agents_own_machine_is_there(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    """R36: only the patch comes along, and no two re-runs see each other."""
    script = "ls ~ /tmp; ls; touch ~/left /tmp/left left; exit 3"
    first, second = run(script), run(script)
    assert said(first, store) == said(second, store)
    assert "left" not in said(second, store)


# --- where agents leave the script ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "Reproduce_Exp_Bench.SH",
        "reproduce_exp_bench",
        "reproduce-exp-bench.sh",
        "reproduce_exp_bench.sh.txt",
        "work/reproduce_exp_bench.sh",
        "a/b/REPRODUCE_EXP_BENCH.bash",
    ],
)
def test_a_misplaced_script_is_found_and_the_place_is_recorded(
    run: Callable[..., Execution], store: BlobStore, path: str
) -> None:
    done = run(files={path: "echo here\n"})
    assert (done.state, done.script, said(done, store)) == ("ran", path, "here\n")
    assert done.adapted == (f"found as {path}",)


def test_a_script_in_the_store_alone_is_written_to_the_root(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore
) -> None:
    alone = submit({"x.txt": "1"}).model_copy(
        update={"script": store.put(b"echo stored; cat x.txt")}
    )
    done = rerun(alone, repository, host, store)
    assert (done.state, said(done, store)) == ("ran", "stored\n1")
    assert done.adapted == ("it stood in no file of the patch: written to the root",)
    assert SCRIPT_NAME not in {each.path for each in done.made}


def test_no_script_is_a_state_of_its_own(run: Callable[..., Execution]) -> None:
    done = run(files={"reproduce.md": "see run.sh", "run.sh": "exit 0"})
    assert done.state == "no_script" and SCRIPT_NAME in done.cause
    assert execution_score(done).value == produced_score(done).value == 0.0


def test_a_link_to_the_script_is_followed_in_the_sandbox(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore, tmp_path: Path
) -> None:
    workspace = tmp_path / "linked"
    materialise(repository, workspace)
    lay(workspace, {"run/all.sh": "echo linked"})
    (workspace / SCRIPT_NAME).symlink_to("run/all.sh")
    found = collect(workspace, repository)
    update = {"patch": store.put(found.patch), "changed": found.changed, "script": None}
    submission = submit({}).model_copy(update=update)
    done = rerun(submission, repository, host, store)
    assert (done.state, said(done, store)) == ("ran", "linked\n")
    assert done.adapted == ("it is a link to run/all.sh",)


def test_a_script_that_the_repository_ships_was_not_handed_in(
    host: SandboxHost, store: BlobStore, tmp_path: Path
) -> None:
    lay(tmp_path / "shipping", {SCRIPT_NAME: "echo shipped"})
    prepared = mask(from_folder(tmp_path / "shipping", tmp_path / "repos"), ())
    nothing = Submission(
        task_id="mini/x/0", base_tree="", patch=store.put(b""), text=store.put(b"{}")
    )
    assert rerun(nothing, prepared, host, store).state == "no_script"


def test_a_script_in_a_folder_starts_where_its_files_are(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    files = {"exp/reproduce_exp_bench.sh": "python go.py", "exp/go.py": "print('in exp')"}
    done = run(files=files)
    assert (done.state, said(done, store)) == ("ran", "in exp\n"), done.cause
    assert "started in exp/, where the files that it names are" in done.adapted
    files = {"exp/reproduce_exp_bench.sh": "python exp/go.py", "exp/go.py": "print('from root')"}
    assert said(run(files=files), store) == "from root\n"


def test_the_script_nearest_to_the_root_is_taken() -> None:
    names = {"b/c/go.sh", "a/GO.sh", "b/go.sh", "shipped/go.sh"}
    tree = Tree(frozenset(names), frozenset(names - {"shipped/go.sh"}))
    assert find("go.sh", Tree(frozenset({"go.sh"}), frozenset({"x"}))) == ""
    assert find("go.sh", tree) == "b/go.sh"
    assert find("other.sh", tree) == ""
    assert find("go.sh", Tree(frozenset({"x/go.sh"}), frozenset())) == ""


# --- made runnable ---------------------------------------------------------------------------------------


def test_bytes_that_no_shell_reads_are_mended_and_named(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    """Windows line ends, a byte order mark, no shebang, not executable."""
    script = "\ufefffor i in 1 2; do\r\n  echo $i\r\ndone\r\n".encode()
    done = run(script)
    assert (done.state, said(done, store)) == ("ran", "1\n2\n")
    assert done.adapted == ("a byte order mark was taken away", "line ends CRLF were made LF")
    assert done.made == ()


def test_the_submitted_bytes_stay_as_they_are(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore
) -> None:
    submission = submit({SCRIPT_NAME: b"echo 1\r\n"})
    assert rerun(submission, repository, host, store).state == "ran"
    assert submission.script is not None and store.get(submission.script) == b"echo 1\r\n"


@pytest.mark.parametrize(
    ("content", "mended"),
    [
        (b"echo 1\recho 2\r", b"echo 1\necho 2\n"),
        ("echo é\n".encode("utf-16"), "echo é\n".encode()),
        (b"echo 1\n", b"echo 1\n"),
        (b"", b""),
        (b"\xff\xfe", b""),
    ],
)
def test_mending_of_texts(content: bytes, mended: bytes) -> None:
    assert mend_text(content)[0] == mended


@pytest.mark.parametrize(
    ("first", "path", "words"),
    [
        ("#!/bin/bash -e", "x.sh", ()),
        ("#!/usr/bin/env bash", "x.sh", ()),
        ("#! /usr/bin/env -S python3 -u", "x.sh", ("python3", "-u")),
        ("#!/home/agent/venv/bin/python", "x.sh", ("/home/agent/venv/bin/python",)),
        ("#!'", "x.sh", ()),
        ("print(1)", "x.py", ("python",)),
        ("echo", "x.sh", ()),
    ],
)
def test_shebangs(first: str, path: str, words: tuple[str, ...]) -> None:
    assert shebang(f"{first}\necho\n".encode(), path) == words


def test_other_interpreters_run_the_script_where_they_are(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    done = run("#!/usr/bin/env python3\nprint('python' + ' runs')\n")
    assert (said(done, store), done.adapted) == ("python runs\n", ())
    done = run("#!/home/agent/venv/bin/python3\nprint(1)\n")
    assert done.adapted == ("/home/agent/venv/bin/python3 is not here: python3 runs it",)
    assert said(done, store) == "1\n"
    done = run("#!/usr/local/bin/fancysh\necho 2\n")
    assert done.adapted == ("/usr/local/bin/fancysh is not here: bash runs it",)
    assert said(done, store) == "2\n"


def test_an_interpreter_that_the_submission_brings_and_that_is_none_is_its_failure(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore
) -> None:
    """It must not count as a failure of the harness, which would never be scored."""
    files = {SCRIPT_NAME: "#!/workspace/mine\n", "mine": b"\x7fELF no program"}
    done = rerun(submit(files, {"mine": 0o755}), repository, host, store)
    assert (done.state, execution_score(done).value) == ("failed", 0.0)
    assert "did not start" in done.cause


def test_paths_of_another_machine_are_the_workspace(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    script = (
        "cd /home/agent/repo\npython /home/agent/repo/src/go.py\nls /home/agent/repository; true\n"
    )
    go = "print(open('/home/agent/repo/data/numbers.csv').read(), end='')"
    done = run(script, {"src/go.py": go})
    assert (done.state, said(done, store)) == ("ran", "1\n2\n6\n"), store.text(done.stderr)
    (note,) = done.adapted
    assert note == "/home/agent/repo was taken for the repository's root (also in src/go.py)"
    assert done.made == ()


def test_paths_that_exist_or_name_something_else_stay(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    done = run("cd /workspace && ls /workspace/data; ls /mnt/big/train.csv", {"x.py": ""})
    assert done.adapted == () and "/mnt/big/train.csv" in store.text(done.stderr)


@pytest.mark.parametrize(
    ("script", "roots"),
    [
        ("python /home/agent/repo/src/train.py", ["/home/agent/repo"]),
        ("cd /mnt/work\nbash run.sh", ["/mnt/work"]),
        ("ROOT=/a/proj\npython /a/proj/run.sh", ["/a/proj"]),
        ("cat /data/run.sh", []),
        ("/usr/bin/python /usr/src/train.py", []),
        ("curl https://example.org/src/train.py", []),
        ("cd /elsewhere; make", []),
        ("cd /somewhere/deep && cp /other/place/x . && bash run.sh", []),
        ("echo 1/2 src/train.py", []),
        ("cd /home/agent/repo/src && ls", ["/home/agent/repo"]),
    ],
)
def test_what_clearly_names_the_root(script: str, roots: list[str]) -> None:
    files = frozenset({"src/train.py", "run.sh"})
    assert foreign_roots(script.encode(), Tree(files, frozenset())) == roots


def test_only_whole_names_are_replaced() -> None:
    text = b"cd /a/b; ls /a/b/c '/a/b' /a/bc /x/a/b /a/b-old"
    assert replace_roots(text, ["/a/b"], "/w") == b"cd /w; ls /w/c '/w' /a/bc /x/a/b /a/b-old"


def test_where_a_script_in_a_folder_starts() -> None:
    tree = Tree(frozenset({"exp/a.py", "exp/s.sh", "b.py"}), frozenset())
    assert starting_folder("exp/s.sh", b"python ./a.py", tree) == "exp"
    assert starting_folder("exp/s.sh", b"python b.py; python exp/a.py", tree) == ""
    assert starting_folder("s.sh", b"python a.py", tree) == ""


# --- results that came with the submission --------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "results.json",
        "logs/train.txt",
        "outputs/run1/metrics.yaml",
        "figures/curve.png",
        "scores.csv",
        "run.log",
        "finalresults.json",
        "results/README.txt",
        "train_loss.csv",
        "out/predictions.npy",
        "RESPONSE/summary.md",
        RESPONSE_NAME,
    ],
)
def test_what_looks_like_a_result(path: str) -> None:
    expected = path != "results/README.txt"
    assert looks_like_result(path.encode()) is expected


@pytest.mark.parametrize(
    "path",
    [
        "results/plot.py",
        "config.json",
        "results_config.yaml",
        "data/train.csv",
        "inputs/pairs.jsonl",
        "prompts.txt",
        "requirements.txt",
        "model.pt",
        "labels.npy",
        "metrics.py",
        "output_layer.cu",
        "vocab.txt",
        "split/test.csv",
        "analysis.ipynb",
        "logs/settings.json",
        "bin/tool.so",
        SCRIPT_NAME,
    ],
)
def test_what_does_not(path: str) -> None:
    assert not looks_like_result(path.encode())


def test_results_are_set_aside_and_made_again(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    """What was submitted and comes out the same is told from what comes out otherwise."""
    files = {
        "study.py": PROGRAM,
        "results.json": '{"mean": 3.0}',
        "logs/old.log": "epoch 1",
        "logs/new.log": "before",
        "config.json": "{}",
    }
    done = run("ls logs config.json results.json; python study.py; echo now > logs/new.log", files)
    assert done.state == "ran"
    assert said(done, store) == "config.json\n\nlogs:\nmean 3.0\n"
    assert done.set_aside == ("logs/new.log", "logs/old.log", "results.json")
    assert {(each.path, each.submitted, each.same) for each in done.made} == {
        ("results.json", True, True),
        ("logs/new.log", True, False),
    }
    assert done.suspicions == ()


def test_a_script_that_reads_its_own_result_fails_and_is_named(
    run: Callable[..., Execution],
) -> None:
    reading = "import json; print(json.load(open('final/results.json'))['accuracy'])"
    done = run("python show.py", {"show.py": reading, "final/results.json": '{"accuracy": 0.91}'})
    assert done.state == "failed" and done.exit_code == 1
    assert done.set_aside == ("final/results.json",)
    (suspicion,) = done.suspicions
    assert suspicion.kind == "needs_its_own_results"
    assert "final/results.json" in suspicion.explanation
    assert "final/results.json" in suspicion.quote
    assert execution_score(done).value == 0.0


def test_a_script_that_swallows_the_error_is_named_too(run: Callable[..., Execution]) -> None:
    done = run("cat results.json\necho done\n", {"results.json": '{"accuracy": 0.91}'})
    assert done.state == "ran"
    (suspicion,) = done.suspicions
    assert suspicion.kind == "needs_its_own_results" and "results.json" in suspicion.explanation


def test_a_script_that_fails_with_its_results_too_is_no_suspicion(
    run: Callable[..., Execution],
) -> None:
    done = run("cat results.json && python missing.py", {"results.json": "{}"})
    assert done.state == "failed" and done.suspicions == ()


def test_a_mock_that_fails_in_another_way_is_named_too(run: Callable[..., Execution]) -> None:
    """The first of no files is an index error: nothing says that a file is missing."""
    reading = "import glob; print(open(sorted(glob.glob('logs/*.log'))[0]).read())"
    done = run("python show.py", {"show.py": reading, "logs/a.log": "accuracy 0.91"})
    assert done.state == "failed"
    (suspicion,) = done.suspicions
    assert "logs/a.log" in suspicion.explanation


def test_a_script_that_prints_its_response_is_named(run: Callable[..., Execution]) -> None:
    printing = f"python -c \"import json; print(json.load(open('{RESPONSE_NAME}'))['conclusion'])\""
    done = run(printing, {RESPONSE_NAME: '{"design": "d", "conclusion": "0.91"}'})
    assert done.state == "failed"
    assert [each.kind for each in done.suspicions] == ["needs_its_own_results"]


def test_shipped_results_are_as_they_were_shipped(
    run: Callable[..., Execution], store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed one is restored; data and code that the agent changed stay changed."""
    files = {"results/old.json": '{"accuracy": 0.99}', "data/numbers.csv": "5\n"}
    script = "cat results/old.json data/numbers.csv"
    done = run(script, files)
    assert said(done, store) == '{"accuracy": 0.5}\n5\n'
    assert done.set_aside == ("results/old.json",) and done.made == ()
    monkeypatch.setattr("expbench.sandboxes.host.mounts_overlays", lambda place: False)
    copied = run(script, files)
    assert copied.enforced is not None and copied.enforced.workspace != "overlay"
    assert said(copied, store) == said(done, store) and copied.made == ()


def test_results_can_be_kept(run: Callable[..., Execution], store: BlobStore) -> None:
    conditions = Conditions(keep_results=True)
    done = run("cat results.json", {"results.json": "{}"}, conditions)
    assert (done.state, said(done, store), done.set_aside) == ("ran", "{}", ())


# --- files that it made -----------------------------------------------------------------------------------


def test_what_was_only_touched_or_copied_is_not_made(
    run: Callable[..., Execution], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "touch data/numbers.csv lib/measure.py study.py\n"
        "cp README.md x && cp x README.md && rm x; chmod 600 study.py\n"
        "python -B -c 'import sys; sys.path.insert(0, \"lib\"); import measure'\n"
        "mkdir -p __pycache__ .pytest_cache; touch __pycache__/a.pyc .pytest_cache/b\n"
        "git config user.name x; git config user.email y; git add -A; git commit -qm z\n"
        "ln -s /etc/passwd link; mkfifo pipe; echo changed >> study.py\n"
    )
    done = run(script, {"study.py": PROGRAM})
    assert done.state == "ran", done.cause
    assert [each.path for each in done.made] == ["study.py"]
    monkeypatch.setattr("expbench.sandboxes.host.mounts_overlays", lambda place: False)
    assert [each.path for each in run(script, {"study.py": PROGRAM}).made] == ["study.py"]


def test_what_is_kept_is_bounded(run: Callable[..., Execution], store: BlobStore) -> None:
    script = (
        "head -c 300000 /dev/zero | tr '\\0' x > long.txt\n"
        "head -c 100000 /dev/urandom > binary.dat\n"
        "mkdir many; cd many; for i in $(seq 1200); do echo $i > $i.bin; done\n"
        "echo kept > ../results.txt"
    )
    done = run(script)
    assert len(done.made) == 1000 and done.made_more == 203
    made = {each.path: each for each in done.made}
    assert made["results.txt"].content is not None and done.made[0].path == "results.txt"
    assert all(each.digest for each in done.made)
    assert sum(each.content is not None for each in done.made) == 200
    again = run("head -c 300000 /dev/zero | tr '\\0' x > long.txt; printf '\\0\\1' > b.dat")
    assert {each.path: each.content for each in again.made} == {"long.txt": None, "b.dat": None}
    assert {each.size for each in again.made} == {300000, 2}


def test_an_end_without_output_produced_nothing(run: Callable[..., Execution]) -> None:
    done = run("true > empty.txt; exit 0")
    assert done.state == "ran" and not done.produced
    score = produced_score(done)
    assert (score.value, score.reason) == (0.0, "it ended with exit code 0 and made no output")
    assert execution_score(done).value == 1.0


# --- unkind scripts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [
        ("exit 3", "failed", 3),
        ("python -c 'raise ValueError(7)'", "failed", 1),
        ("kill -9 $$", "failed", 137),
        ("kill -9 -1", "failed", 137),
        ("trap 'exit 0' EXIT; false; exit 4", "ran", 0),
        ("exec python -c 'print(1)'", "ran", 0),
        ('rm -- "$0"; echo gone', "ran", 0),
        ("rm -rf /workspace/* /workspace/.* 2>/dev/null; echo all gone", "ran", 0),
        ("mkdir -p a/b; echo 1 > a/b/c; chmod -R 000 a; chmod 000 .; echo shut", "ran", 0),
        ("head -c 3000000 /dev/zero | tr '\\0' x; echo", "ran", 0),
        ("head -c 100000 /dev/urandom", "ran", 0),
        ("python missing.py | tail -1", "ran", 0),
        ('read -r answer; echo "got $answer"', "ran", 0),
        ("python -c 'input()'", "failed", 1),
        ("if then", "failed", 2),
        ("(setsid sleep 100 &) ; nohup sleep 100 & echo left", "ran", 0),
    ],
)
def test_a_script_is_scored_as_what_it_does(
    run: Callable[..., Execution], script: str, state: str, code: int
) -> None:
    """Never as a failure of the harness, and the exit status is the script's own."""
    done = run(script)
    assert (done.state, done.exit_code) == (state, code), (done.cause, done.failure)
    if state == "failed":
        assert done.cause.startswith(f"exit code {code}") and done.failure is not None
    assert execution_score(done).value == float(state == "ran")


def test_a_script_that_stops_its_keeper_is_timed_out(run: Callable[..., Execution]) -> None:
    assert run("kill -STOP -1; exit 0", minutes=0.02).state == "timed_out"


def test_files_that_were_shut_are_read_all_the_same(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    done = run("mkdir -p a/b; echo 1 > a/b/c; chmod 000 a/b/c; chmod -R 000 a")
    (made,) = done.made
    assert (made.path, store.text(made.content)) == ("a/b/c", "1\n")


def test_an_endless_script_is_stopped_with_all_that_it_started(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    done = run("echo started; echo x > part.txt; while true; do :; done", minutes=0.15)
    assert (done.state, done.exit_code) == ("timed_out", None)
    assert "no end after" in done.cause and done.failure is not None
    assert done.failure.kind == "time"
    assert said(done, store) == "started\n" and [e.path for e in done.made] == ["part.txt"]
    assert done.cpu_seconds is not None and done.cpu_seconds > 0.5
    assert not done.produced and execution_score(done).value == 0.0


def test_a_flood_of_output_is_kept_by_its_ends(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    done = run("echo first; yes | head -c 200000000; echo; echo last", output_mib=1)
    text = said(done, store)
    assert done.state == "ran" and done.stdout is not None and done.stdout.size < 1.1 * 1024**2
    assert text.startswith("first\n") and text.endswith("last\n") and "bytes left out" in text


def test_a_full_disk_is_the_scripts_failure_and_its_output_stays(
    run: Callable[..., Execution], store: BlobStore
) -> None:
    script = "echo begun; for i in $(seq 400); do head -c 4M /dev/zero > f$i; done; sleep 30"
    done = run(script, disk_mib=60)
    assert done.state == "failed" and done.cause == "The workspace grew by more than 60 MiB."
    assert said(done, store) == "begun\n" and done.failure is not None
    assert execution_score(done).value == 0.0 and done.made


def test_too_many_files_are_the_scripts_failure(run: Callable[..., Execution]) -> None:
    program = "import itertools, time\nfor i in itertools.count():\n    open(f'f{i}', 'w')\n"
    done = run(f"timeout 50 python - <<'END'\n{program}END\nsleep 30", added=3000)
    assert done.state == "failed" and "More than 3000 files" in done.cause
    assert len(done.made) == 1000 and done.made_more > 1000


def test_too_much_memory_is_named_so(run: Callable[..., Execution]) -> None:
    done = run("python -c 'x = bytearray(900 * 1024**2); x[::4096] = x[1::4096]'", memory_mib=256)
    assert done.state == "failed" and done.failure is not None
    if done.enforced is not None and "cgroup" in done.enforced.limits["memory_mib"]:
        assert done.failure.kind == "memory" and "256 MiB" in done.cause


def test_what_several_processes_use_together_is_measured(run: Callable[..., Execution]) -> None:
    one = "python -c 'import time; x = bytearray(120 * 1024**2); time.sleep(1.2)'"
    done = run(f"{one} & {one} & wait")
    assert done.peak_memory_mib is not None and 200 < done.peak_memory_mib < 400


def test_a_tracer_that_loses_its_sandbox_is_no_failure(run: Callable[..., Execution]) -> None:
    class Lost(NoTracer):
        def collect(self, scene: Scene) -> Observed:
            raise SandboxError("gone")

    done = run("echo 1", conditions=Conditions(tracer=Lost))
    assert done.state == "ran" and done.trace is not None and "gone" in done.trace.reason


def test_cancelling_ends_it_unscored(
    submit: Submit, repository: Prepared, host: SandboxHost, store: BlobStore
) -> None:
    cancelled = threading.Event()
    timer = threading.Timer(0.5, cancelled.set)
    timer.start()
    conditions = Conditions(cancelled=cancelled)
    done = rerun(submit({SCRIPT_NAME: "sleep 60"}), repository, host, store, conditions=conditions)
    assert done.state == "infrastructure" and execution_score(done).value is None


def test_a_sandbox_that_cannot_start_is_no_zero(
    submit: Submit, repository: Prepared, store: BlobStore, tmp_path: Path
) -> None:
    """R22: the harness's failure is unscored."""
    host = SandboxHost(CachePaths(tmp_path / "cache"), packages=(tmp_path / "gone",))
    done = rerun(submit({SCRIPT_NAME: "echo 1"}), repository, host, store)
    assert done.state == "infrastructure" and done.cause
    assert execution_score(done).value is None and produced_score(done).value is None


def test_names_that_are_no_text_are_set_aside_and_listed(
    run: Callable[..., Execution],
) -> None:
    name = os.fsdecode(b"results/\xff.csv")
    done = run("ls results | wc -l; echo 1 > \"$(printf 'results/\\xfe.csv')\"", {name: "0.5"})
    assert done.set_aside == ("results/\\xff.csv",)
    assert [each.path for each in done.made] == ["results/\\xfe.csv"]
    odd = os.fsdecode(b"\xff/reproduce_exp_bench.sh")
    done = run(files={odd: "echo 1"})
    assert (done.state, done.script) == ("ran", "\\xff/reproduce_exp_bench.sh")
    assert Execution.model_validate_json(done.model_dump_json()) == done
