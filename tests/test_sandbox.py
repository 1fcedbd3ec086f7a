"""What a sandbox keeps in and keeps out, with real processes and a control for every absence."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import expbench
from expbench.errors import PrerequisiteError, SandboxError
from expbench.paths import CachePaths
from expbench.sandboxes.environment import python_environment, sandbox_uid
from expbench.sandboxes.host import SandboxHost, other_owner, remove
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits, Policy

Start = Callable[..., Session]


@pytest.fixture
def start(host: SandboxHost) -> Iterator[Start]:
    """Starts sandboxes with given limits; all are closed and their folders removed at the end."""
    sessions: list[Session] = []

    def begin(hidden: tuple[Path, ...] = (), **limits: int | None) -> Session:
        chosen = SandboxHost(host.cache, hidden)
        session = chosen.start(chosen.folder(), Policy(limits=Limits.model_validate(limits)))
        sessions.append(session)
        return session

    yield begin
    for session in sessions:
        session.close()
        remove(session.view.folder)


@pytest.fixture
def box(start: Start) -> Session:
    return start()


@pytest.fixture
def marker() -> str:
    """A word that no other process of this machine has on its command line."""
    return f"marker{uuid.uuid4().hex}"


def give(box: Session) -> None:
    """Make what the test has put into the workspace the sandbox user's own."""
    if (owner := other_owner()) is not None:
        for path in box.view.folder.iterdir():
            os.chown(path, owner, owner)


def shell(session: Session, script: str, timeout: float = 30) -> Completed:
    return session.run(["/bin/bash", "-c", script], timeout=timeout)


def python(session: Session, code: str, timeout: float = 30) -> Completed:
    return session.run(["python", "-c", code], timeout=timeout)


def command_lines() -> Iterator[tuple[int, bytes]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(folder.name), (folder / "cmdline").read_bytes()


def carriers(marker: str) -> set[str]:
    """The first arguments of all processes on this machine that carry a marker."""
    return {
        line.split(b"\0")[0].decode()
        for pid, line in command_lines()
        if marker.encode() in line.split(b"\0")[0] and pid != os.getpid()
    }


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def descendants(root: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    parents[int(folder.name)] = int(fields[1])
    found: set[int] = set()
    pending = [root]
    while pending:
        parent = pending.pop()
        below = {pid for pid, ppid in parents.items() if ppid == parent}
        found |= below
        pending += below
    return found


# --- processes -----------------------------------------------------------------------------------

FAMILY = """\
import os, signal, sys
marker = sys.argv[1]

def stay(name):
    os.execv("/usr/bin/sleep", [marker + "-" + name, "300"])

def fork_to(*steps):
    if os.fork() == 0:
        for step in steps:
            if step == "fork":
                if os.fork():
                    os._exit(0)
            elif step == "kept fork":
                if os.fork():
                    os.wait()
                    os._exit(0)
            elif step == "setsid":
                os.setsid()
            elif step == "ignore":
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
            else:
                stay(step)

fork_to("child")
fork_to("kept fork", "grandchild")
fork_to("setsid", "session")
fork_to("fork", "setsid", "fork", "daemon")
fork_to("ignore", "stubborn")
fork_to("fork", "setsid", "fork", "ignore", "stubborn-daemon")
stay("parent")
"""
MEMBERS = ("child", "grandchild", "session", "daemon", "stubborn", "stubborn-daemon", "parent")


def test_a_time_out_leaves_no_process_of_the_command(box: Session, marker: str) -> None:
    """R20: of a child, grandchild, session, daemon or TERM-ignoring one; all were alive before."""
    (box.view.folder / "family.py").write_text(FAMILY)
    give(box)
    everyone = {f"{marker}-{name}" for name in MEMBERS}
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(box.run, ["python", "family.py", marker], timeout=3)
        assert wait_for(lambda: carriers(marker) == everyone), carriers(marker)
        done = call.result(timeout=20)
    assert done.timed_out and done.exit_code == 124
    assert done.seconds < 6
    assert carriers(marker) == set()
    assert shell(box, "echo still here").stdout == b"still here\n"


def test_a_cancelled_command_is_killed_with_all_it_started(box: Session, marker: str) -> None:
    """R20: the same when the caller gives up, long before any time-out."""
    (box.view.folder / "family.py").write_text(FAMILY)
    give(box)
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(box.run, ["python", "family.py", marker], cancelled=cancelled)
        assert wait_for(lambda: len(carriers(marker)) == len(MEMBERS))
        cancelled.set()
        call.result(timeout=5)
    assert carriers(marker) == set()


def test_background_jobs_survive_their_command_and_others_and_die_with_the_session(
    box: Session, marker: str
) -> None:
    done = shell(box, f"(exec -a {marker}-server sleep 300) >/dev/null 2>&1 & echo started")
    assert done.stdout == b"started\n" and done.seconds < 5
    assert wait_for(lambda: carriers(marker) == {f"{marker}-server"}, 5), "it may not be there yet"
    assert shell(box, f"exec -a {marker}-slow sleep 300", timeout=0.5).timed_out
    assert carriers(marker) == {f"{marker}-server"}
    box.close()
    assert wait_for(lambda: not carriers(marker), 2)


def test_a_background_job_that_holds_the_pipes_does_not_hold_the_command(box: Session) -> None:
    """R20: neither one that is silent nor one that never stops writing."""
    silent = shell(box, "sleep 300 & echo done")
    assert silent.stdout == b"done\n" and silent.exit_code == 0 and silent.seconds < 3
    loud = shell(box, "yes & exit 3")
    assert loud.exit_code == 3 and loud.seconds < 10


def test_a_fork_bomb_is_capped_and_killed(start: Start) -> None:
    box = start(processes=40)
    before = descendants(os.getpid())
    done = shell(box, "f() { f | f & }; f; sleep 60", timeout=2)
    assert done.timed_out or b"fork" in done.stderr
    box.close()
    assert wait_for(lambda: not descendants(os.getpid()) - before, 5)


HARNESS = """\
import sys, time
from pathlib import Path
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Policy

host = SandboxHost(CachePaths(Path(sys.argv[1])))
session = host.start(host.folder(), Policy(limits=Limits()))
script = "(setsid -f bash -c 'exec -a %s-daemon sleep 300') >/dev/null 2>&1" % sys.argv[2]
session.run(["/bin/bash", "-c", script])
print("ready", flush=True)
session.run(["/bin/bash", "-c", "exec -a %s-job sleep 300" % sys.argv[2]])
"""


def test_kill_9_of_the_harness_leaves_no_process(host: SandboxHost, marker: str) -> None:
    """R20, R23: nothing survives, and the next start removes the folder that was left."""
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(host.cache.root), marker],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        both = {f"{marker}-daemon", f"{marker}-job"}
        assert wait_for(lambda: carriers(marker) == both)
        below = descendants(process.pid)
        assert len(below) >= 4
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert wait_for(lambda: not carriers(marker), 5)

    def alive() -> set[int]:
        return {pid for pid in below if Path(f"/proc/{pid}").exists()}

    assert wait_for(lambda: not alive(), 5), alive()
    left = list(host.cache.work.glob(f"{process.pid}-*"))
    assert [folder.is_dir() for folder in left].count(True) == 1
    host.sweep()
    assert not any(path.exists() for path in left)


def test_an_agent_cannot_end_its_sandbox(box: Session) -> None:
    """It would end unscored instead of with what it did."""
    for attack in ("kill -9 -1", "kill -9 1", "kill -STOP 1", "kill -TERM 1"):
        shell(box, attack)
        assert shell(box, "echo on").stdout == b"on\n"


def test_no_command_is_lost_with_the_process_that_was_to_take_it(box: Session) -> None:
    """R25: the one that waits for the next command may just have been killed, or be stopped."""
    for _ in range(100):
        shell(box, "kill -9 -1")
        assert shell(box, "echo on").stdout == b"on\n"
    for _ in range(3):
        assert shell(box, "kill -STOP -1", timeout=0.5).timed_out
        assert shell(box, "echo on").stdout == b"on\n"


def test_a_stopped_keeper_does_not_stop_a_time_out(box: Session, marker: str) -> None:
    """R20: what is inside can stop its command's keeper, and the command still ends."""
    done = shell(box, f"kill -STOP $PPID; exec -a {marker} sleep 300", timeout=0.5)
    assert done.timed_out and done.seconds < 10
    assert wait_for(lambda: not carriers(marker), 5)
    assert shell(box, "echo on").stdout == b"on\n"


def test_a_dead_sandbox_is_an_error_at_the_next_command(box: Session) -> None:
    """R25: an agent does not go on talking to nothing."""
    for pid in box.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with pytest.raises(SandboxError):
        shell(box, "echo lost")


def test_a_sandbox_that_dies_under_a_command_is_an_error(box: Session, marker: str) -> None:
    """R25: killed from outside, as by an out-of-memory killer."""
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(shell, box, f"exec -a {marker} sleep 300", 60)
        assert wait_for(lambda: bool(carriers(marker)))
        for pid in box.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with pytest.raises(SandboxError):
            call.result(timeout=15)
    assert wait_for(lambda: not carriers(marker), 5)
    with pytest.raises(SandboxError):
        shell(box, "echo lost")


def test_a_killed_keeper_is_the_commands_failure_not_the_sandboxes(box: Session) -> None:
    """An agent can kill its own command's parent; the sandbox goes on."""
    done = shell(box, "kill -9 $PPID; sleep 1")
    assert done.exit_code != 0
    assert shell(box, "echo on").stdout == b"on\n"


def test_closing_twice_is_fine_and_closed_means_closed(box: Session) -> None:
    box.close()
    box.close()
    assert not box.alive
    with pytest.raises(SandboxError):
        shell(box, "true")


# --- commands ------------------------------------------------------------------------------------


def test_exit_codes_streams_and_input(box: Session) -> None:
    done = box.run(["sh", "-c", "cat; echo out; echo err >&2; exit 7"], stdin=b"in\0\xff")
    assert (done.exit_code, done.stdout, done.stderr) == (7, b"in\0\xffout\n", b"err\n")
    assert shell(box, "kill -TERM $$").exit_code == 128 + signal.SIGTERM
    assert box.run(["no-such-program"]).error.startswith("ENOENT")
    assert box.run(["true"], cwd="/nowhere").error.startswith("ENOENT")
    assert box.run(["/etc/passwd"]).error.startswith("EACCES")
    assert box.run(["pwd"], cwd="/tmp").stdout == b"/tmp\n"
    assert box.run(["sh", "-c", "echo $WORD"], env={"WORD": "x y"}).stdout == b"x y\n"


def test_large_input_reaches_the_command_and_a_deaf_one_does_not_block(box: Session) -> None:
    """R29"""
    content = os.urandom(5_000_000)
    assert box.run(["wc", "-c"], stdin=content).stdout.strip() == b"5000000"
    assert box.run(["true"], stdin=content, timeout=10).exit_code == 0


def test_a_command_line_that_is_too_long_is_the_commands_failure(box: Session) -> None:
    """R29: what an agent asks for cannot make the sandbox look dead."""
    assert len(box.run(["printf", "%s", *(["x" * 60_000] * 20)]).stdout) == 1_200_000
    for argv in (["true", "x" * 200_000], ["true", *(["x" * 100_000] * 60)]):
        assert box.run(argv).error.startswith("E2BIG")
    assert shell(box, "echo on").stdout == b"on\n"


def test_commands_run_side_by_side(box: Session) -> None:
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(shell, box, f"sleep 0.5; echo {i}") for i in range(4)]
        started = time.monotonic()
        assert [call.result().stdout for call in calls] == [b"%d\n" % i for i in range(4)]
    assert time.monotonic() - started < 1.9


def peak_growth(action: Callable[[], object]) -> int:
    """By how many bytes this process's resident memory peaked above its present size."""
    status = Path("/proc/self/status")

    def read(name: str) -> int:
        line = next(x for x in status.read_text().splitlines() if x.startswith(name))
        return int(line.split()[1]) * 1024

    Path("/proc/self/clear_refs").write_text("5")
    before = read("VmRSS")
    action()
    return read("VmHWM") - before


def test_endless_output_costs_little_memory_and_keeps_head_and_tail(box: Session) -> None:
    """R29"""
    script = (
        "echo FIRST; yes 0123456789 | head -c 300000000; echo LAST; "
        "echo FIRST >&2; yes x | head -c 100000000 >&2; echo LAST >&2"
    )
    results: list[Completed] = []
    growth = peak_growth(lambda: results.append(shell(box, script, 60)))
    done = results[0]
    assert done.exit_code == 0
    cap = 10 * 1024**2
    for stream in (done.stdout, done.stderr):
        assert stream.startswith(b"FIRST\n") and stream.endswith(b"LAST\n")
        assert b"bytes left out" in stream
        assert cap <= len(stream) < cap + 100
    assert growth < 100 * 1024**2


def test_output_is_kept_up_to_a_given_cap(box: Session) -> None:
    done = box.run(["sh", "-c", "seq 100000"], output_cap=1000)
    assert done.stdout.startswith(b"1\n2\n") and done.stdout.endswith(b"99999\n100000\n")
    assert len(done.stdout) < 1100
    exact = box.run(["sh", "-c", "head -c 1000 /dev/zero"], output_cap=1000)
    assert exact.stdout == b"\0" * 1000


# --- what is not inside --------------------------------------------------------------------------


def test_the_environment_inside_holds_nothing_of_the_harness(
    start: Start, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    """R18: neither a command's own environment nor any process that it can see."""
    monkeypatch.setenv("OPENAI_API_KEY", marker)
    monkeypatch.setenv("EXPBENCH_DATA", f"/data/{marker}")
    assert marker in subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
    box = start()
    seen = shell(box, "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline").stdout
    assert b"HOME=/home/agent" in seen
    assert marker.encode() not in seen
    assert b"EXPBENCH_DATA" not in seen and b"API_KEY" not in seen


def test_the_harness_and_its_data_are_not_inside(box: Session, host: SandboxHost) -> None:
    """R18: the package with the mini suite's answers, other workspaces, the user's home."""
    package = Path(expbench.__file__).parent
    assert list(package.rglob("*_complete_final.json"))
    assert box.run(["python", "-c", "import json"]).exit_code == 0
    assert b"ModuleNotFoundError" in box.run(["python", "-c", "import expbench"]).stderr
    assert b"ModuleNotFoundError" in box.run(["python", "-c", "import inspect_ai"]).stderr
    for path in (package, host.cache.root, host.cache.work, Path(__file__), Path.home() / ".ssh"):
        assert box.run(["test", "-e", str(path)]).exit_code == 1, path
    (box.view.folder / "control_complete_final.json").write_text("{}")
    found = shell(
        box,
        "find / -path /proc -prune -o "
        r"\( -name '*_complete_final.json' -o -name 'solution.patch' \) -print 2>/dev/null",
    )
    assert found.stdout.split() == [b"/workspace/control_complete_final.json"]


def test_hidden_paths_below_a_mount_are_covered(start: Start) -> None:
    """R18: a data set that lies where the system's folders are shown is covered."""
    folder, file = Path("/usr/share/zoneinfo"), Path("/usr/bin/yes")
    folder = folder if folder.is_dir() else Path("/usr/share")
    plain = start()
    assert int(shell(plain, f"ls {folder} | wc -l").stdout) > 0
    assert int(shell(plain, f"wc -c < {file}").stdout) > 0
    covered = start(hidden=(folder, file, Path("/nonexistent")))
    assert int(shell(covered, f"ls {folder} | wc -l").stdout) == 0
    assert int(shell(covered, f"cat {file} 2>/dev/null | wc -c").stdout) == 0


CONNECT = """\
import socket, sys
kind, address = sys.argv[1], sys.argv[2]
if kind == "tcp":
    socket.create_connection(("127.0.0.1", int(address)), timeout=3)
else:
    socket.socket(socket.AF_UNIX).connect("\\0" + address)
print("connected")
"""


def test_there_is_no_way_to_the_hosts_network(box: Session, marker: str) -> None:
    """R15: not to its loopback, not to its abstract sockets, not to any other address."""
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + marker)
        unix.listen()
        for kind, address in (("tcp", str(tcp.getsockname()[1])), ("unix", marker)):
            argv = ["-c", CONNECT, kind, address]
            outside = subprocess.run([sys.executable, *argv], capture_output=True, check=False)
            assert outside.stdout == b"connected\n"
            inside = box.run(["python", *argv])
            assert inside.exit_code == 1 and b"refused" in inside.stderr
    routes = box.run(["cat", "/proc/net/route"]).stdout.splitlines()
    assert len(routes) <= 1
    devices = box.run(["cat", "/proc/net/dev"]).stdout.splitlines()[2:]
    assert [line.split(b":")[0].strip() for line in devices] == [b"lo"]
    probe = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=3)"
    assert b"unreachable" in python(box, probe).stderr


def test_the_sandbox_has_a_loopback_of_its_own(box: Session) -> None:
    """Agents start servers and talk to them."""
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "socket.create_connection(s.getsockname()); print('fine')"
    )
    assert python(box, code).stdout == b"fine\n"


def test_the_system_is_read_only_and_the_workspace_is_not(box: Session) -> None:
    places = ("/", "/usr", "/usr/bin", "/etc", "/dev", "/opt/expbench", "/opt/expbench/python/bin")
    for place in places:
        done = shell(box, f"touch {place}/canary")
        assert done.exit_code == 1 and b"Read-only" in done.stderr, place
    for place in ("/workspace", "/tmp", "/home/agent", "/dev/shm", "/var/tmp"):
        assert shell(box, f"echo x > {place}/canary && cat {place}/canary").stdout == b"x\n", place
    made = box.view.folder / "canary"
    assert made.read_text() == "x\n"
    assert made.stat().st_uid == sandbox_uid() != 0
    assert not Path("/tmp/canary").exists()


def test_the_process_inside_has_no_privilege(box: Session) -> None:
    assert int(box.run(["id", "-u"]).stdout) == sandbox_uid() != 0
    status = box.run(["cat", "/proc/self/status"]).stdout.decode().splitlines()
    facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)
    assert int(facts["CapEff"], 16) == int(facts["CapBnd"], 16) == 0
    assert facts["NoNewPrivs"].strip() == "1"
    assert shell(box, "command -v unshare").exit_code == 0
    assert box.run(["unshare", "--user", "true"]).exit_code != 0
    assert box.run(["mount", "-t", "tmpfs", "none", "/tmp"]).exit_code != 0


def test_only_the_sandboxes_own_processes_are_seen(box: Session, marker: str) -> None:
    outside = subprocess.Popen(["bash", "-c", f"exec -a {marker} sleep 60"])
    try:
        assert wait_for(lambda: bool(carriers(marker)))
        seen = shell(box, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
        assert b"supervisor.py" in seen and marker.encode() not in seen
        assert len(shell(box, "ls -d /proc/[0-9]*").stdout.split()) < 10
    finally:
        outside.kill()
        outside.wait()


# --- limits --------------------------------------------------------------------------------------


def test_processes_are_limited(start: Start) -> None:
    box = start(processes=30)
    code = (
        "import os, time\nn = 0\ntry:\n    while n < 200:\n"
        "        if os.fork() == 0: time.sleep(60)\n        n += 1\n"
        "except BlockingIOError: print('stopped at', n)\n"
    )
    done = python(box, code, timeout=3)
    count = int(done.stdout.split()[-1])
    assert done.stdout.startswith(b"stopped at") and 10 < count < 30


def test_memory_is_limited(start: Start) -> None:
    box = start(memory_mib=300)
    assert python(box, "bytearray(50 << 20)").exit_code == 0
    done = python(box, "bytearray(400 << 20)")
    assert done.exit_code == 137 or b"MemoryError" in done.stderr
    assert shell(box, "echo on").stdout == b"on\n"


def test_memory_is_limited_for_all_processes_together(start: Start) -> None:
    """R32: ten processes of a tenth each are as many bytes as one."""
    box = start(memory_mib=300)

    one = "import time; held = bytearray(80 << 20); time.sleep(4); print('kept')"
    script = "\n".join([f'python3 -c "{one}" &'] * 8 + ["wait"])
    kept = shell(box, script).stdout.count(b"kept")
    assert 0 < kept < 5


IN_FLIGHT = """\
import os, socket, time
file, sent, kept = os.open("/dev/null", os.O_RDONLY), 0, []
try:
    while sent < 100_000:
        kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        kept[-1][0].setblocking(False)
        try:
            while True:
                socket.send_fds(kept[-1][0], [b"x"], [file] * 250)
                sent += 250
        except BlockingIOError:
            pass
except OSError as error:
    open("refused", "w").write(str(error.errno))
time.sleep(30)
"""


def test_files_in_flight_of_one_sandbox_stop_no_other(start: Start) -> None:
    """The kernel counts them for a user over all namespaces, against the limit of who sends."""
    loud, quiet = start(), start()
    with ThreadPoolExecutor(1) as pool:
        ended = threading.Event()
        call = pool.submit(loud.run, ["python3", "-c", IN_FLIGHT], timeout=20, cancelled=ended)
        try:
            if not wait_for((loud.view.folder / "refused").exists, 8):
                pytest.skip("more files may be in flight here than this test makes")
            for _ in range(20):
                assert shell(quiet, "echo on").stdout == b"on\n"
        finally:
            ended.set()
            call.result(timeout=30)


def test_a_files_size_is_limited(start: Start) -> None:
    box = start(file_mib=2)
    assert shell(box, "head -c 2000000 /dev/zero > fits").exit_code == 0
    assert shell(box, "head -c 9000000 /dev/zero > big").exit_code != 0
    assert (box.view.folder / "fits").stat().st_size == 2_000_000
    assert (box.view.folder / "big").stat().st_size == 2 * 1024**2


def test_memory_file_systems_are_limited(box: Session) -> None:
    sizes = shell(box, "df --output=size -B1 /tmp /dev/shm /home/agent | tail -n +2").stdout.split()
    assert [int(size) for size in sizes] == [1 << 30] * 3


def test_what_is_enforced_is_recorded_and_what_is_not_is_absent(start: Start) -> None:
    """R32: a result says which limits held."""
    full = start(processes=77, memory_mib=1234, file_mib=55).enforced
    assert full.provider == "bwrap"
    assert "77" in full.limits["processes"]
    assert "1234" in full.limits["memory_mib"]
    assert "55" in full.limits["file_mib"]
    free = start(processes=None, memory_mib=None, file_mib=None)
    assert not {"processes", "memory_mib", "file_mib"} & set(free.enforced.limits)
    assert shell(free, "ulimit -v").stdout == b"unlimited\n"


# --- the host's side -----------------------------------------------------------------------------


def test_the_python_inside_has_the_named_packages(box: Session) -> None:
    done = python(box, "import numpy, sys; print(numpy.arange(3).sum(), sys.prefix)")
    assert done.stdout == b"3 /opt/expbench/python\n", done.stderr


def test_a_package_that_is_not_installed_is_a_prerequisite(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="no-such-package-here"):
        python_environment(tmp_path / "envs", ("no-such-package-here",))
    assert not list(tmp_path.rglob("*.py"))


def test_whatever_modes_an_agent_leaves_its_folder_is_removed(start: Start) -> None:
    """R27: by an ordinary user too, and without following links."""
    box = start()
    outside = box.view.folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "kept").write_text("x")
    script = (
        f"mkdir -p a/b c && touch a/b/f c/f && ln -s {outside} link && "
        "chmod 000 a/b a c/f && chmod 500 c && chmod 000 /workspace"
    )
    assert shell(box, script).exit_code == 0
    box.close()
    remove(box.view.folder)
    assert not box.view.folder.exists()
    assert (outside / "kept").exists()
    remove(outside)


def test_the_sweep_removes_folders_of_dead_harnesses_only(tmp_path: Path) -> None:
    """R23"""
    host = SandboxHost(CachePaths(tmp_path))
    mine = host.folder()
    dead = subprocess.Popen(["true"])
    dead.wait()
    gone = host.cache.work / f"{dead.pid}-123-abc"
    reused = host.cache.work / f"{os.getpid()}-1-abc"
    other = host.cache.work / "notes"
    for folder in (gone, reused, other):
        (folder / "sub").mkdir(parents=True)
    host.sweep()
    assert mine.exists() and other.exists()
    assert not gone.exists() and not reused.exists()


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PrerequisiteError, match="cannot be written"):
        SandboxHost(CachePaths(tmp_path / "file")).folder()
