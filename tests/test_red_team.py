"""The red team: what agents may try from inside a sandbox fails, and each time works without one (R18).

``red_team`` has the attacks, ``outside`` the host that they are after. A control that does not work on
this machine skips its attack, for then nothing would be known; the last test counts those that worked.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pty
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from outside import ROOT, World, alone, as_user, own, state, user_python
from red_team import (
    BOMB_INSIDE,
    BOMB_OUTSIDE,
    BOMBS,
    CARELESS,
    DAEMONS,
    EVASIONS,
    SPOIL,
    STAY,
    TABLE,
    THROUGH,
    TRAPS,
    Attack,
    Bomb,
    Evasion,
    Trap,
    program,
)
from workspaces import commit, run_git, write

from expbench.errors import SandboxError
from expbench.sandboxes import cgroups
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.sandboxes.processes import Table
from expbench.schema import Limits, Policy
from expbench.workspace import Prepared, collect, from_git, mask, materialise, materialise_patched

pytestmark = pytest.mark.xdist_group("red_team")

FOUND: dict[str, str] = {}
"""Attacks that succeed at present, and why."""


def found(name: str) -> Sequence[pytest.MarkDecorator]:
    """The mark of an attack that succeeds at present: its test fails when it no longer does."""
    return [pytest.mark.xfail(strict=True, reason=FOUND[name])] if name in FOUND else []


def case(name: str, *values: object) -> ParameterSet:
    return pytest.param(*values, id=name.partition(": ")[2], marks=found(name))


CONTROLS: dict[str, Callable[[World], str]] = {}
"""Of each attack what tries it without a sandbox: why that does not work, or nothing."""


@pytest.fixture(scope="module")
def world(
    host: SandboxHost, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[World]:
    """A host of its own, after ``host`` has found that there can be sandboxes."""
    records = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        records = records.parent
    records /= "red-team-controls"
    records.mkdir(exist_ok=True)
    with World(records) as made:
        yield made


def require(world: World, name: str) -> None:
    """Skip an attack that does not even work without a sandbox."""
    if reason := world.control(name, partial(CONTROLS[name], world)):
        pytest.skip(f"{name}: without a sandbox it does not work either: {reason}")


def table_control(attack: Attack, world: World) -> str:
    if attack.needs and not world.facts.get(attack.needs):
        return f"this machine or user has no {attack.needs}"
    said = []
    for who in attack.control:
        if who != "user" and not ROOT:
            said.append("it takes root")
            continue
        victim = world.victim()
        found = world.outside(attack.code, who, attack.outside)
        if found.through or state(victim) not in "SRD":
            return ""
        said.append(f"{who}: {found.text[-300:]}")
    return "; ".join(said)


CONTROLS |= {attack.name: partial(table_control, attack) for attack in TABLE}


@pytest.mark.parametrize("attack", TABLE, ids=lambda attack: attack.name)
def test_an_attack_fails(world: World, attack: Attack) -> None:
    require(world, attack.name)
    victim = world.victim()
    with world.sandbox() as session:
        found = world.inside(session, attack.code, attack.inside)
        assert found.complete, found.text
        assert not found.through, found.text
        assert state(victim) in "SRD", "a process of the host was harmed"
        assert session.run(["echo", "on"]).stdout == b"on\n"


# --- bombs ---------------------------------------------------------------------------------------

TINY = Policy(
    limits=Limits(
        minutes=1,
        memory_mib=64,
        processes=48,
        disk_mib=16,
        files=400,
        file_mib=8,
        output_mib=1,
    )
)
CASES = [
    case(f"bomb: {bomb.name} by {means}", bomb, means) for bomb in BOMBS for means in bomb.means
]


def control(name: str) -> Callable[[Callable[[World], str]], Callable[[World], str]]:
    """Register a function as the control of an attack that is not in the table."""

    def register(function: Callable[[World], str]) -> Callable[[World], str]:
        CONTROLS[name] = function
        return function

    return register


def bomb_control(bomb: Bomb, world: World) -> str:
    found = world.outside(bomb.code, "user", {**BOMB_OUTSIDE, **bomb.outside})
    return "" if found.through else found.text[-300:]


CONTROLS |= {f"bomb: {bomb.name}": partial(bomb_control, bomb) for bomb in BOMBS}


@contextlib.contextmanager
def nothing_left(world: World) -> Iterator[None]:
    """Afterwards the host has the same processes and workspaces as before."""

    def seen() -> set[object]:
        table = Table.read()
        return {(pid, table[pid].start) for pid in table.below(os.getpid())}

    world.victim()
    folders = set(world.cache.work.glob("*/"))
    before = seen()
    yield
    assert wait_for(lambda: not seen() - before), seen() - before
    assert set(world.cache.work.glob("*/")) == folders


def hold_by(means: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have limits held by control groups or by what there is without them."""
    if means == "groups" and cgroups.probe() is None:
        pytest.skip("there are no control groups here")
    if means == "watch":
        monkeypatch.setattr(cgroups, "probe", lambda: None)


@pytest.mark.parametrize(("bomb", "means"), CASES)
def test_a_bomb_is_held(
    world: World, bomb: Bomb, means: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds; the sandbox goes on, or is dead and says for what limit."""
    require(world, f"bomb: {bomb.name}")
    world.host.python()
    hold_by(means, monkeypatch)
    places = {"places": ["/tmp", "/dev/shm", "/home/agent"]}
    with nothing_left(world), world.sandbox(TINY) as session:
        try:
            found = world.inside(session, bomb.code, {**BOMB_INSIDE, **places})
            assert not found.through, session.enforced
        except SandboxError as error:
            assert session.excess is not None, error
        if session.excess is not None:
            assert session.excess.limit == bomb.limit
            assert wait_for(lambda: not session.alive)
        else:
            assert session.run(["echo", "on"]).stdout == b"on\n"


@control("bomb: forks without end")
def _(world: World) -> str:
    return CONTROLS["bomb: processes"](world)


def test_forks_without_end_hurt_no_other_sandbox(world: World) -> None:
    """Another sandbox of the same uid goes on starting processes meanwhile."""
    require(world, "bomb: forks without end")
    with nothing_left(world), world.sandbox(TINY) as bad, world.sandbox(TINY) as good:
        with ThreadPoolExecutor(1) as pool:
            script = ["bash", "-c", "f() { f | f & }; f; sleep 60"]
            call = pool.submit(bad.run, script, timeout=1.5)
            wait_for(lambda: len(Table.read().below(os.getpid())) > 30)
            assert (
                good.run(["sh", "-c", "for n in 1 2 3 4 5; do echo $n | cat; done"]).exit_code == 0
            )
            call.result()
        bad.close()


@control("bomb: output without end")
def _(world: World) -> str:
    size = 16 << 20
    command = [*as_user(), "sh", "-c", f"yes | head -c {size}"]
    kept = subprocess.run(command, capture_output=True, timeout=20, check=False).stdout
    return "" if len(kept) == size else f"only {len(kept)} bytes were kept"


def test_output_without_end_is_cut(world: World) -> None:
    require(world, "bomb: output without end")
    with nothing_left(world), world.sandbox(TINY) as session:
        done = session.run(["sh", "-c", "yes out & yes err >&2"], timeout=1.5)
        for stream in (done.stdout, done.stderr):
            assert 1 << 20 <= len(stream) < (1 << 20) + 100
        assert session.run(["echo", "on"]).stdout == b"on\n"


FILL_TABLE = """
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 100_000),) * 2)
for _ in range(3):
    if os.fork() == 0: break
kept = []
try:
    while True: kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    full = error
print("full", flush=True)
time.sleep(facts.hold)
try:
    os.open("/dev/null", os.O_RDONLY)
except OSError:
    through()
"""


@control("bomb: open files")
def _(world: World) -> str:
    found = world.outside(FILL_TABLE, "user", BOMB_OUTSIDE)
    return "" if found.through else found.text[-300:]


def test_open_files_without_end_hurt_nobody_else(world: World) -> None:
    """It may fill its own tables; the host and another sandbox open files as before."""
    require(world, "bomb: open files")
    with nothing_left(world), world.sandbox(TINY) as bad, world.sandbox(TINY) as good:
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(world.inside, bad, FILL_TABLE, {"hold": 1.5})
            time.sleep(1)
            with contextlib.ExitStack() as stack:
                for _ in range(64):
                    stack.enter_context(Path("/dev/null").open())
            assert good.run(["sh", "-c", "cat /etc/passwd"]).exit_code == 0
            call.result()
        assert bad.run(["echo", "on"]).stdout == b"on\n"


FLY = """
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, facts.most),) * 2)
kept, file = [], os.open("/dev/null", os.O_RDONLY)
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True: socket.send_fds(kept[-1][0], [b"x"], [file] * 250)
        except BlockingIOError: pass
except OSError as error:
    show(error)
time.sleep(facts.hold)
ours, theirs = socket.socketpair()
try:
    socket.send_fds(ours, [b"x"], [file])
except OSError:
    through()
"""


@control("bomb: file descriptors in flight")
def _(world: World) -> str:
    found = world.outside(FLY, "user", {"hold": 0.1, "most": 512})
    return "" if found.through else found.text[-300:]


def test_file_descriptors_in_flight_hurt_no_other_sandbox(world: World) -> None:
    """They are counted for each user, and commands' pipes are passed to and in all sandboxes."""
    require(world, "bomb: file descriptors in flight")
    with (
        nothing_left(world),
        world.sandbox(TINY) as bad,
        world.sandbox(TINY) as good,
        ThreadPoolExecutor(1) as pool,
    ):
        call = pool.submit(world.inside, bad, FLY, {"hold": 2, "most": 1 << 20})
        time.sleep(1.5)
        assert good.run(["echo", "on"]).stdout == b"on\n"
        call.result()


# --- outliving -----------------------------------------------------------------------------------

MEMBERS = 5


@pytest.fixture
def marker() -> str:
    return f"marker{secrets.token_hex(8)}"


def carriers(marker: str) -> list[int]:
    """Processes whose first argument begins with a marker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                first = (folder / "cmdline").read_bytes().split(b"\0")[0]
                if first.startswith(marker.encode()):
                    found.append(int(folder.name))
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 8) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def end_all(marker: str) -> None:
    for pid in carriers(marker):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def plain(
    world: World, code: str, marker: str, before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A command without a sandbox; what it leaves is ended, and its group with what is stopped in it."""
    facts = json.dumps({**world.facts, "marker": marker, "seconds": 1.3, "rest": 0.003})
    process = subprocess.Popen(
        [*as_user(), *before, user_python(), "-c", program(code), facts],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        below = Table.read().below(process.pid)
        end_all(marker)
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@control("daemons")
def _(world: World) -> str:
    marker = f"marker{secrets.token_hex(8)}"
    with plain(world, DAEMONS, marker) as process:
        if not wait_for(lambda: len(carriers(marker)) == MEMBERS):
            return "they did not start"
        process.kill()
        process.wait()
        return "" if len(carriers(marker)) >= MEMBERS - 1 else "they ended with their parent"


def test_daemons_end_with_a_time_out(world: World, marker: str) -> None:
    """R20"""
    require(world, "daemons")
    with nothing_left(world), world.sandbox() as session:
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(world.inside, session, DAEMONS, {"marker": marker}, timeout=1.5)
            assert wait_for(lambda: len(carriers(marker)) == MEMBERS)
            call.result()
        assert carriers(marker) == []
        assert session.run(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]).stdout.strip() < b"9"


def test_daemons_end_with_the_sandbox(world: World, marker: str) -> None:
    """R20"""
    require(world, "daemons")
    with nothing_left(world), world.sandbox() as session, ThreadPoolExecutor(1) as pool:
        call = pool.submit(world.inside, session, DAEMONS, {"marker": marker})
        assert wait_for(lambda: len(carriers(marker)) == MEMBERS)
        session.close()
        assert wait_for(lambda: not carriers(marker), 2)
        with pytest.raises(SandboxError):
            call.result()


@control("processes while they are being ended")
def _(world: World) -> str:
    return CONTROLS["daemons"](world)


@pytest.mark.parametrize("means", [case(f"closing: by {m}", m) for m in ("groups", "watch")])
def test_nothing_runs_any_more_when_closing_returns(
    world: World, means: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R34: collecting begins then, and what still ran could exchange files under it."""
    require(world, "processes while they are being ended")
    hold_by(means, monkeypatch)
    for _ in range(3):
        with nothing_left(world), world.sandbox() as session:
            session.run(["sh", "-c", "for n in $(seq 60); do sleep 60 >/dev/null 2>&1 & done"])
            everything = session.processes()
            assert len(everything) > 60
            session.close()
            assert not Table.read(everything)


HARNESS = """\
import json, sys
from pathlib import Path
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost

host = SandboxHost(CachePaths(Path(sys.argv[1])))
session = host.start(host.folder())
session.run(["python", "-c", sys.argv[2], sys.argv[3]])
"""


def test_daemons_end_when_the_harness_is_killed(world: World, marker: str) -> None:
    """R20, R23"""
    require(world, "daemons")
    facts = json.dumps({"marker": marker})
    command = [sys.executable, "-c", HARNESS, str(world.cache.root), program(DAEMONS), facts]
    harness = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: len(carriers(marker)) == MEMBERS, 20)
        below = Table.read().below(harness.pid)
    finally:
        harness.kill()
        harness.wait()
    assert wait_for(lambda: not carriers(marker))
    assert wait_for(lambda: not set(below) & Table.read(below).keys())
    world.host.sweep()
    assert not list(world.cache.work.glob(f"{harness.pid}-*"))


def evasion_control(evasion: Evasion, world: World) -> str:
    marker = f"marker{secrets.token_hex(8)}"
    before = ["timeout", "1"] if evasion.control == "timeout" else []
    with plain(world, STAY + evasion.code, marker, before) as process:
        assert process.stdout is not None
        if not wait_for(lambda: bool(carriers(marker))):
            return "it did not stay"
        if evasion.control == "timeout":
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.5)
            return "" if carriers(marker) else "it was killed"
        if evasion.control == "end of output":
            ended = process.stdout.read() == b""
            return "" if ended and process.poll() is None else "its output goes on"
        process.wait(5)
        os.set_blocking(process.stdout.fileno(), False)
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            if process.stdout.read(100) == b"":
                return "its output ended"
        return ""


CONTROLS |= {f"evasion: {each.name}": partial(evasion_control, each) for each in EVASIONS}


@pytest.mark.parametrize("evasion", [case(f"evasion: {each.name}", each) for each in EVASIONS])
def test_a_time_out_is_not_evaded(world: World, evasion: Evasion, marker: str) -> None:
    """R20: neither the caller waits for longer, nor does anything live on that should not."""
    require(world, f"evasion: {evasion.name}")
    with nothing_left(world), world.sandbox() as session:
        started = time.monotonic()
        code = STAY + evasion.code
        world.inside(session, code, {"marker": marker, "seconds": 2.2, "rest": 0.003}, timeout=1)
        assert time.monotonic() - started < 5
        if evasion.killed == "time-out":
            if "forking" in evasion.name:
                time.sleep(max(0.0, started + 2.7 - time.monotonic()))
            assert wait_for(lambda: not carriers(marker), 1)
        session.close()
        assert wait_for(lambda: not carriers(marker), 2)


@control("evasion: read no input")
def _(world: World) -> str:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        written = os.write(writer, bytes(1 << 20))
    finally:
        os.close(reader)
        os.close(writer)
    return "" if written < 1 << 20 else "the pipe takes everything"


def test_a_command_that_reads_no_input_ends_at_its_time_out(world: World) -> None:
    """A writer that waits for it would wait for ever: a pipe holds little."""
    require(world, "evasion: read no input")
    with nothing_left(world), world.sandbox() as session:
        done = session.run(["sleep", "60"], stdin=bytes(32 << 20), timeout=1)
        assert done.timed_out and done.seconds < 5


# --- harming one's own sandbox, so that it looks like the harness's failure ------------------------

LAMES = {
    "send it every signal": "each(lambda number: os.kill(facts.targets[0], number), range(1, 65))",
    "interrupt it": "os.kill(facts.targets[0], signal.SIGINT)",
    "take its processes": "resource.prlimit(facts.targets[0], resource.RLIMIT_NPROC, (1, 1))",
    "take its files": "resource.prlimit(facts.targets[0], resource.RLIMIT_NOFILE, (3, 3))",
    "take its memory": "resource.prlimit(facts.targets[0], resource.RLIMIT_AS, (1, 1))",
}


def lame_control(code: str, world: World) -> str:
    victim = world.victim()
    limits = Path(f"/proc/{victim.pid}/limits")
    before = limits.read_text()
    found = world.outside(code)
    harmed = state(victim) not in "SRD" or limits.read_text() != before
    world.end_victim()
    return "" if harmed else found.text[-300:]


CONTROLS |= {f"supervisor: {name}": partial(lame_control, code) for name, code in LAMES.items()}


@pytest.mark.parametrize("name", [case(f"supervisor: {name}", name) for name in LAMES])
def test_the_supervisor_is_not_lamed(world: World, name: str) -> None:
    """The sandbox still serves commands and time-outs."""
    require(world, f"supervisor: {name}")
    with nothing_left(world), world.sandbox() as session:
        assert world.inside(session, LAMES[name], {"targets": [1]}).complete
        for _ in range(3):
            assert session.run(["echo", "on"]).stdout == b"on\n"
        assert session.run(["sleep", "60"], timeout=0.3).timed_out


@control("kill all that can be killed")
def _(world: World) -> str:
    """In a process namespace of its own, with someone else of the same uid."""
    if not ROOT:
        return "it takes root"
    script = '"$@" & victim=$!; sleep 0.3; eval "$KILL"; wait $victim; test $? = 137 && echo dead'
    kill = " ".join([*as_user(), "python3 -c 'import os; os.kill(-1, 9)'"])
    command = [*alone(), "sh", "-c", script, "sh", *as_user(), "sleep", "3"]
    environment = {"PATH": "/usr/bin:/bin", "KILL": kill}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=20)
    return "" if b"dead" in done.stdout else done.stderr.decode(errors="replace")[-300:]


def test_killing_everything_reaches_neither_the_host_nor_the_supervisor(world: World) -> None:
    require(world, "kill all that can be killed")
    victim = world.victim()
    with nothing_left(world), world.sandbox() as session:
        world.inside(session, "os.kill(-1, signal.SIGKILL)")
        assert state(victim) in "SRD"
        assert session.run(["echo", "on"]).stdout == b"on\n"


TERMINAL = 'os.close(os.open("/dev/tty", os.O_RDWR))\nthrough()'
IN_TERMINAL = """\
import sys
from pathlib import Path
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost, remove

host = SandboxHost(CachePaths(Path(sys.argv[1])))
with host.start(host.folder()) as session:
    print(session.run(["python", "-c", sys.argv[2], "{}"]).stdout.decode())
remove(session.view.folder)
"""


def in_terminal(*argv: str) -> str:
    """What a command prints that is the leader of a session with a terminal of its own."""
    ours, theirs = pty.openpty()
    try:
        command = ["setsid", "--ctty", "--wait", *argv]
        done = subprocess.run(command, stdin=theirs, capture_output=True, timeout=30, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    return (done.stdout + done.stderr).decode(errors="replace")


@control("the harness's terminal")
def _(world: World) -> str:
    found = in_terminal(sys.executable, "-c", program(TERMINAL), "{}")
    return "" if THROUGH in found else found


def test_the_harnesss_terminal_is_not_reached(world: World) -> None:
    require(world, "the harness's terminal")
    argv = ["-c", IN_TERMINAL, str(world.cache.root), program(TERMINAL)]
    found = in_terminal(sys.executable, *argv)
    assert "TRIED IT" in found and THROUGH not in found, found


AFFINITY = """
os.sched_setaffinity(0, facts.processors)
if len(os.sched_getaffinity(0)) > 1: through()
"""


@control("more processors")
def _(world: World) -> str:
    processors = sorted(os.sched_getaffinity(0))
    before = ["taskset", "-c", str(processors[0]), *as_user(), user_python(), "-c"]
    argv = [*before, program(AFFINITY), json.dumps({"processors": processors})]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    return "" if THROUGH in done.stdout else f"{len(processors)} processors; {done.stderr[-300:]}"


def test_more_processors_are_not_taken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no control group holds them, the first processes are put on few of them."""
    require(world, "more processors")
    hold_by("watch", monkeypatch)
    policy = Policy(limits=TINY.limits.model_copy(update={"cpus": 1.0, "memory_mib": 256}))
    facts = {"processors": sorted(os.sched_getaffinity(0))}
    with nothing_left(world), world.sandbox(policy) as session:
        found = world.inside(session, AFFINITY, facts)
        assert found.complete and not found.through, found.text


CATCH = """
buffer, reads, word = ctypes.create_string_buffer(100), libc.readlink, facts.word.encode()
def look(pid, path):
    # Whoever may read this link may also trace the process and take its files.
    if reads(path, buffer, 99) > 0 and b"python" in buffer.value:
        if b"\\0%b\\0" % word in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes(): through()
for pid in facts.targets:
    look(pid, b"/proc/%d/exe" % pid)
end = time.monotonic() + facts.hold
while time.monotonic() < end:
    last = int(open("/proc/loadavg").read().split()[-1])
    coming = [(pid, b"/proc/%d/exe" % pid) for pid in range(last - 1, last + 4)]
    for _ in range(50):
        each(lambda one: look(*one), coming)
"""


@control("catch a keeper")
def _(world: World) -> str:
    world.victim()
    found = world.outside(CATCH, "user", {"hold": 0.0, "word": "-c"})
    return "" if found.through else found.text[-300:]


def test_the_next_commands_keeper_is_not_caught(world: World) -> None:
    """Who traces it says how the next command ended, and whether it ends at all."""
    require(world, "catch a keeper")
    with nothing_left(world), world.sandbox() as session, ThreadPoolExecutor(1) as pool:
        facts = {"hold": 2.5, "word": "-S", "targets": []}
        call = pool.submit(world.inside, session, CATCH, facts)
        while not call.done():
            session.run(["true"], timeout=1)
        found = call.result()
        assert found.complete and not found.through, found.text


# --- collecting ----------------------------------------------------------------------------------

FILES = {
    "src/model.py": "class Model:\n    pass\n",
    "src/train.py": "# masked\n",
    "configs/base.yaml": "rate: 0.5\n",
    "README.md": "A repository.\n",
}


@functools.cache
def prepared(world: World) -> Prepared:
    root = world.folder / "upstream"
    root.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    write(root, dict(FILES))
    source = from_git(str(root), commit(root, "pinned"), world.cache.repos)
    return mask(source, ("src/train.py",), owner=other_owner())


@functools.cache
def repository(world: World) -> Path:
    """A repository of the host with the secret in it."""
    root = world.folder / "other.git"
    root.mkdir()
    run_git(root, "init", "-q", "--bare")
    run_git(root, "hash-object", "-w", "--stdin", stdin=world.secret.encode())
    return root


WORK = 'with open("work.py", "w") as file: file.write("work = True\\n")'
"""Something that is to be collected besides."""


def trap_facts(world: World) -> dict[str, object]:
    """Where a trap's program leaves word that it ran, and what a trap points to."""
    return {"ran": str(world.scratch() / "ran"), "repository": str(repository(world))}


def trap_control(trap: Trap, world: World) -> str:
    folder = world.scratch() / "workspace"
    materialise(prepared(world), folder)
    own(folder)
    facts = trap_facts(world)
    laid = world.outside(trap.code, "user", facts, cwd=folder)
    try:
        found = world.outside(CARELESS[trap.control], "user", facts, cwd=folder, timeout=2)
    except subprocess.TimeoutExpired:
        return ""
    return "" if found.through else (laid.text + found.text)[-500:]


CONTROLS |= {f"trap: {trap.name}": partial(trap_control, trap) for trap in TRAPS}


@pytest.mark.parametrize("trap", [case(f"trap: {trap.name}", trap) for trap in TRAPS])
def test_collecting_falls_into_no_trap(world: World, trap: Trap, tmp_path: Path) -> None:
    """R34: nothing of the host comes with the patch, nothing of the agent's is run, nothing waits."""
    require(world, f"trap: {trap.name}")
    facts = trap_facts(world)
    with nothing_left(world):
        view = world.host.open(prepared(world))
        with world.sandbox(view=view, keep=True) as session:
            laid = world.inside(session, f"{trap.code}\n{WORK}", facts)
            assert laid.complete, laid.text
        assert not session.alive
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(collect, view, prepared(world)).result(timeout=10)
        world.discard(view)
    assert b"+work = True" in found.patch
    text = found.patch + found.diff.encode() + repr(found).encode()
    assert world.secret.encode() not in text
    assert not Path(str(facts["ran"])).exists()
    if trap.control == "show":
        assert all(name.isprintable() for name in found.changed), found.changed
    materialise_patched(prepared(world), found.patch, tmp_path / "applied")
    assert {path.name for path in tmp_path.iterdir()} == {"applied"}
    if trap.control == "lines":
        made = {os.fsencode(path.name) for path in (tmp_path / "applied" / "src").iterdir()}
        assert {b"a\n+++ b", b"new\nline\n.py", b"-rf", b"\xff\xfe.py"} <= made


# --- spoiling what others share ------------------------------------------------------------------


def digest(folder: Path) -> str:
    """Of every name, mode and content below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(
            f"{path.relative_to(folder)} {path.lstat().st_mode}\n".encode(errors="replace")
        )
        if path.is_symlink():
            found.update(os.fsencode(path.readlink()))
        elif path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


@control("spoil the store")
def _(world: World) -> str:
    folder = world.scratch() / "shared"
    materialise(prepared(world), folder)
    own(folder)
    before = digest(folder)
    found = world.outside(SPOIL, "user", cwd=folder)
    return "" if digest(folder) != before else found.text[-300:]


def test_the_store_is_not_spoiled_through_a_workspace(world: World) -> None:
    """R13: repositories, frozen trees, layers and findings stay what they were, for everyone."""
    require(world, "spoil the store")
    kept = prepared(world).frozen.folder / "findings" / "kept.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("{}")
    before = digest(world.cache.repos)
    with nothing_left(world):
        with world.sandbox(view=world.host.open(prepared(world))) as session:
            assert world.inside(session, SPOIL).complete
            assert session.run(["grep", "-rq", "class Model", "."]).exit_code == 1
        with world.sandbox(view=world.host.open(prepared(world))) as session:
            assert session.run(["cat", "src/model.py"]).stdout == FILES["src/model.py"].encode()
            assert session.run(["git", "status", "--porcelain"]).stdout == b""
    assert digest(world.cache.repos) == before


POISON = """
places = [os.path.join(folder, "site-packages") for folder, names, _ in os.walk(facts.python)
          if "site-packages" in names] or [facts.python]
for name in ("sitecustomize.py", "poison.py"):
    with open(os.path.join(places[0], name), "w") as file: file.write("print('GOT', 'THROUGH')")
"""


@control("poison the Python environment")
def _(world: World) -> str:
    shared = world.scratch()
    world.outside(POISON, "user", {"python": str(shared)})
    command = [*as_user(), user_python(), "-c", "import poison"]
    environment = {"PYTHONPATH": str(shared)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return "" if THROUGH in done.stdout else done.stderr[-300:]


def with_packages(world: World, policy: Policy = TINY) -> tuple[SandboxHost, Policy]:
    """A host whose sandboxes may add to their Python environment."""
    chosen = policy.model_copy(update={"network": "packages"})
    return replace(world.host, policy=chosen), chosen


def test_the_python_environment_is_not_poisoned_for_others(world: World) -> None:
    """What one sandbox installs is in a layer of its own."""
    require(world, "poison the Python environment")
    host, policy = with_packages(world)
    facts = {"python": "/opt/expbench/python"}
    before = digest(host.python().folder)
    with nothing_left(world):
        with world.sandbox(policy, host=host) as first:
            assert world.inside(first, POISON, facts).complete
            if THROUGH.encode() not in first.run(["python", "-c", "import poison"]).stdout:
                pytest.skip("the environment has no writable layer here, so none can poison it")
            with world.sandbox(policy, host=host) as second:
                done = second.run(["python", "-c", "import poison"])
                assert b"ModuleNotFoundError" in done.stderr and not done.stdout
        assert digest(host.python().folder) == before


LAYER = next(bomb for bomb in BOMBS if bomb.name == "files")


def test_files_added_to_the_python_environment_count(world: World) -> None:
    """It is a second folder on the host's disk that an agent can fill."""
    require(world, f"bomb: {LAYER.name}")
    host, policy = with_packages(world)
    code = LAYER.code.replace('["."]', '["/opt/expbench/python"]')
    with nothing_left(world), world.sandbox(policy, host=host) as session:
        try:
            found = world.inside(session, code, BOMB_INSIDE)
            assert not found.through
        except SandboxError as error:
            assert session.excess is not None and session.excess.limit == "disk_mib", error


TAKE_GATEWAY = """
def action(name):
    path = os.path.join(facts.gateway, name)
    os.unlink(path)
    through()
each(action, os.listdir(facts.gateway))
with open(os.path.join(facts.gateway, "added"), "w"): through()
"""


@control("exchange the gateway's socket")
def _(world: World) -> str:
    folder = world.scratch()
    found = world.outside(TAKE_GATEWAY, "user", {"gateway": str(folder)})
    return "" if found.through else found.text[-300:]


def test_the_gateways_socket_is_not_exchanged(world: World) -> None:
    require(world, "exchange the gateway's socket")
    host, policy = with_packages(world)
    with nothing_left(world), world.sandbox(policy, host=host) as session:
        assert session.run(["test", "-S", "/opt/expbench/gateway/socket"]).exit_code == 0
        found = world.inside(session, TAKE_GATEWAY, {"gateway": "/opt/expbench/gateway"})
        assert found.complete and not found.through, found.text


# --- the controls --------------------------------------------------------------------------------


def test_enough_attacks_work_without_a_sandbox(world: World) -> None:
    """Else all these failures would say nothing. Controls that ran already do not run again."""
    if not ROOT:
        pytest.skip("many controls take root")
    reasons = {name: world.control(name, partial(run, world)) for name, run in CONTROLS.items()}
    working = [name for name, reason in reasons.items() if not reason]
    assert len(working) >= 40, {name: reason for name, reason in reasons.items() if reason}
