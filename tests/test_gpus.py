"""GPUs (R31): which are ours, and that none is ever given out twice; with fake device folders.

Leases are tried by real processes: locks of the kernel know nothing of GPUs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.gpus import Lease, Leases, present, uuids, visible

UUID = "GPU-8a1c0de0-0000-1111-2222-333344445555"
OTHER = "GPU-8bffffff-0000-1111-2222-333344445555"
MIG = "MIG-c0ffee00-0000-1111-2222-333344445555"


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """A folder like ``/dev`` of a machine with GPUs 0, 1, 2 and 10."""
    folder = tmp_path / "dev"
    (folder / "nvidia-caps").mkdir(parents=True)
    names = "nvidia0 nvidia1 nvidia2 nvidia10 nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-modeset"
    for name in (*names.split(), "null", "xnvidia3", "nvidia4x", "nvidia-caps/nvidia-cap1"):
        (folder / name).touch()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where locks are; made on first use."""
    return tmp_path / "cache" / "gpus"


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


# --- which there are -----------------------------------------------------------------------------


def test_gpus_are_device_nodes_with_a_number_in_order(dev: Path) -> None:
    assert present(dev) == ("0", "1", "2", "10")


def test_a_machine_without_gpus_has_none(tmp_path: Path) -> None:
    assert present(tmp_path) == ()
    assert present(tmp_path / "missing") == ()


def test_a_node_that_may_not_be_opened_is_not_ours(dev: Path) -> None:
    (dev / "nvidia1").chmod(0)
    dev.chmod(0o755)
    if os.geteuid() != 0:
        assert present(dev) == ("0", "2", "10")
        return
    for number in (0, 2, 10):
        (dev / f"nvidia{number}").chmod(0o666)
    inherited = os.open(dev, os.O_RDONLY)  # an ordinary user cannot go through the folders above
    code = (
        "import os; from pathlib import Path; from expbench.sandboxes.gpus import present; "
        f"os.setgroups([]); os.setgid(64001); os.setuid(64001); "
        f"print(','.join(present(Path('/proc/self/fd/{inherited}'))))"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True, pass_fds=[inherited])
    os.close(inherited)
    assert said == "0,2,10\n"


def test_the_driver_tells_which_uuid_is_which(tmp_path: Path) -> None:
    for bus, uuid, minor in (("01", UUID, 1), ("02", OTHER, 0)):
        place = tmp_path / f"0000:{bus}:00.0"
        place.mkdir()
        (place / "information").write_text(
            f"Model: \t\t Some GPU\nIRQ:   \t\t 42\nGPU UUID: \t {uuid}\n"
            f"Bus Type: \t PCIe\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n"
        )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "information").write_bytes(b"\xff\nGPU UUID\n:")
    assert uuids(tmp_path) == {UUID: "1", OTHER: "0"}
    assert uuids(tmp_path / "missing") == {}


# --- which of them are ours ----------------------------------------------------------------------

FOUR = ("0", "1", "2", "10")


@pytest.mark.parametrize(
    ("outer", "ids"),
    [
        (None, FOUR),
        ("", ()),
        (" ", ()),
        ("-1", ()),
        ("NoDevFiles", ()),
        ("0", ("0",)),
        ("2,0", ("2", "0")),
        ("3", ("10",)),
        (" 1 , 2 ", ("1", "2")),
        ("1,-1,2", ("1",)),
        ("-1,2", ()),
        (UUID, (UUID,)),
        (f"{MIG},{UUID}", (MIG, UUID)),
        ("MIG-GPU-8a1c0de0/1/0", ("MIG-GPU-8a1c0de0/1/0",)),
    ],
)
def test_gpus_are_composed_through_an_outer_setting(
    outer: str | None, ids: tuple[str, ...]
) -> None:
    """R31: ids composed through an outer CUDA_VISIBLE_DEVICES."""
    assert visible(FOUR, outer) == ids


@pytest.mark.parametrize(
    ("outer", "sentence"),
    [
        ("4", "'4', which is not there .there: 0 to 3."),
        ("0,7", "'7'"),
        ("-2", "'-2'"),
        ("all", "'all'"),
        ("0,", "''"),
        ("²", "'²'"),
        ("1,1", "names a GPU twice: name each one once"),
        (f"{UUID},{UUID}", "twice"),
        (f"0,{UUID}", "mixes numbers and UUIDs: use one kind"),
    ],
)
def test_an_outer_setting_that_names_what_is_not_there_is_an_error(
    outer: str, sentence: str
) -> None:
    with pytest.raises(PrerequisiteError, match=sentence):
        visible(FOUR, outer)


def test_a_number_on_a_machine_without_gpus_is_an_error() -> None:
    with pytest.raises(PrerequisiteError, match=r"there: none.*unset it"):
        visible((), "0")


def test_a_known_uuid_and_its_number_are_one_gpu() -> None:
    """R31: two runs that name a GPU differently lock the same one."""
    known = {UUID: "2", OTHER: "1"}
    assert visible(FOUR, f"{UUID},0", known) == ("2", "0")
    assert visible(FOUR, "GPU-8a", known) == ("2",)
    with pytest.raises(PrerequisiteError, match="twice"):
        visible(FOUR, f"{UUID},2", known)
    with pytest.raises(PrerequisiteError, match="'GPU-8'"):
        visible(FOUR, "GPU-8", known)
    with pytest.raises(PrerequisiteError, match=UUID):
        visible(("0", "1"), UUID, known)
    assert visible(FOUR, MIG, known) == (MIG,)


@given(
    ids=st.lists(st.integers(0, 63).map(str), unique=True, max_size=8),
    data=st.data(),
)
def test_what_is_seen_is_there_and_in_the_settings_order(
    ids: list[str], data: st.DataObject
) -> None:
    places = data.draw(st.permutations(range(len(ids))))
    some = places[: data.draw(st.integers(0, len(ids)))]
    assert visible(ids, ",".join(map(str, some))) == tuple(ids[place] for place in some)


# --- leases --------------------------------------------------------------------------------------


def test_a_lease_gives_what_is_asked_for_and_takes_it_back(folder: Path) -> None:
    leases = Leases(folder, ("0", "1", "2"))
    with leases.lease(2, 5) as first, leases.lease(1, 5) as second:
        assert first.ids == ("0", "1")
        assert second.ids == ("2",)
        with pytest.raises(SandboxError, match="1 of the GPUs 0, 1, 2 were not free in time"):
            leases.lease(1, 0)
    again = leases.lease(3, 0)
    assert again.ids == ("0", "1", "2")
    again.release()
    again.release()
    with leases.lease(3, 0):
        pass
    assert list(folder.glob("ticket-*")) == []


def test_no_gpus_are_always_to_be_had(tmp_path: Path) -> None:
    with Leases(tmp_path / "never", ()).lease(0, 0) as lease:
        assert lease.ids == ()
        assert lease.nodes() == ()
        assert lease.environment == {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}
    assert not (tmp_path / "never").exists()


def test_more_than_there_are_is_an_error_with_numbers(folder: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"3 GPUs are asked for.*there are 2.*\(0, 5\)"):
        Leases(folder, ("0", "5")).lease(3, None)
    with pytest.raises(PrerequisiteError, match=r"there are 0 to give out \(none\)"):
        Leases(folder, ()).lease(1, None)


def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_mend(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PrerequisiteError, match="give another cache folder with XDG_CACHE_HOME"):
        Leases(tmp_path / "file" / "gpus", ("0",)).lease(1, 1)


def test_uuids_are_leased_as_they_are(folder: Path) -> None:
    ids = (UUID, "MIG-GPU-8a1c0de0/1/0")
    with Leases(folder, ids).lease(2, 5) as lease:
        assert lease.ids == ids
        assert lease.environment["CUDA_VISIBLE_DEVICES"] == ",".join(ids)
        with pytest.raises(SandboxError):
            Leases(folder, ids[1:]).lease(1, 0)


def test_only_granted_nodes_are_seen_and_are_numbered_from_0(folder: Path, dev: Path) -> None:
    leases = Leases(folder, present(dev))
    with leases.lease(2, 5), leases.lease(2, 5) as lease:
        assert lease.ids == ("2", "10")
        shared = ["nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps"]
        assert lease.nodes(dev) == tuple(dev / name for name in ("nvidia2", "nvidia10", *shared))
        assert lease.environment == {
            "CUDA_VISIBLE_DEVICES": "0,1",
            "NVIDIA_VISIBLE_DEVICES": "2,10",
        }
        outside = {"CUDA_VISIBLE_DEVICES": "2,3", "NVIDIA_VISIBLE_DEVICES": "2,10"}
        assert lease.environment_outside(dev) == outside
        assert visible(present(dev), outside["CUDA_VISIBLE_DEVICES"]) == lease.ids
        (dev / "nvidia-modeset").unlink()
        assert dev / "nvidia-modeset" not in lease.nodes(dev)


def test_a_uuid_whose_node_is_unknown_shows_all_nodes(folder: Path, dev: Path) -> None:
    with Leases(folder, (MIG,)).lease(1, 5) as lease:
        assert {f"nvidia{number}" for number in FOUR} <= {path.name for path in lease.nodes(dev)}


HOLD = """\
import sys, time
from pathlib import Path
from expbench.sandboxes.gpus import Leases
folder, ids, count, fork = Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]), sys.argv[4]
lease = Leases(folder, ids).lease(count, 60)
print(*lease.ids, flush=True)
if fork == "fork":
    import os
    if os.fork() == 0:
        sys.exit(0)  # its copies of the lease are collected, and must not end it
    os.wait()
    print("forked", flush=True)
time.sleep(120)
"""

Holder = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def holder(folder: Path) -> Iterator[Holder]:
    """Starts processes that lease GPUs and keep them; all are killed at the end."""
    processes = []

    def start(ids: str, count: int, kind: str = "plain") -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", HOLD, str(folder), ids, str(count), kind]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_killed_holder_frees_its_gpus(folder: Path, holder: Holder) -> None:
    """R31: leases with a lock file; kill -9 leaves nothing behind."""
    process = holder("0,1", 2)
    assert said(process) == "0 1"
    with pytest.raises(SandboxError):
        Leases(folder, ("0", "1")).lease(1, 0.3)
    process.send_signal(signal.SIGKILL)
    with Leases(folder, ("0", "1")).lease(2, 20) as lease:
        assert lease.ids == ("0", "1")


def test_a_killed_waiter_does_not_hold_up_the_queue(folder: Path, holder: Holder) -> None:
    keeper = holder("0", 1)
    assert said(keeper) == "0"
    waiter = holder("0", 1)
    assert wait_for(lambda: len(list(folder.glob("ticket-*"))) == 1)
    waiter.kill()
    waiter.wait()
    keeper.kill()
    with Leases(folder, ("0",)).lease(1, 20) as lease:
        assert lease.ids == ("0",)
    assert list(folder.glob("ticket-*")) == []


def test_a_forked_child_that_ends_does_not_end_the_lease(folder: Path, holder: Holder) -> None:
    process = holder("0", 1, "fork")
    assert (said(process), said(process)) == ("0", "forked")
    with pytest.raises(SandboxError):
        Leases(folder, ("0",)).lease(1, 0.3)


def test_a_forked_child_that_lives_on_does_not_keep_the_lease(folder: Path) -> None:
    lease = Leases(folder, ("0",)).lease(1, 5)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    try:
        lease.release()
        Leases(folder, ("0",)).lease(1, 0).release()
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


CONTEND = """\
import fcntl, os, random, sys
from pathlib import Path
from expbench.sandboxes.gpus import Leases
folder, use, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
leases = Leases(folder, ("0", "1", "2"))
for _ in range(rounds):
    with leases.lease(random.choice((1, 1, 2, 3)), 100) as lease:
        for each in lease.ids:
            os.mkdir(use / each)  # fails if anybody else has it
        for each in lease.ids:
            os.rmdir(use / each)
"""


def test_no_gpu_is_ever_leased_twice(folder: Path, tmp_path: Path) -> None:
    """R31: no GPU id leased twice, by several processes and threads that want different numbers."""
    use = tmp_path / "use"
    use.mkdir()
    argv = [sys.executable, "-c", CONTEND, str(folder), str(use), "8"]
    processes = [subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    leases = Leases(folder, ("0", "1", "2"))

    def contend(count: int) -> None:
        for _ in range(4):
            with leases.lease(count, 100) as lease:
                assert len(set(lease.ids)) == count
                for each in lease.ids:
                    (use / each).mkdir()
                for each in lease.ids:
                    (use / each).rmdir()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(contend, (1, 2, 3)))
    for process in processes:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    assert list(use.iterdir()) == []
    assert list(folder.glob("ticket-*")) == []


def test_who_waits_longest_is_next_also_when_it_wants_more(folder: Path) -> None:
    """One that wants all GPUs is not starved by others that want one each."""
    leases = Leases(folder, ("0", "1"))
    held = [leases.lease(1, 5), leases.lease(1, 5)]
    order: list[int] = []

    def wait(count: int) -> None:
        with leases.lease(count, 60):
            order.append(count)

    threads: list[threading.Thread] = []
    for count in (2, 1, 1):
        threads.append(threading.Thread(target=wait, args=[count]))
        threads[-1].start()
        assert wait_for(lambda: len(list(folder.glob("ticket-*"))) == len(threads))
    held[0].release()
    time.sleep(0.5)
    assert order == []
    held[1].release()
    for thread in threads:
        thread.join(60)
    assert order == [2, 1, 1]


def test_one_that_gives_up_lets_the_next_one_pass(folder: Path) -> None:
    leases = Leases(folder, ("0", "1"))
    with leases.lease(1, 5):
        begun = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            greedy = pool.submit(leases.lease, 2, 1.0)
            assert wait_for(lambda: bool(list(folder.glob("ticket-*"))))
            with leases.lease(1, 20) as lease:
                assert lease.ids == ("1",)
            with pytest.raises(SandboxError):
                greedy.result()
        assert time.monotonic() - begun >= 1.0


def test_a_failed_lease_holds_nothing(folder: Path) -> None:
    leases = Leases(folder, ("0", "1"))
    with leases.lease(1, 5) as first:
        with pytest.raises(SandboxError):
            leases.lease(2, 0.2)
        with leases.lease(1, 0) as second:
            assert Counter(first.ids + second.ids) == Counter(("0", "1"))


def test_an_error_inside_gives_the_gpus_back(folder: Path) -> None:
    leases = Leases(folder, ("0",))
    with contextlib.suppress(ZeroDivisionError), leases.lease(1, 5) as lease:
        assert isinstance(lease, Lease)
        raise ZeroDivisionError
    leases.lease(1, 0).release()
