"""The filter of system calls: by an interpreter for both processors, and in real sandboxes."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expbench.errors import PrerequisiteError
from expbench.sandboxes import bubblewrap, seccomp

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
BOTH = pytest.mark.parametrize("architecture", sorted(AUDIT))

CHECKED = {
    "clone": (56, 220),
    "prlimit64": (302, 261),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "unshare": (272, 97),
}
"""Numbers of the calls whose arguments matter, on x86_64 and aarch64."""

REFUSED = {
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd"),
    *("lookup_dcookie", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "setns"),
    *("kexec_load", "kexec_file_load", "reboot", "init_module", "finit_module", "delete_module"),
    *("syslog", "quotactl", "quotactl_fd", "acct", "nfsservctl", "swapon", "swapoff", "vhangup"),
    *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime"),
    *("iopl", "ioperm", "modify_ldt"),
}

ALLOW = 0
ARGUMENT = st.integers(0, 2**64 - 1)
HIGH = st.integers(0, 2**32 - 1).map(lambda value: value << 32)
ARCHITECTURE = st.sampled_from(sorted(AUDIT))


# --- what the program says, by an interpreter ----------------------------------------------------


def decoded(program: bytes) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("=HBBI", program))


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """The errno that the kernel would fail a call with; 0 when it lets it through."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, audit, 0, *(word % 2**64 for word in words))
    code, at, loaded = decoded(program), 0, 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            if value == 0x7FFF0000:
                return ALLOW
            assert value & 0xFFFF0000 == 0x00050000, f"neither allowed nor an errno: {value:#x}"
            return value & 0xFFFF
        else:
            tests = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            at += yes if tests[operation] else no


PROGRAMS = {
    (architecture, pin): seccomp.program(architecture, pin)
    for architecture in AUDIT
    for pin in (False, True)
}


def ask(architecture: str, number: int, *arguments: int, pin: bool = False) -> int:
    return answer(PROGRAMS[architecture, pin], AUDIT[architecture], number, *arguments)


def ask_checked(architecture: str, name: str, *arguments: int) -> int:
    return ask(architecture, CHECKED[name][COLUMN[architecture]], *arguments)


def kernel_numbers(architecture: str) -> dict[str, int]:
    """All system calls by name, from the kernel's own headers."""
    candidates = {
        "x86_64": [
            "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
            "/usr/include/asm/unistd_64.h",
        ],
        "aarch64": [
            "/usr/include/asm-generic/unistd.h",
            "/usr/include/aarch64-linux-gnu/asm/unistd_64.h",
        ],
    }
    found: dict[str, int] = {}
    for path in map(Path, candidates[architecture]):
        if path.is_file():
            pairs = re.findall(r"#define\s+__NR_(\w+)\s+(\d+)\s", path.read_text())
            found |= {name: int(number) for name, number in pairs}
    if "ioctl" not in found:
        pytest.skip(f"the kernel's headers for {architecture} are not here (linux-libc-dev)")
    return {name: number for name, number in found.items() if name not in ("syscalls", "arch")}


@BOTH
def test_every_call_of_the_kernels_headers_is_refused_by_name_or_allowed(architecture: str) -> None:
    numbers = kernel_numbers(architecture)
    assert {name: numbers[name] for name in CHECKED} == {
        name: pair[COLUMN[architecture]] for name, pair in CHECKED.items()
    }
    answers = {name: ask(architecture, number) for name, number in numbers.items()}
    refused = {name for name, error in answers.items() if error == errno.EPERM}
    assert refused == REFUSED & numbers.keys()
    others = {name for name, error in answers.items() if error not in (ALLOW, errno.EPERM)}
    assert others == {"clone3", "socket", "socketpair"}  # of family 0
    pinned = {name for name, n in numbers.items() if ask(architecture, n, pin=True) == errno.EPERM}
    assert pinned - refused == {"sched_setaffinity"}


@BOTH
def test_the_kernel_would_take_the_program(architecture: str) -> None:
    for pin in (False, True):
        code = decoded(PROGRAMS[architecture, pin])
        assert 0 < len(code) <= 4096
        assert code[-1][0] == 0x06
        for at, (operation, yes, no, value) in enumerate(code):
            assert operation in {0x20, 0x06, 0x15, 0x35, 0x45}
            if operation == 0x20:
                assert value % 4 == 0
                assert value < 64
            elif operation != 0x06:
                assert at + 1 + max(yes, no) < len(code)


@BOTH
@given(arguments=st.lists(ARGUMENT, min_size=6, max_size=6))
def test_what_is_refused_is_so_whatever_its_arguments(
    architecture: str, arguments: list[int]
) -> None:
    numbers = kernel_numbers(architecture)
    for name in REFUSED & numbers.keys():
        assert ask(architecture, numbers[name], *arguments) == errno.EPERM


@BOTH
@given(number=st.integers(0, 2000), arguments=st.lists(ARGUMENT, min_size=6, max_size=6))
def test_what_is_not_refused_is_allowed_whatever_its_arguments(
    architecture: str, number: int, arguments: list[int]
) -> None:
    numbers = kernel_numbers(architecture)
    special = {numbers.get(name) for name in REFUSED} | {numbers[name] for name in CHECKED}
    if number not in special | {467}:  # open_tree_attr, newer than many headers
        assert ask(architecture, number, *arguments) == ALLOW


@given(audit=st.integers(0, 2**32 - 1), number=st.integers(0, 2**32 - 1), own=ARCHITECTURE)
def test_other_architectures_have_no_calls(audit: int, number: int, own: str) -> None:
    if audit != AUDIT[own]:
        assert answer(PROGRAMS[own, False], audit, number) == errno.ENOSYS


def test_known_other_architectures_have_no_calls() -> None:
    i386, arm = 0x40000003, 0x40000028
    for own, other in (("x86_64", i386), ("aarch64", arm)):
        for number in range(500):
            assert answer(PROGRAMS[own, False], other, number) == errno.ENOSYS


@given(number=st.integers(0x40000000, 0xFFFFFFFE))
def test_x32_has_no_calls(number: int) -> None:
    assert ask("x86_64", number) == errno.ENOSYS


def test_a_call_that_a_tracer_takes_out_is_left_to_the_kernel() -> None:
    assert ask("x86_64", -1) == ALLOW
    assert ask("aarch64", -1) == ALLOW


@given(architecture=ARCHITECTURE, high=HIGH, fd=ARGUMENT, command=st.integers(0, 2**32 - 1))
def test_typing_into_a_terminal_is_refused_whatever_the_high_bits_are(
    architecture: str, high: int, fd: int, command: int
) -> None:
    for bad in (0x5412, 0x541C):
        assert ask_checked(architecture, "ioctl", fd, bad | high, fd) == errno.EPERM
    if command not in (0x5412, 0x541C):
        assert ask_checked(architecture, "ioctl", fd, command | high, 0x5412) == ALLOW


NAMESPACES = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
TIME_NAMESPACE = 0x80
ORDINARY_CLONES = [
    17,  # fork
    0x4111,  # vfork
    0x3D0F00,  # a thread
    0x01200011,  # glibc's fork
    0x1011,  # with a pidfd
]


@given(
    architecture=ARCHITECTURE,
    new=st.sampled_from(sorted(NAMESPACES.values())),
    flags=ARGUMENT,
    rest=ARGUMENT,
)
def test_no_clone_or_unshare_makes_a_namespace(
    architecture: str, new: int, flags: int, rest: int
) -> None:
    assert ask_checked(architecture, "clone", flags | new, rest) == errno.EPERM
    assert ask_checked(architecture, "unshare", flags | new) == errno.EPERM
    assert ask_checked(architecture, "unshare", flags | TIME_NAMESPACE) == errno.EPERM
    assert ask_checked(architecture, "clone3", flags, rest) == errno.ENOSYS
    harmless = flags & ~sum(NAMESPACES.values())
    assert ask_checked(architecture, "clone", harmless, new, new) == ALLOW


@BOTH
def test_forks_threads_and_private_files_are_allowed(architecture: str) -> None:
    for flags in ORDINARY_CLONES:
        assert ask_checked(architecture, "clone", flags) == ALLOW
    for flags in (0, 0x200, 0x400, 0x40000, 0x600):
        assert ask_checked(architecture, "unshare", flags) == ALLOW


@given(architecture=ARCHITECTURE, family=st.integers(0, 2**32 - 1), high=HIGH, rest=ARGUMENT)
def test_only_four_families_have_sockets(
    architecture: str, family: int, high: int, rest: int
) -> None:
    for name in ("socket", "socketpair"):
        for good in (1, 2, 10, 16):
            assert ask_checked(architecture, name, good | high, rest, rest) == ALLOW
        for bad in {family, 0, 17, 31, 38, 40} - {1, 2, 10, 16}:
            wanted = errno.EAFNOSUPPORT
            assert ask_checked(architecture, name, bad | high, rest, rest) == wanted


@given(architecture=ARCHITECTURE, high=HIGH, persona=st.integers(1, 0xFFFFFFFE))
def test_only_the_ordinary_personality_is_allowed(
    architecture: str, high: int, persona: int
) -> None:
    assert ask_checked(architecture, "personality", high) == ALLOW
    assert ask_checked(architecture, "personality", 0xFFFFFFFF | high) == ALLOW
    assert ask_checked(architecture, "personality", persona | high) == errno.EPERM


def test_an_unknown_architecture_is_an_error_that_names_the_mend() -> None:
    with pytest.raises(PrerequisiteError, match=r"riscv64.*: run expbench on a machine with"):
        seccomp.program("riscv64")


def test_the_description_names_every_refused_call() -> None:
    words = set(re.findall(r"\w+", " ".join(seccomp.describe())))
    assert {*REFUSED, "clone", "clone3", "unshare", "ioctl", "personality", "socket"} <= words


# --- in real sandboxes ---------------------------------------------------------------------------

USERS = [
    pytest.param("ordinary", id="ordinary"),
    pytest.param("root", marks=pytest.mark.skipif(os.geteuid() != 0, reason="not root"), id="root"),
]
NATIVE = platform.machine()
BASE = Path(sys.base_prefix).resolve()
PYTHON = BASE / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def sandbox(
    user: str,
    program: bytes | None,
    argv: Sequence[str],
    *,
    packages: Path | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a command in a sandbox with or without a filter.

    As ``root`` it keeps what bubblewrap leaves root with, so that more calls have a control.
    """
    sources = {"base": BASE} | ({"packages": packages} if packages else {})
    places = bubblewrap.staged(sources) if user == "ordinary" else sources
    mounts = [
        "--ro-bind",
        "/usr",
        "/usr",
        "--ro-bind-try",
        "/etc/alternatives",
        "/etc/alternatives",
    ]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        top = Path("/", name)
        if top.is_symlink():
            mounts += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            mounts += ["--ro-bind", str(top), str(top)]
    if not BASE.is_relative_to("/usr"):
        mounts += ["--ro-bind", str(places["base"]), str(BASE)]
    if packages:
        mounts += ["--ro-bind", str(places["packages"]), "/opt/packages"]
    mounts += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]
    variables = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "OMP_NUM_THREADS": "2"}
    settings = [text for pair in variables.items() for text in ("--setenv", *pair)]
    fds: list[int] = []
    flags = ["--unshare-all", "--die-with-parent", "--clearenv", *settings]
    if program is not None:
        fds.append(os.memfd_create("filter"))
        os.write(fds[0], program)
        os.lseek(fds[0], 0, os.SEEK_SET)
        flags += ["--seccomp", str(fds[0])]
    whole = [bubblewrap.find(), *flags, *mounts, "--", *argv]
    try:
        return subprocess.run(
            bubblewrap.command(sources, whole) if user == "ordinary" else whole,
            pass_fds=fds,
            env={},
            cwd="/",
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
            check=False,
        )
    finally:
        for fd in fds:
            os.close(fd)


@pytest.fixture(scope="module")
def works() -> None:
    if NATIVE not in AUDIT:
        pytest.skip(f"no filter for {NATIVE}")
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        pytest.skip(f"no bubblewrap sandbox on this machine: {error}")


EPERM, ENOSYS, NO_FAMILY = errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT
FORK = 17
NONE = "/nonexistent"
TIOCSTI = 0x5412

# Name, then number on x86_64 and on aarch64, arguments, and the errno with the filter. Strings are
# given as pointers to them, "pty" is a terminal of the probe's own. Arguments are such that a
# call that gets through harms nothing, also as root.
Probe = tuple[str, int, int | None, list[Any], int]
PROBES: list[Probe] = [
    ("add_key", 248, 217, ["user", "probe", "x", 1, -2], EPERM),
    ("request_key", 249, 218, ["user", "probe", 0, 0], EPERM),
    ("keyctl", 250, 219, [9999, 0, 0], EPERM),
    ("bpf", 321, 280, [9999, 0, 0], EPERM),
    ("perf_event_open", 298, 241, [0, 0, -1, -1, 0], EPERM),
    ("userfaultfd", 323, 282, [1], EPERM),
    ("io_uring_setup", 425, 425, [1, 0], EPERM),
    ("io_uring_enter", 426, 426, [-1, 0, 0, 0, 0], EPERM),
    ("io_uring_register", 427, 427, [-1, 0, 0, 0], EPERM),
    ("mount", 165, 40, ["none", NONE, "tmpfs", 0, 0], EPERM),
    ("umount2", 166, 39, [NONE, 0], EPERM),
    ("pivot_root", 155, 41, [NONE, NONE], EPERM),
    ("chroot", 161, 51, [NONE], EPERM),
    ("move_mount", 429, 429, [-1, NONE, -1, NONE, 0], EPERM),
    ("open_tree", 428, 428, [-1, NONE, 0], EPERM),
    ("open_tree_attr", 467, 467, [-1, NONE, 0, 0, 0], EPERM),
    ("fsopen", 430, 430, ["nonexistent", 0], EPERM),
    ("fsconfig", 431, 431, [-1, 99, 0, 0, 0], EPERM),
    ("fsmount", 432, 432, [-1, 0, 0], EPERM),
    ("fspick", 433, 433, [-1, NONE, 0], EPERM),
    ("mount_setattr", 442, 442, [-1, NONE, 0, 0, 0], EPERM),
    ("setns", 308, 268, [-1, 0], EPERM),
    ("open_by_handle_at", 304, 265, [-1, 0, 0], EPERM),
    ("kexec_load", 246, 104, [0, 1 << 30, 0, 0], EPERM),
    ("kexec_file_load", 320, 294, [-1, -1, 0, 0, -1], EPERM),
    ("reboot", 169, 142, [0, 0, 0, 0], EPERM),
    ("init_module", 175, 105, [0, 0, 0], EPERM),
    ("finit_module", 313, 273, [-1, "", 0], EPERM),
    ("delete_module", 176, 106, ["nonexistent", 0], EPERM),
    ("syslog", 103, 116, [10, 0, 0], EPERM),
    ("quotactl", 179, 60, [-1, 0, 0, 0], EPERM),
    ("quotactl_fd", 443, 443, [-1, 0, 0, 0], EPERM),
    ("acct", 163, 89, [NONE], EPERM),
    ("swapon", 167, 224, [NONE, 0], EPERM),
    ("swapoff", 168, 225, [NONE], EPERM),
    ("settimeofday", 164, 170, [1, 0], EPERM),
    ("clock_settime", 227, 112, [9999, 0], EPERM),
    ("adjtimex", 159, 171, [0], EPERM),
    ("clock_adjtime", 305, 266, [9999, 0], EPERM),
    ("iopl", 172, None, [4], EPERM),
    ("ioperm", 173, None, [0, 0, 0], EPERM),
    ("modify_ldt", 154, None, [99, 0, 0], EPERM),
    ("personality", 135, 92, [0x40000], EPERM),
    ("personality-dirty", 135, 92, [0x40000 | 1 << 40], EPERM),
    ("clone3", 435, 435, [0, 0], ENOSYS),
    *(
        (f"clone-{name}", 56, 220, [new | FORK, 0, 0, 0, 0], EPERM)
        for name, new in NAMESPACES.items()
    ),
    ("clone-user-dirty", 56, 220, [0x10000000 | FORK | 1 << 40, 0, 0, 0, 0], EPERM),
    *((f"unshare-{name}", 272, 97, [new], EPERM) for name, new in NAMESPACES.items()),
    ("unshare-time", 272, 97, [TIME_NAMESPACE], EPERM),
    ("tiocsti", 16, 29, ["pty", TIOCSTI, "x"], EPERM),
    ("tiocsti-dirty", 16, 29, ["pty", TIOCSTI | 1 << 32, "x"], EPERM),
    ("tiocsti-dirtier", 16, 29, ["pty", TIOCSTI | 0xFFFFFFFF << 32, "x"], EPERM),
    ("tioclinux", 16, 29, ["pty", 0x541C, "\x06"], EPERM),
    ("socket-vsock", 41, 198, [40, 1, 0], NO_FAMILY),
    ("socket-alg", 41, 198, [38, 5, 0], NO_FAMILY),
    ("socket-packet", 41, 198, [17, 3, 0], NO_FAMILY),
    ("socket-vsock-dirty", 41, 198, [40 | 1 << 33, 1, 0], NO_FAMILY),
    ("socketpair-vsock", 53, 199, [40, 1, 0, 0], NO_FAMILY),
]
WITHOUT_CONTROL: list[Probe] = [
    ("vhangup", 153, 58, [], EPERM),
    ("nfsservctl", 180, 42, [0, 0, 0], EPERM),
    ("lookup_dcookie", 212, 18, [0, 0, 0], EPERM),
]
"""No harmless control, or gone from the kernel."""
ALLOWED: list[Probe] = [
    ("clone-fork", 56, 220, [FORK, 0, 0, 0, 0], ALLOW),
    ("unshare-files", 272, 97, [0x600], ALLOW),
    ("personality-asked", 135, 92, [0xFFFFFFFF], ALLOW),
    ("personality-ordinary", 135, 92, [0], ALLOW),
    ("ioctl-window", 16, 29, ["pty", 0x5413, " " * 8], ALLOW),
    ("socket-unix", 41, 198, [1, 1, 0], ALLOW),
    ("socket-inet", 41, 198, [2, 1, 0], ALLOW),
    ("socket-netlink", 41, 198, [16, 3, 0], ALLOW),
]

RUN_PROBES = """\
import ctypes, json, os, sys

libc = ctypes.CDLL(None, use_errno=True)

def call(name, number, arguments):
    if "pty" in arguments:
        os.setsid()
        terminal = os.open(os.ttyname(os.openpty()[1]), os.O_RDWR)
    given = []
    for each in arguments:
        if each == "pty":
            given.append(ctypes.c_long(terminal))
        elif isinstance(each, str):
            given.append(ctypes.create_string_buffer(each.encode()))
        else:
            given.append(ctypes.c_long(each))
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *given)
    failed = ctypes.get_errno() if result == -1 else 0
    if name.startswith("clone") and result == 0:
        os._exit(0)
    return failed

answers = {}
for name, number, arguments in json.load(sys.stdin):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, str(call(name, number, arguments)).encode())
        os._exit(0)
    os.close(writing)
    answers[name] = int(os.read(reading, 10) or -1)
    os.close(reading)
    os.wait()
json.dump(answers, sys.stdout)
"""

Answers = Callable[[str, bool], dict[str, int]]


@pytest.fixture(scope="module")
def answers(works: None) -> Answers:
    """The errno of every probe, for a user and with or without the filter; each asked once."""
    asked: dict[tuple[str, bool], dict[str, int]] = {}

    def probes(which: list[Probe]) -> list[tuple[str, int, list[Any]]]:
        column = COLUMN[NATIVE] + 1
        return [
            (probe[0], number, probe[3])
            for probe in which
            if isinstance(number := probe[column], int)
        ]

    def run(user: str, filtered: bool) -> dict[str, int]:
        if (user, filtered) not in asked:
            which = [*PROBES, *ALLOWED, *(WITHOUT_CONTROL if filtered else [])]
            program = seccomp.program() if filtered else None
            argv = [str(PYTHON), "-I", "-S", "-c", RUN_PROBES]
            done = sandbox(user, program, argv, stdin=json.dumps(probes(which)))
            assert done.returncode == 0, done.stderr
            asked[user, filtered] = json.loads(done.stdout)
        return asked[user, filtered]

    return run


@pytest.mark.parametrize("user", USERS)
def test_a_sandbox_refuses_what_the_filter_names(answers: Answers, user: str) -> None:
    wanted = {probe[0]: probe[4] for probe in (*PROBES, *WITHOUT_CONTROL)}
    got = answers(user, True)
    assert len(got) > len(wanted) / 2
    assert {name: got[name] for name in wanted if name in got} == {
        name: error for name, error in wanted.items() if name in got
    }


@pytest.mark.parametrize("user", USERS)
def test_the_same_calls_get_through_without_the_filter(answers: Answers, user: str) -> None:
    """A control for the refusals: the kernel says something else, or does it.

    Only of calls that no usual kernel refuses to this user by itself, with the very same errno.
    """
    free = {
        *("add_key", "request_key", "keyctl", "perf_event_open", "userfaultfd", "chroot", "setns"),
        *("io_uring_enter", "io_uring_register", "open_tree", "fsconfig", "clone3", "clone-user"),
        *("clone-user-dirty", "unshare-user", "personality", "personality-dirty"),
        *("tiocsti", "tiocsti-dirty", "tiocsti-dirtier", "socket-packet"),
    }
    if user == "root":
        free |= {"mount", "umount2", "pivot_root", "move_mount", "fsopen", "fsmount", "fspick"}
        free |= {probe[0] for probe in PROBES if probe[0].startswith(("clone-", "unshare-"))}
    wanted = {probe[0]: probe[4] for probe in PROBES}
    control = answers(user, False)
    assert {name for name in free if control[name] == wanted[name]} == set()
    done = {name for name in free if control[name] == 0}
    assert {"clone-user", "clone-user-dirty", "unshare-user", "personality"} <= done


@pytest.mark.parametrize("user", USERS)
def test_a_sandbox_allows_what_looks_alike(answers: Answers, user: str) -> None:
    names = [probe[0] for probe in ALLOWED]
    for filtered in (False, True):
        got = answers(user, filtered)
        assert {name: got[name] for name in names} == dict.fromkeys(names, 0)


INT_80 = """\
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20; int 0x80; ret: getpid of i386
where = ctypes.addressof(ctypes.c_char.from_buffer(code))
print(ctypes.CFUNCTYPE(ctypes.c_int)(where)())
"""


@pytest.mark.skipif(NATIVE != "x86_64", reason="only x86_64 has this door")
@pytest.mark.parametrize("user", USERS)
def test_the_door_for_32_bit_programs_is_shut(works: None, user: str) -> None:
    argv = [str(PYTHON), "-I", "-S", "-c", INT_80]
    control = sandbox(user, None, argv)
    if control.returncode != 0:
        pytest.skip("this kernel has no door for 32-bit programs")
    assert int(control.stdout) > 0
    assert int(sandbox(user, seccomp.program(), argv).stdout) == -errno.ENOSYS


@pytest.mark.parametrize("user", USERS)
def test_pinned_processors_stay_pinned(works: None, user: str) -> None:
    code = "import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); print('free')"
    argv = [str(PYTHON), "-I", "-S", "-c", code]
    assert sandbox(user, seccomp.program(), argv).stdout == "free\n"
    pinned = sandbox(user, seccomp.program(pin_cpus=True), argv)
    assert pinned.returncode != 0
    assert "PermissionError" in pinned.stderr
    threads = "import threading as t; x = t.Thread(target=print, args=['ran']); x.start(); x.join()"
    argv = [str(PYTHON), "-I", "-S", "-c", threads]
    assert sandbox(user, seccomp.program(pin_cpus=True), argv).stdout == "ran\n"


@pytest.mark.parametrize("user", USERS)
def test_limits_of_other_processes_are_left_alone(works: None, user: str) -> None:
    """What has the supervisor's uid could else take its processes, files and memory."""
    code = (
        "import os, resource as r; limit = r.getrlimit(r.RLIMIT_NOFILE); "
        "r.setrlimit(r.RLIMIT_NOFILE, limit); print('own', flush=True); "
        "r.prlimit(os.getppid(), r.RLIMIT_NOFILE, limit); print('other', flush=True)"
    )
    child = f"import os\nif os.fork() == 0: exec({code!r}); os._exit(0)\nos.wait()"
    argv = [str(PYTHON), "-I", "-S", "-c", child]
    assert sandbox(user, None, argv).stdout == "own\nother\n"
    filtered = sandbox(user, seccomp.program(), argv)
    assert filtered.stdout == "own\n" and "PermissionError" in filtered.stderr


@pytest.mark.parametrize("user", USERS)
def test_memory_that_nobody_maps_is_refused_where_a_watch_holds_it(works: None, user: str) -> None:
    argv = [str(PYTHON), "-I", "-S", "-c", "import os; os.memfd_create('x'); print('made')"]
    assert sandbox(user, seccomp.program(), argv).stdout == "made\n"
    assert "not implemented" in sandbox(user, seccomp.program(mapped_only=True), argv).stderr


PROGRAMS_THAT_GO_ON = {
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(abs, range(100))) == 4950
    """,
    "multiprocessing": """
        import multiprocessing
        for kind in ("fork", "forkserver", "spawn"):
            with multiprocessing.get_context(kind).Pool(2) as pool:
                assert pool.map(abs, [-1, -2]) == [1, 2], kind
    """,
    "subprocess": """
        import subprocess
        for options in ({}, {"close_fds": False}, {"start_new_session": True}):
            assert subprocess.check_output(["/bin/echo", "said"], **options) == b"said\\n"
        assert subprocess.getoutput("echo a | tr a b; (sleep 0.01; echo c) & wait") == "b\\nc"
    """,
    "asyncio": """
        import asyncio
        async def main():
            async def serve(reader, writer):
                writer.write(await reader.readline())
                writer.close()
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"back\\n")
            assert await reader.readline() == b"back\\n"
            child = await asyncio.create_subprocess_exec("/bin/true")
            assert await child.wait() == 0
        asyncio.run(main())
    """,
    "interfaces": """
        import socket
        assert "lo" in [name for _, name in socket.if_nameindex()]
    """,
    "terminals": """
        import pty
        said = []
        def read(fd):
            import os
            said.append(os.read(fd, 1024))
            return said[-1]
        assert pty.spawn(["/bin/sh", "-c", "stty size; test -t 0 && echo terminal"], read) == 0
        assert b"terminal" in b"".join(said)
    """,
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", sorted(PROGRAMS_THAT_GO_ON))
def test_ordinary_python_goes_on_working(works: None, user: str, name: str) -> None:
    lines = PROGRAMS_THAT_GO_ON[name].splitlines()
    code = "if __name__ == '__main__':\n" + "\n".join(lines) + "\n        print('done')"
    write = f"from pathlib import Path; Path('/tmp/program.py').write_text({code!r})"
    script = f'{PYTHON} -I -S -c "$1" && exec {PYTHON} /tmp/program.py'
    argv = ["/bin/sh", "-c", script, "sh", write]
    done = sandbox(user, seccomp.program(), argv)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr


COMMANDS_THAT_GO_ON = {
    "bash": "set -e; f() { echo $(($1 * 2)); }; test $(f 21) = 42; cat <(echo x) | grep -q x; "
    "ulimit -n 100; set -m; sleep 5 & kill %1; wait || true; echo done",
    "git": "set -e; git init -q r; cd r; echo a > a; git add a; "
    "git -c user.name=a -c user.email=a@example.org commit -qm a; git gc -q; "
    "git clone -q . ../s; git -C ../s log --oneline | grep -q a; echo done",
    "gcc": "set -e; printf '#include <pthread.h>\\n#include <stdio.h>\\n"
    'static void *run(void *x) { puts("done"); return x; }\\n'
    "int main(void) { pthread_t t; if (pthread_create(&t, 0, run, 0)) return 1; "
    "return pthread_join(t, 0); }' > a.c; gcc -pthread a.c -o a; ./a",
    "strace": "set -e; strace -f -o log /bin/sh -c '/bin/true; /bin/echo done'; grep -q execve log",
    "tar": "set -e; mkdir d; echo a > d/a; tar czf d.tgz d; tar xzf d.tgz; xargs -n1 < d/a; echo done",
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", sorted(COMMANDS_THAT_GO_ON))
def test_ordinary_commands_go_on_working(works: None, user: str, name: str) -> None:
    if shutil.which(name, path="/usr/bin:/bin") is None:
        pytest.skip(f"{name} is not installed")
    done = sandbox(user, seccomp.program(), ["/bin/bash", "-c", COMMANDS_THAT_GO_ON[name]])
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr


@pytest.mark.parametrize("user", USERS)
def test_numpy_goes_on_working(works: None, user: str) -> None:
    numpy = pytest.importorskip("numpy")
    packages = Path(numpy.__file__).resolve().parent.parent
    code = (
        "import sys; sys.path.insert(0, '/opt/packages'); import numpy as np; "
        "a = np.random.default_rng(0).normal(size=(300, 300)); "
        "assert np.allclose(a @ np.linalg.inv(a), np.eye(300)); print('done')"
    )
    argv = [str(PYTHON), "-I", "-c", code]
    done = sandbox(user, seccomp.program(pin_cpus=True), argv, packages=packages)
    assert done.stdout == "done\n", done.stderr
