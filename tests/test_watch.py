"""The watch: real processes and folders, also hostile ones."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from expbench.sandboxes import processes
from expbench.sandboxes.growth import Tally, count
from expbench.sandboxes.processes import Table
from expbench.sandboxes.watch import Handle, Watched, processes_below, watch
from expbench.schema import Limits

Start = Callable[[str], subprocess.Popen[str]]
Begin = Callable[..., Handle]
ALL = frozenset({"memory_mib", "processes", "disk_mib", "files"})
MIB = 1 << 20


class Sandbox:
    """A process of the test's as a sandbox, and what the watch said about it."""

    def __init__(self, process: subprocess.Popen[str] | None = None, *folders: Path) -> None:
        self.process = process
        self.folders = folders
        self.said: list[tuple[str, str]] = []

    def watch(self, hold: frozenset[str] = ALL, **limits: int) -> Handle:
        watched = Watched(self.ids, self.folders, Limits(**limits), hold, self._exceeded)  # type: ignore[arg-type]
        return watch(watched)

    def ids(self) -> list[int]:
        if self.process is None:
            return []
        return processes_below([self.process.pid])[self.process.pid]

    def limits(self) -> list[str]:
        return [limit for limit, _ in self.said]

    def _exceeded(self, limit: str, sentence: str) -> None:
        self.said.append((limit, sentence))


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Begins to watch, and ends it with the test."""
    handles: list[Handle] = []

    def begun(sandbox: Sandbox, **limits: int) -> Handle:
        handles.append(sandbox.watch(**limits))
        return handles[-1]

    yield begun
    for handle in handles:
        handle.close()
        handle.close()


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python processes that have a session of their own and are killed with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-S", "-c", textwrap.dedent(code)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))
        return started[-1]

    yield run
    for process in started:
        for pid in reversed(processes_below([process.pid])[process.pid]):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def measured(*folders: Path) -> Tally:
    tally = Tally()
    for _ in count(folders, tally):
        pass
    return tally


def write(path: Path, mib: int) -> None:
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(os.urandom(MIB))


# --- processes ------------------------------------------------------------------------------------


def test_descendants_are_found_in_their_own_sessions_and_namespaces(start: Start) -> None:
    namespaces = ["unshare", "--pid", "--fork"] if os.geteuid() == 0 else []
    code = f"""
        import subprocess
        inner = "import time, os; os.fork(); print(flush=True); time.sleep(600)"
        command = [*{namespaces!r}, {sys.executable!r}, "-S", "-c", inner]
        subprocess.Popen(command, start_new_session=True).wait()
    """
    process = start(code)
    process.stdout.readline()
    process.stdout.readline()
    found = processes_below([process.pid, 2**22 + 1])
    assert found[2**22 + 1] == []
    assert found[process.pid][0] == process.pid
    assert len(found[process.pid]) == 3 + len(namespaces[:1])


def test_the_largest_process_is_killed_and_the_others_live(start: Start, begin: Begin) -> None:
    code = """
        import os, time
        if os.fork() == 0:
            small = bytearray(20 << 20)
            time.sleep(600)
        if os.fork() == 0:
            large = bytearray(200 << 20)
            time.sleep(600)
        os.wait()
        print("one is gone", flush=True)
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    begin(sandbox, memory_mib=128)
    until(lambda: sandbox.said)
    assert sandbox.process.stdout.readline() == "one is gone\n"
    assert len(sandbox.ids()) == 2
    (limit, sentence), *more = sandbox.said
    assert (limit, more) == ("memory_mib", [])
    assert "more than 128 MiB" in sentence


def test_a_process_that_allocates_again_and_again_is_killed_each_time(
    start: Start, begin: Begin
) -> None:
    code = """
        import os, time
        for _ in range(3):
            if os.fork() == 0:
                kept = []
                while True:
                    kept.append(bytearray(8 << 20))
                    time.sleep(0.005)
            _, status = os.wait()
            print(status, flush=True)
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    begin(sandbox, memory_mib=100)
    for _ in range(3):
        assert int(sandbox.process.stdout.readline()) == signal.SIGKILL
    until(lambda: len(sandbox.said) == 3)
    assert sandbox.process.poll() is None


def test_memory_that_forked_processes_share_counts_once(start: Start, begin: Begin) -> None:
    code = """
        import os, time
        data = bytearray(80 << 20)
        for _ in range(5):
            if os.fork() == 0:
                time.sleep(600)
        print(flush=True)
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    sandbox.process.stdout.readline()
    assert sum(map(processes.unshared, sandbox.ids())) > 400 * MIB
    handle = begin(sandbox, memory_mib=200)
    time.sleep(1.5)
    assert sandbox.said == []
    assert 80 <= handle.peak["memory_mib"] < 200


def test_many_small_processes_together_are_brought_below_the_limit(
    start: Start, begin: Begin
) -> None:
    code = """
        import os, time
        for _ in range(10):
            if os.fork() == 0:
                data = bytearray(40 << 20)
                time.sleep(600)
        print(flush=True)
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    sandbox.process.stdout.readline()
    begin(sandbox, memory_mib=200)
    until(lambda: len(sandbox.ids()) < 7)
    time.sleep(0.5)
    assert len(sandbox.ids()) >= 4
    assert sandbox.process.poll() is None


def test_shared_memory_files_count(start: Start, begin: Begin) -> None:
    code = """
        import mmap, time
        shared = mmap.mmap(-1, 300 << 20)
        for place in range(0, 300 << 20, 4096):
            shared[place] = 1
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    begin(sandbox, memory_mib=100)
    assert sandbox.process.wait(30) == -signal.SIGKILL


def test_a_marked_command_goes_before_the_one_that_keeps_the_sandbox(
    start: Start, begin: Begin
) -> None:
    code = """
        import os, time
        if os.fork() == 0:
            open("/proc/self/oom_score_adj", "w").write("500")
            data = bytearray(60 << 20)
            time.sleep(600)
        data = bytearray(70 << 20)
        os.wait()
        print("alive", flush=True)
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    begin(sandbox, memory_mib=120)
    assert sandbox.process.stdout.readline() == "alive\n"


def test_threads_above_the_cap_are_told_once(start: Start, begin: Begin) -> None:
    code = """
        import threading, time
        for _ in range(30):
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        time.sleep(600)
    """
    sandbox = Sandbox(start(code))
    handle = begin(sandbox, processes=20)
    until(lambda: sandbox.said)
    time.sleep(1)
    assert sandbox.limits() == ["processes"]
    assert handle.peak["processes"] == 31


def test_only_what_is_to_be_held_is_held(start: Start, begin: Begin) -> None:
    sandbox = Sandbox(start("import time; x = bytearray(99 << 20); time.sleep(600)"))
    begin(sandbox, memory_mib=50, processes=1, hold=frozenset({"files"}))
    time.sleep(1)
    assert (sandbox.said, sandbox.process.poll()) == ([], None)


def test_a_process_that_took_over_an_id_is_not_killed(start: Start) -> None:
    process = start("input()")
    known = Table.read([process.pid])[process.pid]
    assert not processes.kill(known._replace(start=known.start + 1))
    assert process.poll() is None
    assert processes.kill(known)
    assert process.wait(10) == -signal.SIGKILL
    assert not processes.kill(known)


# --- folders --------------------------------------------------------------------------------------


def test_growth_above_the_limit_is_told_once(tmp_path: Path, begin: Begin) -> None:
    write(tmp_path / "before", 30)
    sandbox = Sandbox(None, tmp_path)
    handle = begin(sandbox, disk_mib=20)
    write(tmp_path / "after", 15)
    until(lambda: handle.peak.get("disk_mib", 0) >= 15)
    assert sandbox.said == []
    write(tmp_path / "more", 10)
    until(lambda: sandbox.said)
    time.sleep(2.5)
    assert sandbox.said == [("disk_mib", "The workspace grew by more than 20 MiB.")]


def test_a_bomb_of_small_files_is_told_and_not_counted_to_its_end(
    tmp_path: Path, begin: Begin
) -> None:
    """R24."""
    sandbox = Sandbox(None, tmp_path)
    handle = begin(sandbox, files=1000)
    for folder in range(20):
        (tmp_path / str(folder)).mkdir()
        for number in range(400):
            (tmp_path / str(folder) / str(number)).touch()
    until(lambda: sandbox.said)
    assert sandbox.limits() == ["files"]
    assert 1000 < handle.peak["files"] <= 2000


def test_what_is_removed_makes_room(tmp_path: Path, begin: Begin) -> None:
    sandbox = Sandbox(None, tmp_path)
    handle = begin(sandbox, disk_mib=20)
    for _ in range(3):
        handle.peak.clear()
        write(tmp_path / "file", 15)
        until(lambda: handle.peak.get("disk_mib", 0) >= 15)
        (tmp_path / "file").unlink()
    assert sandbox.said == []


def test_holes_cost_nothing_and_hard_links_count_once(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    write(tmp_path / "one", 4)
    for number in range(50):
        os.link(tmp_path / "one", tmp_path / f"link{number}")
    tally = measured(tmp_path)
    assert 4 * MIB <= tally.size < 5 * MIB
    assert tally.files == 52


def test_links_are_never_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write(tmp_path / "outside", 8)
    (inside / "loop").symlink_to(inside)
    (inside / "up").symlink_to(tmp_path)
    (inside / "system").symlink_to("/usr")
    (inside / "file").symlink_to(tmp_path / "outside")
    tally = measured(inside)
    assert tally.files == 4
    assert tally.size < MIB


def test_deep_nesting_is_counted_with_few_descriptors(tmp_path: Path) -> None:
    depth = 3000
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("folder", dir_fd=fd)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        below = os.open("folder", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    before = descriptors()
    tally, most = Tally(), 0
    for _ in count([tmp_path], tally):
        most = max(most, descriptors())
    subprocess.run(["rm", "-rf", str(tmp_path / "folder")], check=True)
    assert tally.files == 2 * depth
    assert most - before < 50
    assert descriptors() == before


def test_a_walk_survives_a_tree_that_is_moved_and_removed_under_it(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    outside.mkdir()
    write(outside / "secret", 50)
    for number in range(200):
        (inside / f"{number}/a/b/c").mkdir(parents=True)
    ended = threading.Event()

    def disturb() -> None:
        number = 0
        while not ended.is_set():
            folder = inside / str(number % 200)
            folder.rename(tmp_path / "away")
            folder.symlink_to(outside)
            folder.unlink()
            (tmp_path / "away").rename(folder)
            number += 1

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        tallies = [measured(inside) for _ in range(20)]
    finally:
        ended.set()
        thread.join()
    assert max(tally.size for tally in tallies) < 50 * MIB
    assert measured(inside).files == 800


def test_other_file_systems_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    code = """
        mount -t tmpfs none "$1/mount" && touch "$1/mount/a" "$1/mount/b" && shift && exec "$@"
    """
    script = (
        "import sys; from pathlib import Path; from expbench.sandboxes.growth import *\n"
        "tally = Tally(); list(count([Path(sys.argv[1])], tally)); print(tally.files)"
    )
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", code, "sh"]
    command = [*unshare, str(tmp_path), sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr}")
    assert done.stdout == "1\n", done.stderr


def test_a_folder_shut_to_the_harness_hides_nothing_and_stays_shut(tmp_path: Path) -> None:
    shut, listed = tmp_path / "shut", tmp_path / "listed"
    for folder, mode in ((shut, 0o000), (listed, 0o600)):
        (folder / "below").mkdir(parents=True)
        write(folder / "below" / "file", 3)
        folder.chmod(mode)
    script = (
        "import os, sys; from pathlib import Path; from expbench.sandboxes.growth import *\n"
        "if os.geteuid() == 0: os.setgid(64001); os.setuid(64001)\n"
        "tally = Tally(); list(count([Path('.')], tally)); print(tally.size >> 20, tally.files)"
    )
    if os.geteuid() == 0:
        for path in (tmp_path, *tmp_path.rglob("*")):
            os.chown(path, 64001, 64001)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "6 6\n", done.stderr
    assert (shut.stat().st_mode & 0o777, listed.stat().st_mode & 0o777) == (0o000, 0o600)


def test_files_without_a_name_count_while_a_process_holds_them(
    tmp_path: Path, start, begin
) -> None:
    code = f"""
        import os, time
        with open({str(tmp_path / "file")!r}, "wb") as file:
            os.unlink(file.name)
            for _ in range(40):
                file.write(os.urandom(1 << 20))
            file.flush()
            time.sleep(600)
    """
    sandbox = Sandbox(start(code), tmp_path)
    begin(sandbox, disk_mib=30)
    until(lambda: sandbox.said)
    assert sandbox.limits() == ["disk_mib"]


def test_a_nearly_full_disk_is_told_to_the_one_that_grew_most(tmp_path: Path, begin: Begin) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to mount a small file system: run as root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(tmp_path)])
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        sandboxes = [Sandbox(None, tmp_path / name) for name in ("small", "large", "idle")]
        for sandbox in sandboxes:
            sandbox.folders[0].mkdir()
            begin(sandbox)
        write(tmp_path / "small" / "file", 10)
        write(tmp_path / "large" / "file", 53)
        until(lambda: any(sandbox.said for sandbox in sandboxes))
        small, large, idle = sandboxes
        assert large.limits() == ["disk_free"]
        (tmp_path / "large" / "file").unlink()
        time.sleep(1.5)
        assert (small.said, idle.said) == ([], [])
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


# --- the thread -----------------------------------------------------------------------------------


def test_a_hundred_idle_sandboxes_cost_little(tmp_path: Path, start: Start, begin: Begin) -> None:
    """R23: watching must not slow what is watched."""
    process = start("import time; time.sleep(600)")
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        for each in range(20):
            (folder / str(each)).touch()
        begin(Sandbox(process, folder), memory_mib=1000, disk_mib=100)
    time.sleep(3)
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    time.sleep(4)
    after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.monotonic() - started
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 0.15 * seconds


def test_one_sandboxs_trouble_is_not_the_others(start: Start, begin: Begin) -> None:
    class Broken(Sandbox):
        def ids(self) -> list[int]:
            raise RuntimeError("the provider does not answer")

    begin(Broken(None), memory_mib=10)
    sandbox = Sandbox(start("import time; x = bytearray(200 << 20); time.sleep(600)"))
    begin(sandbox, memory_mib=100)
    assert sandbox.process.wait(30) == -signal.SIGKILL


def test_after_closing_nothing_is_killed_or_told(
    tmp_path: Path, start: Start, begin: Begin
) -> None:
    sandbox = Sandbox(start("input(); x = bytearray(200 << 20); input()"), tmp_path)
    begin(sandbox, memory_mib=100, disk_mib=5).close()
    other = begin(Sandbox(None, tmp_path), disk_mib=500)
    print(file=sandbox.process.stdin, flush=True)
    write(tmp_path / "file", 20)
    until(lambda: other.peak.get("disk_mib", 0) >= 20)
    assert (sandbox.said, sandbox.process.poll()) == ([], None)


def test_the_thread_ends_with_the_last_sandbox_and_starts_again(begin: Begin) -> None:
    def runs() -> bool:
        return any(each.name == "expbench-watch" for each in threading.enumerate())

    for _ in range(2):
        handle = begin(Sandbox(None))
        assert runs()
        handle.close()
        until(lambda: not runs())
