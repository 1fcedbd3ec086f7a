"""A person in the sandbox: the way in, and Inspect's human agent worked by a scripted person."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_running import QUICK, RESPONSE, SCRIPT, Folder, Ran

from expbench.errors import NotFoundError
from expbench.sandboxes.entering import Entrance, enter
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.session import Session
from expbench.schema import Limits, Policy

PROMPT = rb"\$ $"
ENTER = [sys.executable, "-m", "expbench", "enter"]


class Person:
    """Types at a terminal of 40 rows and 120 columns, and reads what it shows."""

    def __init__(self, argv: list[str], env: dict[str, str] | None = None) -> None:
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.execvpe(argv[0], argv, env or dict(os.environ))
        size = struct.pack("HHHH", 40, 120, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def see(self, pattern: bytes, seconds: float = 60.0) -> str:
        """What is shown until it matches; the rest of what it showed where it has ended."""
        shown, until = b"", time.monotonic() + seconds
        while not re.search(pattern, shown):
            if time.monotonic() > until:
                pytest.fail(f"{pattern!r} was never shown, but {shown.decode(errors='replace')}")
            if select.select([self._terminal], [], [], 0.2)[0]:
                try:
                    shown += os.read(self._terminal, 65536)
                except OSError:
                    break
        return shown.decode(errors="replace")

    def run(self, command: str) -> str:
        self.type(f"{command}; echo do''ne\n")
        return self.see(rb"done\r?\n[^\n]*\$ $")

    def end(self) -> int:
        """Wait for its end; its exit code."""
        with contextlib.suppress(OSError):
            while os.read(self._terminal, 65536):
                pass
        os.close(self._terminal)
        _, status = os.waitpid(self._process, 0)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def session(host: SandboxHost) -> Iterator[Session]:
    place = host.folder()
    policy = Policy(limits=Limits(file_mib=7))
    with host.start(place, policy) as running:
        yield running
    host.discard(place)


@pytest.fixture
def entrance(session: Session, tmp_path: Path) -> Iterator[Entrance]:
    # Deeper than the address of a socket is long.
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()
    made = Entrance(session, folder)
    yield made
    made.close()


def test_a_person_enters_and_what_they_start_is_held_as_everything_else(
    session: Session, entrance: Entrance
) -> None:
    assert stat.S_IMODE(entrance.path.stat().st_mode) == 0o600
    person = Person([*ENTER, str(entrance.path)])
    person.see(PROMPT)
    assert "/workspace" in person.run("pwd")
    assert "40 120" in person.run("stty size")
    assert str(7 * 1024) in person.run("ulimit -f"), "the limits of the policy hold"
    assert "no network" in person.run("cat < /dev/tcp/127.0.0.1/9 2>/dev/null || echo no network")
    before = len(session.processes())
    person.run("sleep 1000 & sleep 1000 & true")
    assert len(session.processes()) == before + 2, "it runs in the sandbox"
    assert session.run(["pgrep", "-c", "sleep"], timeout=20).stdout.strip() == b"2"
    person.type("exit\n")
    assert person.end() == 0
    for _ in range(100):
        if session.run(["pgrep", "-c", "sleep"], timeout=20).stdout.strip() == b"0":
            break
        time.sleep(0.1)
    else:
        pytest.fail("what a person has started outlives their leaving")


def test_two_people_are_in_at_once_and_both_are_out_when_the_sandbox_ends(
    session: Session, entrance: Entrance
) -> None:
    people = [Person([*ENTER, str(entrance.path)]) for _ in range(2)]
    for number, person in enumerate(people):
        person.see(PROMPT)
        person.run(f"echo here > {number}")
    assert "0  1" in people[0].run("ls")
    session.close()
    assert [person.end() for person in people] == [0, 0]


def test_a_sandbox_that_nobody_can_enter_is_refused_before_anything_is_prepared(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path, tmp_path / "cache")
    local = ("--sandbox", "local", "--unsafe")
    sentence = folder.refused("run", "--agent", "human", "--task", QUICK, *local)
    assert "human" in sentence and "choose one of bwrap, docker, podman" in sentence
    assert not list((tmp_path / "cache").rglob("work")), "no workspace was made"


def test_commands_can_be_piped_in(entrance: Entrance) -> None:
    done = subprocess.run(
        [*ENTER, str(entrance.path)],
        input="echo $((6 * 7)) > answer; cat answer\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "42" in done.stdout


def test_a_door_that_leads_nowhere_is_said(entrance: Entrance, tmp_path: Path) -> None:
    entrance.close()
    for path in (entrance.path, tmp_path / "no" / "door"):
        with pytest.raises(NotFoundError, match="leads into no sandbox"):
            enter(path)


def test_a_person_hands_in_and_is_scored(host: SandboxHost, tmp_path: Path) -> None:
    """Inspect's human agent: its commands, its clock, and the trajectory of what was typed and shown."""
    if shutil.which("script") is None:
        pytest.skip("this system has no `script`, which records terminals")
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(host.cache.root)}
    command = [sys.executable, "-m", "expbench", "run", "--agent", "human", "--task", QUICK]
    with subprocess.Popen(
        [*command, "--out", "runs/person", "--json"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stderr is not None and run.stdout is not None
        door = next(m[1] for line in run.stderr if (m := re.search(r"expbench enter (\S+)", line)))
        person = Person([*ENTER, door], env)
        assert "Task Instructions" in person.see(PROMPT)
        person.type("task stop\n")
        assert "Stopped" in person.see(rb"Time:.*\n[^\n]*\$ $")
        person.type("task submit\n")
        assert "Task is stopped" in person.see(rb"task start[^\n]*\n[^\n]*\$ $")
        person.type("task start\n")
        assert "Running" in person.see(rb"Time:.*\n[^\n]*\$ $")
        person.run(f"cat > reproduce_exp_bench.sh <<'EOF'\n{SCRIPT}EOF\necho")
        person.run(f"cat > response.json <<'EOF'\n{json.dumps(RESPONSE)}\nEOF\necho")
        person.type("task submit\n")
        person.see(rb"No \(n\): ")
        person.type("y\n")
        said = run.stdout.read()
        run.stderr.read()
        assert run.wait(120) == 0
        assert person.end() == 0
    assert json.loads(said)["agent"] == "human", "standard output is one JSON object"
    ran = Ran(tmp_path / "runs" / "person", said)
    assert ran.values()["execution"] == 1.0 and not ran.outcome.doubts
    typed = [turn.command for turn in ran.tools]
    assert typed[:3] == ["task stop", "task submit", "task start"]
    assert any(command.startswith("cat > reproduce_exp_bench.sh <<'EOF'\n") for command in typed)
    shown = ran.turns[-1].text
    assert "what the terminal showed" in shown and "Task is stopped" in shown
    assert "\x1b" not in shown
    assert not Path(door).parent.exists()
