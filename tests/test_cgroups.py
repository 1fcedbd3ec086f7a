"""Control groups: real ones with real processes where this machine has them, and v2's files as files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from expbench.errors import SandboxError
from expbench.sandboxes import cgroups
from expbench.sandboxes.cgroups import Cgroups, Group
from expbench.sandboxes.groups import settings
from expbench.sandboxes.processes import Table
from expbench.schema import Limits, Requests

ENTER = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'
FREE = Limits(memory_mib=None, processes=None)
NOTHING = Requests()
Make = Callable[..., Group]


@pytest.fixture(scope="module")
def found() -> Cgroups:
    groups = cgroups.probe()
    if groups is None:
        pytest.skip("no control group can be made here: run as root, or in a delegated group")
    return groups


@pytest.fixture
def make(found: Cgroups) -> Iterator[Make]:
    """Makes groups that are killed and removed at the end."""
    made: list[Group] = []

    def new(name: str = "", requests: Requests = NOTHING, **limits: float) -> Group:
        demanded = FREE.model_copy(update=limits)
        made.append(found.make(name or cgroups.group_name(), demanded, requests))
        return made[-1]

    yield new
    for group in made:
        group.kill()
        assert group.remove()


def need(found: Cgroups, controller: str) -> None:
    if controller not in found.controllers:
        pytest.skip(f"the controller {controller} does not work: {found.why[controller]}")


def start(group: Group, *argv: str) -> subprocess.Popen[bytes]:
    """A process in a group, which it enters as sandboxes do."""
    wrapped = ["/bin/sh", "-c", ENTER, "sh", *map(str, group.enter), "--", *argv]
    return subprocess.Popen(wrapped, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def python(group: Group, code: str) -> subprocess.Popen[bytes]:
    return start(group, sys.executable, "-S", "-c", textwrap.dedent(code))


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def owner_of(pid: int) -> str:
    return f"{pid}-{Table.read([pid])[pid].start}"


def alive(owner: str) -> bool:
    pid, start_time = map(int, owner.split("-"))
    table = Table.read([pid])
    return pid in table and table[pid].start == start_time


def test_what_a_process_starts_while_it_is_moved_is_moved_too(make: Make) -> None:
    """R18: the group of a sandbox also holds what its first processes started before they were in it."""
    group = make(memory_mib=64, processes=16)
    loose = [subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) for _ in range(3)]
    known: list[int] = []

    def listed() -> list[int]:
        """Each list has one more, which the one before it could have started meanwhile."""
        known.extend([loose[len(known)].pid] if len(known) < len(loose) else [])
        return list(known)

    group.admit(listed)
    try:
        for file in group.enter:
            assert set(known) == {each.pid for each in loose} <= set(_pids(file)), file
    finally:
        for each in loose:
            each.communicate()


def test_what_only_some_controllers_hold_is_moved_wholly(make: Make) -> None:
    group = make(memory_mib=64, processes=16)
    half = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    group.enter[0].write_text(str(half.pid))
    group.admit(lambda: [half.pid])
    try:
        assert all(half.pid in _pids(file) for file in group.enter)
    finally:
        half.communicate()


def test_what_has_ended_meanwhile_is_waited_for_by_nobody(make: Make) -> None:
    group = make(processes=16)
    dead = subprocess.Popen(["/bin/true"])
    until(lambda: dead.pid not in Table.read([dead.pid]))
    group.admit(lambda: [dead.pid, 2**22 + 1])
    assert dead.wait() == 0


def _pids(file: Path) -> list[int]:
    return list(map(int, file.read_text().split()))


# --- what the kernel holds ------------------------------------------------------------------------


def test_probing_leaves_nothing_and_says_what_works_and_why_not(found: Cgroups) -> None:
    assert found.kind in ("v1", "v2")
    assert {"memory", "pids", "cpu"} <= {*found.controllers, *found.why}
    assert not {*found.controllers} & {*found.why}
    mine = f"expbench-{owner_of(os.getpid())}-*"
    assert [folder for place in found.places.values() for folder in place.glob(mine)] == []
    assert cgroups.probe() is found


def test_a_memory_hog_is_killed_and_only_it(found: Cgroups, make: Make) -> None:
    need(found, "memory")
    group, other = make(memory_mib=64), make(memory_mib=64)
    bystander, stranger = start(group, "cat"), start(other, "cat")
    hog = python(group, "x = bytearray(300 << 20)")
    assert hog.wait(30) == -signal.SIGKILL
    assert (bystander.poll(), stranger.poll()) == (None, None)
    assert (group.oom_kills(), other.oom_kills()) == (1, 0)
    assert 32 <= group.peak_mib() <= 64


def test_memory_is_counted_for_all_processes_together(found: Cgroups, make: Make) -> None:
    need(found, "memory")
    group = make(memory_mib=128)
    code = "x = bytearray(50 << 20); print(flush=True); input()"
    running = [python(group, code) for _ in range(4)]
    until(lambda: group.oom_kills() > 0)
    until(lambda: any(each.poll() == -signal.SIGKILL for each in running))
    assert any(each.poll() is None for each in running)


def test_memory_behind_files_without_a_disk_counts(found: Cgroups, make: Make) -> None:
    """Pages of memory files and of tmpfs are the group's, and cannot be taken back."""
    need(found, "memory")
    group = make(memory_mib=64)
    code = """
        import os
        file = os.memfd_create("x")
        for _ in range(200):
            os.write(file, bytes(1 << 20))
    """
    assert python(group, code).wait(30) == -signal.SIGKILL


def test_cached_pages_of_files_on_a_disk_kill_nobody(
    found: Cgroups, make: Make, tmp_path: Path
) -> None:
    need(found, "memory")
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, check=True)
    if kind.stdout.strip() == b"tmpfs":
        pytest.skip("the folder of temporary files is in memory")
    group = make(memory_mib=32)
    code = f"""
        with open({str(tmp_path / "file")!r}, "wb") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
        with open({str(tmp_path / "file")!r}, "rb") as file:
            while file.read(1 << 20):
                pass
    """
    assert python(group, code).wait(60) == 0
    assert group.oom_kills() == 0


def test_a_fork_bomb_stops_at_the_cap_and_is_ended(found: Cgroups, make: Make) -> None:
    need(found, "pids")
    group = make(processes=40)
    code = """
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            try:
                os.fork()
                os.setsid()
            except OSError:
                pass
    """
    bomb = python(group, code)
    until(lambda: len(group.processes()) >= 40)
    assert len(group.processes()) == 40
    group.kill()
    assert group.processes() == []
    assert bomb.wait(10) == -signal.SIGKILL
    assert group.remove()


def test_threads_count_as_processes_and_the_words_say_so(found: Cgroups, make: Make) -> None:
    need(found, "pids")
    group = make(processes=8)
    code = """
        import threading, time
        n = 0
        try:
            while n < 50:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                n += 1
        except RuntimeError:
            pass
        print(n, flush=True)
    """
    done = python(group, code)
    assert done.stdout is not None
    assert int(done.stdout.readline()) == 7
    assert "threads" in group.words["processes"]


def test_half_a_processor_gives_about_half_of_its_time(found: Cgroups, make: Make) -> None:
    need(found, "cpu")
    group = make(cpus=0.5)
    code = """
        import time
        before, end = time.process_time(), time.monotonic() + 2
        while time.monotonic() < end:
            pass
        print(time.process_time() - before)
    """
    busy = [python(group, code) for _ in range(2)]
    used = sum(float(each.communicate(timeout=60)[0]) for each in busy)
    assert 0.2 < used < 1.5


def test_what_is_demanded_is_set_and_said_and_nothing_else(found: Cgroups, make: Make) -> None:
    assert make().words == {}
    limits = Limits(memory_mib=100, processes=50, cpus=2)
    group = make(memory_mib=100, processes=50, cpus=2)
    assert group.words == found.words(limits)
    assert set(group.words) <= {"memory_mib", "processes", "cpus"}
    for limit, text in group.words.items():
        assert text.startswith(f"{getattr(limits, limit):g} ")
        assert text.endswith(f"cgroup {found.kind}")


def test_requests_are_promised_apart_from_limits(found: Cgroups, make: Make) -> None:
    """R32: what is promised and what kills are two things."""
    need(found, "memory")
    need(found, "cpu")
    group = make(memory_mib=100, requests=Requests(cpus=3, memory_mib=50))
    v2 = found.kind == "v2"
    low = group.folders["memory"] / ("memory.low" if v2 else "memory.soft_limit_in_bytes")
    weight = group.folders["cpu"] / ("cpu.weight" if v2 else "cpu.shares")
    assert low.read_text().strip() == str(50 << 20)
    assert weight.read_text().strip() == ("300" if v2 else "3072")


def test_a_second_group_of_one_name_is_refused_and_the_first_is_left(
    found: Cgroups, make: Make
) -> None:
    name = cgroups.group_name()
    first = make(name)
    process = start(first, "cat")
    until(lambda: all(process.pid in _pids(file) for file in first.enter))
    with pytest.raises(SandboxError, match="no control group"):
        found.make(name, Limits(), Requests())
    assert process.poll() is None
    assert all(file.exists() for file in first.enter)


# --- the end of a group ---------------------------------------------------------------------------


def test_daemons_that_left_their_parent_are_killed(make: Make) -> None:
    group = make()
    daemon = "(trap '' TERM HUP; setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 &) & wait"
    start(group, "/bin/sh", "-c", daemon).wait(10)
    until(lambda: len(group.processes()) >= 2)
    pids = group.processes()
    group.kill()
    assert group.processes() == []
    assert [pid for pid in pids if pid in Table.read([pid])] == []


def test_a_group_that_is_gone_is_no_trouble(make: Make) -> None:
    group = make(memory_mib=64)
    group.kill()
    assert group.remove()
    group.kill()
    assert (group.processes(), group.oom_kills(), group.peak_mib()) == ([], 0, 0)
    assert group.remove()


def test_groups_of_a_killed_harness_are_swept_with_their_processes(
    found: Cgroups, make: Make
) -> None:
    """R23: nothing of a dead harness stays."""
    code = """
        import subprocess, sys, time
        from expbench.sandboxes import cgroups
        from expbench.schema import Limits, Requests
        name = cgroups.group_name()
        group = cgroups.probe().make(name, Limits(), Requests())
        with open("/dev/null") as null:
            child = subprocess.Popen(["sleep", "600"], stdin=null, start_new_session=True)
        for file in group.enter:
            file.write_text(str(child.pid))
        print(name, child.pid, flush=True)
        time.sleep(600)
    """
    harness = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert harness.stdout is not None
    name, pid = harness.stdout.readline().split()
    left = owner_of(int(pid))
    mine = make()
    stranger = next(iter(found.places.values())) / f"other-{os.getpid()}-1-x"
    stranger.mkdir()
    try:
        assert alive(left)
        assert all((place / name).is_dir() for place in found.places.values())
        harness.kill()
        harness.wait()
        assert cgroups.sweep(found, alive) >= 1
        assert not alive(left)
        assert [place for place in found.places.values() if (place / name).exists()] == []
        assert all(file.exists() for file in mine.enter)
        assert stranger.is_dir()
    finally:
        stranger.rmdir()
        harness.kill()


def unified() -> Path | None:
    """A real v2 folder to make groups in, though it may have no controllers."""
    for root in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (root / "cgroup.controllers").exists():
            lines = Path("/proc/self/cgroup").read_text().splitlines()
            own = next(line[3:] for line in lines if line.startswith("0::"))
            return root / own.lstrip("/")
    return None


def test_v2_kills_a_whole_group_at_once() -> None:
    place = unified()
    if place is None or not os.access(place / "cgroup.procs", os.W_OK):
        pytest.skip("no cgroup v2 that this user may make groups in")
    group = Group("v2", {"memory": place / cgroups.group_name()})
    group.folders["memory"].mkdir()
    try:
        process = start(group, "/bin/sh", "-c", "setsid sleep 600 & sleep 600")
        until(lambda: len(group.processes()) == 3)
        group.kill()
        assert process.wait(10) == -signal.SIGKILL
        assert group.processes() == []
    finally:
        group.kill()
        assert group.remove()


# --- the files of v2 ------------------------------------------------------------------------------


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cgroups | None]:
    """Probes a tree of plain files, of which folders can be removed as the kernel's can."""
    rmdir = os.rmdir

    def kernels_rmdir(folder: Path) -> None:
        for file in folder.iterdir() if folder.is_dir() else ():
            file.unlink()
        rmdir(folder)

    monkeypatch.setattr(os, "rmdir", kernels_rmdir)
    root, own = tmp_path / "cgroup", tmp_path / "own"

    def probe(path: str, controllers: str, handed_on: str) -> Cgroups | None:
        place = root / path
        place.mkdir(parents=True)
        (root / "cgroup.controllers").write_text("cpu io memory pids\n")
        above = place.parent if path.endswith("expbench-harness") else place
        (above / "cgroup.controllers").write_text(controllers)
        (above / "cgroup.subtree_control").write_text(handed_on)
        own.write_text(f"0::/{path}\n")
        return cgroups.probe(root, own)

    return probe


def test_v2_settings_are_written_as_the_kernel_wants_them(
    fake: Callable[..., Cgroups | None],
) -> None:
    found = fake("user.slice/run.scope", "cpu memory pids", "cpu memory pids")
    assert found is not None
    assert (found.kind, found.controllers, found.why) == ("v2", ("memory", "pids", "cpu"), {})
    limits = Limits(memory_mib=8192, processes=512, cpus=0.5)
    group = found.make(cgroups.group_name(), limits, Requests(cpus=2, memory_mib=1024))
    (folder,) = set(group.folders.values())
    assert folder.parent.name == "run.scope"
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "memory.max": str(8192 << 20),
        "memory.swap.max": "0",
        "memory.low": str(1024 << 20),
        "pids.max": "512",
        "cpu.max": "50000 100000",
        "cpu.weight": "200",
    }
    assert group.enter == (folder / "cgroup.procs",)
    assert group.words["memory_mib"] == "8192 MiB for all processes together, cgroup v2"
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n")
    (folder / "memory.peak").write_text(f"{77 << 20}\n")
    assert (group.oom_kills(), group.peak_mib()) == (3, 77)
    (folder / "memory.peak").unlink()
    (folder / "memory.current").write_text(f"{33 << 20}\n")
    assert group.peak_mib() == 33


def test_a_v2_controller_that_was_not_delegated_is_left_out_with_its_reason(
    fake: Callable[..., Cgroups | None],
) -> None:
    found = fake("session.scope", "memory pids", "memory pids")
    assert found is not None
    assert found.controllers == ("memory", "pids")
    assert "was not given it" in found.why["cpu"]
    limits = Limits(memory_mib=64, processes=8, cpus=1)
    assert set(found.words(limits)) == {"memory_mib", "processes"}
    group = found.make(cgroups.group_name(), limits, Requests())
    assert group.words == found.words(limits)


def test_a_harness_in_its_own_v2_group_makes_groups_beside_it(
    fake: Callable[..., Cgroups | None],
) -> None:
    found = fake("run.scope/expbench-harness", "memory pids", "memory pids")
    assert found is not None
    assert {place.name for place in found.places.values()} == {"run.scope"}


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/\n")
    assert cgroups.probe(tmp_path, tmp_path / "own") is None
    assert cgroups.probe(tmp_path, tmp_path / "missing") is None


def test_shares_stay_within_what_the_kernel_takes() -> None:
    tiny, huge = Requests(cpus=0.0001), Requests(cpus=1000)
    for kind, file, least, most in (
        ("v1", "cpu.shares", 2, 262_144),
        ("v2", "cpu.weight", 1, 10_000),
    ):
        for requests in (tiny, huge):
            (setting,) = settings(kind, FREE, requests)  # type: ignore[arg-type]
            assert setting.file == file
            assert least <= int(setting.value) <= most
