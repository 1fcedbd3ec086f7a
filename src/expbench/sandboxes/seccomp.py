"""The system calls that a sandbox refuses: a seccomp program for ``bwrap --seccomp FD``.

Namespaces take privileges away, this takes surface of the shared kernel away: what no experiment needs
and what ways out were built from. All else is allowed, and what is refused fails with an errno and
kills nothing, as programs expect of a kernel that has not got it or a user who may not.

Allowed on purpose: ``ptrace`` and ``process_vm_readv``/``writev``, for debuggers, profilers and leak
sanitizers, which reach no process outside the process namespace and not our supervisor, which is not
dumpable (kernels since 4.8 filter a call after its tracer has changed it); and ``name_to_handle_at``,
whose handle is only a number as long as it cannot be opened.

The program looks at a call's number and arguments as numbers, never through pointers. ``clone3`` takes
its flags through one, so it does not exist here, and C libraries fall back to ``clone``. Arguments that
the kernel takes as 32 bits are compared as 32 bits: whoever compares 64 is passed by setting a high bit.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.errors import PrerequisiteError

_HERE = platform.machine()

_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
"""Numbers on x86_64 and on aarch64; ``None``: that architecture has no such call."""

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the table, and what the kernel calls the architecture (``AUDIT_ARCH_…``)."""

_REFUSED = {
    "keys of the kernel, which namespaces do not separate": "add_key request_key keyctl",
    "programs, counters and page faults": "bpf perf_event_open userfaultfd lookup_dcookie",
    "a second way to make calls": "io_uring_setup io_uring_enter io_uring_register",
    "mounts and roots": "mount umount2 pivot_root chroot",
    "mounts by descriptor": "move_mount open_tree open_tree_attr mount_setattr",
    "file systems by descriptor": "fsopen fsconfig fsmount fspick",
    "files by handle, past all mounts": "open_by_handle_at",
    "entering namespaces": "setns",
    "other kernels": "kexec_load kexec_file_load reboot",
    "modules": "init_module finit_module delete_module",
    "log, quotas, accounts and servers": "syslog quotactl quotactl_fd acct nfsservctl",
    "swap": "swapon swapoff",
    "hanging up terminals": "vhangup",
    "clocks": "settimeofday clock_settime adjtimex clock_adjtime",
    "ports and segments of the processor": "iopl ioperm modify_ldt",
}
"""Calls that fail with EPERM whatever their arguments are, by what they are about."""

_UNMAPPED = ("memfd_create", "memfd_secret", "shmget")
"""Calls that make memory which need not be mapped; programs go on without them."""
_NEW_NAMESPACES = 0x7E02_0000
"""``CLONE_NEWNS``, ``CGROUP``, ``UTS``, ``IPC``, ``USER``, ``PID`` and ``NET``."""
_UNSHARED = 0x0005_0F00
"""What ``unshare`` may part a process from: memory, directory, files, signals, threads, semaphores."""
_TERMINALS = (0x5412, 0x541C)
"""``TIOCSTI`` and ``TIOCLINUX``, which type into a terminal for whoever reads it next."""
_FAMILIES = (1, 2, 10, 16)
"""``AF_UNIX``, ``AF_INET``, ``AF_INET6``, ``AF_NETLINK``."""
_PERSONALITIES = (0, 0xFFFF_FFFF)
"""The ordinary one, and the question which one it is."""

_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000  # SECCOMP_RET_…
_LOAD, _RETURN = 0x20, 0x06  # BPF_LD | BPF_W | BPF_ABS, BPF_RET | BPF_K
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP | BPF_K | BPF_JEQ, BPF_JGE, BPF_JSET
_X32 = 0x4000_0000
_NO_CALL = 0xFFFF_FFFF


@dataclass(frozen=True)
class _Instruction:
    """One ``struct sock_filter``; ``yes`` and ``no`` are how many to pass over after a test."""

    code: int
    value: int
    yes: int = 0
    no: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.yes, self.no, self.value)


_Block = list[_Instruction]
_ALLOWED: _Block = [_Instruction(_RETURN, _ALLOW)]


def program(architecture: str = _HERE, pin_cpus: bool = False, mapped_only: bool = False) -> bytes:
    """The filter: an array of ``struct sock_filter``, as ``bwrap --seccomp`` reads it.

    Args:
        architecture: as ``uname -m`` says it.
        pin_cpus: the processors that a sandbox runs on are one of its limits: it may not choose others.
        mapped_only: its memory is held by who looks at what processes map: there may be no other.

    Raises:
        PrerequisiteError: there is no table of system calls for the architecture.
    """
    if architecture not in _ARCHITECTURES:
        raise PrerequisiteError(
            f"The sandbox's filter of system calls knows {' and '.join(_ARCHITECTURES)} but not "
            f"{architecture}: run expbench on a machine with one of these processors."
        )
    column, audit = _ARCHITECTURES[architecture]
    # Other architectures' calls have other numbers, which the filter would take for harmless ones.
    block = [_Instruction(_LOAD, _ARCHITECTURE), *_unless_equal([audit], errno.ENOSYS)]
    block.append(_Instruction(_LOAD, _NUMBER))
    if architecture == "x86_64":
        block += _without_x32()
    refused = [name for names in _REFUSED.values() for name in names.split()]
    if pin_cpus:
        refused.append("sched_setaffinity")
    bodies = {**_checks(), **{name: _failing(errno.EPERM) for name in refused}}
    if mapped_only:
        bodies |= {name: _failing(errno.ENOSYS) for name in _UNMAPPED}
    for name, body in bodies.items():
        if (number := _NUMBERS[name][column]) is not None:
            block += [_Instruction(_EQUAL, number, no=len(body)), *body]
    return b"".join(each.packed() for each in block + _ALLOWED)


def describe() -> tuple[str, ...]:
    """What the filter refuses, one line of words for each kind."""
    return (
        *(f"{what}: {names.replace(' ', ', ')} (EPERM)" for what, names in _REFUSED.items()),
        "new namespaces: clone with CLONE_NEW… and unshare with the like (EPERM), clone3 (ENOSYS)",
        "typing into terminals: ioctl with TIOCSTI or TIOCLINUX (EPERM)",
        "personality, but for 0 and asking (EPERM)",
        "socket and socketpair of families other than unix, inet, inet6, netlink (EAFNOSUPPORT)",
        "calls of other architectures, such as 32-bit programs' and x32 (ENOSYS)",
        "where processors are held by affinity: sched_setaffinity (EPERM)",
    )


def _checks() -> dict[str, _Block]:
    """What to do about the calls whose arguments matter."""
    families = [_argument(0), *_unless_equal(_FAMILIES, errno.EAFNOSUPPORT), *_ALLOWED]
    return {
        "clone": [_argument(0), *_if_any_bit(_NEW_NAMESPACES, errno.EPERM), *_ALLOWED],
        "unshare": [_argument(0), *_if_any_bit(~_UNSHARED & 0xFFFF_FFFF, errno.EPERM), *_ALLOWED],
        "clone3": _failing(errno.ENOSYS),
        "ioctl": [
            _argument(1),
            _Instruction(_EQUAL, _TERMINALS[0], yes=1),
            _Instruction(_EQUAL, _TERMINALS[1], no=1),
            *_failing(errno.EPERM),
            *_ALLOWED,
        ],
        # What has the supervisor's uid could else set the supervisor's own limits.
        "prlimit64": [_argument(0), *_unless_equal([0], errno.EPERM), *_ALLOWED],
        "personality": [_argument(0), *_unless_equal(_PERSONALITIES, errno.EPERM), *_ALLOWED],
        "socket": families,
        "socketpair": families,
    }


def _without_x32() -> _Block:
    """The second ABI of x86_64, with numbers of its own, is absent, as most kernels have it.

    A number of -1 is left to the kernel: that is how tracers skip a call and answer it themselves.
    """
    return [
        _Instruction(_EQUAL, _NO_CALL, yes=2),
        _Instruction(_AT_LEAST, _X32, no=1),
        *_failing(errno.ENOSYS),
    ]


def _argument(index: int) -> _Instruction:
    """Load the low 32 bits of an argument; both architectures are little-endian."""
    return _Instruction(_LOAD, _ARGUMENTS + 8 * index)


def _failing(number: int) -> _Block:
    return [_Instruction(_RETURN, _ERRNO | number)]


def _unless_equal(values: Sequence[int], number: int) -> _Block:
    """Fail unless what is loaded is one of the values."""
    count = len(values)
    tests = [_Instruction(_EQUAL, value, yes=count - n) for n, value in enumerate(values)]
    return [*tests, *_failing(number)]


def _if_any_bit(mask: int, number: int) -> _Block:
    """Fail if what is loaded has any of the mask's bits."""
    return [_Instruction(_ANY_BIT, mask, no=1), *_failing(number)]
