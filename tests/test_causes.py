"""Failure causes by rule: texts as programs print them, each with its kind, line and what is missing.

The folder ``failures`` has them: a line ``=== name | kind | line | what is missing | exit code`` and the
standard error that follows; ``-`` is nothing, and the exit code is 1 where none is given.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from expbench.execution.causes import cause_of
from expbench.schema import Failure

TEXTS = Path(__file__).parent / "failures"


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    line: str
    detail: str
    code: int
    text: str


def cases() -> list[Case]:
    found = []
    for path in sorted(TEXTS.glob("*.txt")):
        for part in ("\n" + path.read_text(encoding="utf-8")).split("\n=== ")[1:]:
            head, _, text = part.partition("\n")
            name, kind, line, detail, *code = head.split(" | ")
            number = int(code[0]) if code else 1
            found.append(
                Case(name, kind, line.strip(), "" if detail == "-" else detail, number, text + "\n")
            )
    return found


CASES = cases()


def test_there_are_enough_texts() -> None:
    assert len(CASES) >= 60 and len({case.name for case in CASES}) == len(CASES)
    assert len({case.kind for case in CASES}) >= 12


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_cause_is_found_with_its_line(case: Case) -> None:
    failure = cause_of(b"epoch 0 loss 0.71\n", case.text.encode(), case.code, "failed")
    assert failure is not None
    assert (failure.kind, failure.line[:240], failure.detail) == (
        case.kind,
        case.line[:240],
        case.detail,
    )


def cause(stderr: str | bytes = b"", stdout: str | bytes = b"", code: int | None = 1) -> Failure:
    out, err = (each.encode() if isinstance(each, str) else each for each in (stdout, stderr))
    failure = cause_of(out, err, code, "failed")
    assert failure is not None
    return failure


TRACEBACK = 'Traceback (most recent call last):\n  File "/workspace/a.py", line 1, in <module>\n'
MISSING = f"{TRACEBACK}ModuleNotFoundError: No module named 'torch'\n"


@pytest.mark.parametrize(("state", "code"), [("ran", 0), ("infrastructure", None), ("failed", 0)])
def test_what_ended_well_or_was_not_the_scripts_has_no_cause(state: str, code: int | None) -> None:
    assert cause_of(MISSING.encode(), MISSING.encode(), code, state) is None


def test_without_a_script_the_script_is_what_is_missing() -> None:
    assert cause_of(b"", b"", None, "no_script") == Failure(
        kind="missing_file", line="", detail="script"
    )


@pytest.mark.parametrize(("state", "code"), [("timed_out", None), ("failed", 124)])
def test_a_time_limit_shows_how_far_it_came(state: str, code: int | None) -> None:
    failure = cause_of(b"epoch 1\nepoch 2\n", b"", code, state)
    assert failure == Failure(kind="time", line="epoch 2")


def test_standard_error_decides_and_standard_output_where_it_has_nothing_surer() -> None:
    assert cause(f"{TRACEBACK}KeyError: 'x'\n", MISSING).detail == "KeyError"
    assert cause("Done with errors.\n", MISSING).kind == "missing_module"
    assert cause("", f"epoch 1\n{MISSING}").kind == "missing_module"


def test_a_printed_example_of_an_error_is_none() -> None:
    shown = "Typical errors:\n  CUDA out of memory\n  ModuleNotFoundError: No module named 'x'\n"
    assert cause("accuracy is too low\n", shown).kind != "gpu"
    assert cause(f"{TRACEBACK}ValueError: bad seed\n", shown).line == "ValueError: bad seed"


@pytest.mark.parametrize(
    "question", ["Continue? [y/N] ", "Enter the path of the data: ", "Overwrite (yes/no)"]
)
def test_a_question_at_the_end_waited_for_a_person(question: str) -> None:
    failure = cause("", f"setting up\n{question}")
    assert (failure.kind, failure.line) == ("interactive", question.strip())
    assert cause("", f"setting up\n{question}\nall steps done\n").kind == "other"


def test_nothing_told_is_other_with_the_last_line() -> None:
    assert cause() == Failure(kind="other", line="")
    assert cause("", "step 1\nscore 0.31 is too low\n\n").line == "score 0.31 is too low"
    assert cause("UserWarning: slow\n", "score too low\n").kind == "other"


@pytest.mark.parametrize(
    ("code", "kind", "detail"), [(137, "memory", "SIGKILL"), (139, "other", "SIGSEGV")]
)
def test_a_signal_is_known_by_the_exit_code(code: int, kind: str, detail: str) -> None:
    failure = cause("", "epoch 3\n", code)
    assert (failure.kind, failure.line, failure.detail) == (kind, "epoch 3", detail)


# --- what logs really look like ------------------------------------------------------------------


def test_colours_and_progress_bars_do_not_hide_the_line() -> None:
    bar = "".join(f"\r{n:3d}%|####      | {n}/100 [00:01<00:00]" for n in range(100))
    coloured = MISSING.replace("ModuleNotFoundError", "\x1b[1;31mModuleNotFoundError\x1b[0m")
    failure = cause(f"\x1b]0;title\x07{bar}\r{coloured}")
    assert failure.line == "ModuleNotFoundError: No module named 'torch'"
    assert cause(MISSING.replace("\n", "\r\n")).detail == "torch"


def test_bytes_that_are_no_text_are_read_over() -> None:
    noise = bytes(range(256)) * 20
    assert cause(noise + b"\n" + MISSING.encode() + noise[:40]).detail == "torch"
    latin = (
        "Traceback (most recent call last):\n  File \"/workspace/é.py\", line 1\nKeyError: 'ü'\n"
    )
    assert cause(latin.encode("latin-1")).detail == "KeyError"
    assert cause("x\n".encode("utf-16") + MISSING.encode("utf-16-le")).detail == "torch"


def test_a_log_of_a_hundred_megabytes_is_read_at_its_ends() -> None:
    filler = b"step 1: an error of 0.1 cannot be missing here, retrying\n"
    assert cause(filler * 1_800_000 + MISSING.encode()).detail == "torch"
    assert cause(MISSING.encode() + b"a step of the training\n" * 4_000_000).detail == "torch"
    assert cause(b"x" * 100_000_000 + b"\n" + MISSING.encode()).detail == "torch"


def test_a_log_cut_in_the_middle_still_tells() -> None:
    cut = MISSING.replace("Traceback (most", "[… 812 bytes left out …]\n(most")
    assert cause(cut).detail == "torch"
    unfinished = f"{TRACEBACK}    import torch\n"
    assert cause(unfinished).kind == "other"


@pytest.mark.parametrize(
    "hostile",
    [
        "Traceback (most recent call last):\n" * 20_000,
        "error " * 300_000,
        "ERROR: Error in " + "(" * 200_000,
        ("Error: cannot open 'a/" + "b/" * 900 + "\n") * 2_000,
        "HTTPSConnectionPool(host='" * 4_000 + "\n" + MISSING,
        "  error: subprocess-exited-with-error\n" * 5_000,
        "During handling of the above exception\n" * 5_000 + TRACEBACK,
    ],
    ids=["headers", "one line", "brackets", "paths", "hosts", "boxes", "links"],
)
def test_a_hostile_log_gives_some_cause(hostile: str) -> None:
    failure = cause(hostile, hostile)
    assert failure.kind and len(failure.line) <= 300 and len(failure.detail) <= 200


# --- made here, by the programs themselves ----------------------------------------------------------


def run(command: list[str], folder: Path) -> Failure:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder)}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert done.returncode
    return cause(done.stderr, done.stdout, done.returncode)


PYTHON = {
    "import nosuch_module_here": ("missing_module", "nosuch_module_here"),
    "open('data/train.csv')": ("input_data", "data/train.csv"),
    "open('runs/best.pt', 'rb')": ("checkpoint", "runs/best.pt"),
    "open('configs/a.yaml')": ("missing_file", "configs/a.yaml"),
    "input('Sure? ')": ("interactive", "stdin"),
    "import subprocess; subprocess.run(['nosuch-program'])": ("environment", "nosuch-program"),
    "raise MemoryError": ("memory", "memory"),
    "x = {}; x['loss']": ("other", "KeyError"),
    "x = (": ("syntax", "<string>"),
    "from collections import Mapping": ("environment", "collections"),
    "import sys; sys.exit('Error: dataset not found in data/cifar')": ("input_data", "data/cifar"),
    "open('/dev/full', 'w').write('x' * 10**6)": ("other", "disk"),
    "import socket; socket.create_connection(('127.0.0.1', 9))": ("network", ""),
    "import urllib.request as u; u.urlopen('http://127.0.0.1:9/x')": ("network", ""),
    "import os; os.kill(os.getpid(), 9)": ("memory", "SIGKILL"),
    "import argparse; argparse.ArgumentParser().parse_args(['--x'])": ("other", "--x"),
    "import pickle; pickle.loads(b'')": ("input_data", ""),
}


@pytest.mark.parametrize("code", PYTHON)
def test_what_python_really_prints(code: str, tmp_path: Path) -> None:
    failure = run(["bash", "-c", f'{sys.executable} -c "{code}"; exit $?'], tmp_path)
    assert (failure.kind, failure.detail) == PYTHON[code]


SHELL = {
    "nosuch-program": ("environment", "nosuch-program"),
    "./nosuch.sh": ("missing_file", "./nosuch.sh"),
    "cat data/x.csv": ("input_data", "data/x.csv"),
    "source venv/bin/activate; exit 1": ("environment", "venv/bin/activate"),
    "touch a.sh && ./a.sh": ("permission", "./a.sh"),
    "cd nowhere": ("missing_file", "nowhere"),
    "set -u; echo $DATA_ROOT": ("other", "DATA_ROOT"),
    "printf 'if true; then\\n' > s.sh; bash s.sh": ("syntax", "s.sh"),
    "printf 'train\\r\\n' > s.sh; bash s.sh": ("syntax", "s.sh"),
    "set -e; echo -n 'Proceed? [y/N] '; read answer": ("interactive", "stdin"),
    "python3 nosuch.py": ("missing_file", "nosuch.py"),
    "python3 -m nosuch.part": ("missing_module", "nosuch"),
    "tar xf nosuch.tar.gz": ("input_data", "nosuch.tar.gz"),
    "timeout 0.2 sleep 5": ("time", ""),
    "ulimit -v 400000; python3 -c 'bytearray(10**9)'": ("memory", "memory"),
}


@pytest.mark.parametrize("command", SHELL)
def test_what_the_shell_really_prints(command: str, tmp_path: Path) -> None:
    failure = run(["bash", "-c", command], tmp_path)
    assert (failure.kind, failure.detail.rpartition("nosuch.py")[1] or failure.detail) == SHELL[
        command
    ]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")
@pytest.mark.parametrize(
    ("source", "kind", "detail"),
    [
        ("#include <nosuch.h>\n", "environment", "nosuch.h"),
        ("int main(){ int x = 3 return x; }\n", "syntax", "a.c"),
        ("int f(); int main(){ return f(); }\n", "environment", "f"),
    ],
)
def test_what_a_compiler_really_prints(source: str, kind: str, detail: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(source)
    (tmp_path / "Makefile").write_text("all:\n\tgcc a.c\n")
    for command in (["gcc", "a.c"], ["make"] if shutil.which("make") else ["gcc", "a.c"]):
        failure = run(command, tmp_path)
        assert (failure.kind, failure.detail) == (kind, detail)


def test_what_pip_really_prints(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index"]
    if subprocess.run([*pip[:3], "--version"], capture_output=True, check=False).returncode:
        pytest.skip("no pip here")
    failure = run([*pip, "nosuch-package==9.9"], tmp_path)
    assert (failure.kind, failure.detail) == ("environment", "nosuch-package==9.9")
    failure = run([*pip, "-r", "requirements.txt"], tmp_path)
    assert (failure.kind, failure.detail) == ("missing_file", "requirements.txt")
