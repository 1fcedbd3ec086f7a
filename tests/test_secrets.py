"""Secrets never reach a sandbox, a log, a report, a judge's text or a message (R46)."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import inspect_ai.log  # noqa: F401  (lets zipfile read the logs' compression)
import pytest

from expbench.errors import ExpbenchError
from expbench.redaction import protect, redacted, redacted_bytes, redacted_error, secrets_of
from expbench.sandboxes import bubblewrap

CANARY = 'canary/7f"3a+9e\\d1 &ü-5b'
PLAIN = "canaryplain0123456789"
SPELLINGS = {
    CANARY,
    json.dumps(CANARY)[1:-1],
    json.dumps(CANARY, ensure_ascii=False)[1:-1],
    quote(CANARY),
    quote(CANARY, safe=""),
    base64.b64encode(CANARY.encode()).decode(),
    PLAIN,
}
AGENT = '''\
import os

KEY, PLAIN = os.environ["SOME_VENDOR_API_KEY"], os.environ["DB_PASSWORD"]


async def leaky(task, workspace):
    """Lets its keys slip into everything that it can write."""
    workspace.say(f"I use {KEY} and {PLAIN}")
    done = await workspace.run(f"echo {PLAIN} > note.txt; cat note.txt; env")
    await workspace.write("key.txt", KEY + PLAIN)
    await workspace.write(f"{PLAIN}.py", "print(1)")
    await workspace.write("reproduce_exp_bench.sh", f"echo '{PLAIN}'; cat key.txt; ls")
    await workspace.write(
        "response.json", '{"design": "uses %s", "conclusion": "%s is 0.5"}' % (PLAIN, PLAIN)
    )
    print("on the terminal", KEY, PLAIN)
    raise RuntimeError(f"401 wrong key {KEY!s} {PLAIN} sk-{'a1' * 20}")
'''


@pytest.fixture
def hidden() -> Iterator[None]:
    protect({"SOME_API_KEY": CANARY, "DB_PASSWORD": PLAIN})
    yield
    protect({})


def sandboxes() -> bool:
    try:
        bubblewrap.check()
    except ExpbenchError:
        return False
    return True


def leaks(data: bytes) -> list[str]:
    return [each for each in SPELLINGS if each.encode() in data]


def contents(file: Path) -> Iterator[tuple[str, bytes]]:
    """A file's bytes, and those of what is packed in it."""
    data = file.read_bytes()
    yield str(file), data
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                yield f"{file}:{name}", archive.read(name)
    elif file.name.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if (opened := tar.extractfile(member)) is not None:
                    yield f"{file}:{member.name}", opened.read()


@pytest.mark.skipif(not sandboxes(), reason="bubblewrap makes no sandbox here")
def test_no_key_reaches_a_sandbox_a_log_a_report_or_the_terminal(tmp_path: Path) -> None:
    """R46: an agent, a judge and a monitor that all spill keys; every file is searched afterwards."""
    (tmp_path / "leaky.py").write_text(AGENT)
    verdict = {"verdict": "not_met", "evidence": "", "reason": PLAIN, "alternative": False}
    replies = {"replies": [{"when": ".", "text": json.dumps(verdict)}]}
    folder = tmp_path / "home"
    work = tmp_path / "work"
    work.mkdir()
    (work / "judge.json").write_text(json.dumps(replies))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "COLUMNS": "200",
        "SOME_VENDOR_API_KEY": CANARY,
        "DB_PASSWORD": PLAIN,
    }

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "expbench", *words],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not leaks((done.stdout + done.stderr).encode()), words
        return done

    run = command(
        *("run", "--suite", "mini", "--task", "mini/calibration/2", "--out", "runs/a"),
        *("--agent", f"python:{tmp_path / 'leaky.py'}:leaky"),
        *("--judge", "scripted/judge.json"),
        *("--monitor-model", "scripted/judge.json"),
    )
    assert run.returncode == 0, run.stderr
    assert "[secret SOME_VENDOR_API_KEY]" in run.stdout, "the agent's own print was seen"
    assert command("runs", "pack", "runs/a", "--out", "a.tar.gz").returncode == 0
    command("run", "--agent", f"python:{PLAIN}:x")

    outcome = json.loads((work / "runs/a/outcomes.jsonl").read_text())
    assert "401 wrong key [secret SOME_VENDOR_API_KEY]" in outcome["reason"]
    assert "sk-a1" not in outcome["reason"], "what looks like a key is none of an error's either"
    reasons = [each["reason"] for each in outcome["judgement"]["verdicts"]]
    assert any("[secret DB_PASSWORD]" in reason for reason in reasons), reasons
    stored = [f.read_bytes() for f in (work / "runs/a/store").rglob("*") if f.is_file()]
    assert any(b"[secret DB_PASSWORD]" in each for each in stored)
    (work / "judge.json").unlink()
    files = [file for root in (work, folder) for file in root.rglob("*") if file.is_file()]
    found = {name: leaks(data) for file in files for name, data in contents(file)}
    assert len(found) > 20
    assert {name: each for name, each in found.items() if each} == {}
    assert not [file for file in files if PLAIN in file.name]


def test_values_are_found_by_their_name_or_place() -> None:
    found = secrets_of(
        {
            "OPENAI_API_KEY": "sk-1234567890",
            "AWS_SECRET_ACCESS_KEY": "abcdefghij",
            "GITLAB_TOKEN": "glpat-123456",
            "GITHUB_PAT": "abcdefghij",
            "https_proxy": "http://me:swordfish99@proxy:3128",
            "HOME": "/home/somebody",
            "GIT_AUTHOR_EMAIL": "me@example.org",
            "SSH_AUTH_SOCK": "/tmp/ssh-agent.sock",
            "TOKENIZERS_PARALLELISM": "disabled-for-now",
            "MONKEY": "business-as-usual",
            "SHORT_TOKEN": "none",
        }
    )
    assert set(found) == {
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITLAB_TOKEN",
        "GITHUB_PAT",
        "https_proxy",
    }
    assert found["https_proxy"] == "swordfish99"


@pytest.mark.parametrize("spelling", sorted(SPELLINGS))
def test_every_spelling_is_hidden(hidden: None, spelling: str) -> None:
    text = f"before {spelling} after"
    assert redacted(text) in (
        "before [secret SOME_API_KEY] after",
        "before [secret DB_PASSWORD] after",
    )
    assert redacted_bytes(b"\xff" + text.encode()) == b"\xff" + redacted(text).encode()


def test_of_two_values_the_longer_one_is_hidden_whole() -> None:
    protect({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghijkl"})
    try:
        assert redacted("abcdefghijkl abcdefgh") == "[secret B_TOKEN] [secret A_TOKEN]"
    finally:
        protect({})


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh12345678",
        "GET /v1/models?key=AIzaSyA1234567890 HTTP/1.1",
        "Incorrect API key provided: sk-proj-abcdefghijklmnop1234",
        "token ghp_abcdefghijklmnopqrst1234",
    ],
)
def test_errors_are_searched_for_what_looks_like_a_key(text: str) -> None:
    assert "[secret]" in redacted_error(text)
    assert not any(part in redacted_error(text) for part in ("12345678", "mnop"))


def test_ordinary_errors_stay_as_they_are() -> None:
    for text in ("exit 1: task-forecasting-of-the-weather-in-may failed", "key = 5, token = 7"):
        assert redacted_error(text) == text
