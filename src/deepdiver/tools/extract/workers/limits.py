"""The limits of a worker: memory, time, no writing, no sockets, no new programs."""

from __future__ import annotations

import ctypes
import platform
import signal
import struct
import sys

if sys.platform != "win32":
    import resource

LARGEST_FILE = 50_000_000
"""Bytes of one file. A larger one is a collection of pictures or a data dump, not a document."""
LARGEST_ANSWER = 16_000_000
"""Bytes of an answer. The text of a document is at most half of that."""
MEMORY = 240 * 2**20
"""Bytes of memory of a worker, including the code of Python and the parsers."""
_LEAST = 64 * 2**20
"""Bytes of memory that a worker may always add to what it has."""
CPU_SECONDS = 7
WALL_SECONDS = 7.5
"""Seconds from fork to answer. With the time to transfer a file, it stays below ten."""
FILES = 64
NICENESS = 10
"""The user's own work comes first."""

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050001
"""Makes the call fail with EPERM."""
_SYSCALLS = {
    # audit architecture; connect, execve, execveat, io_uring_setup, ptrace, socket, socketpair
    "x86_64": (0xC000003E, (42, 59, 322, 425, 101, 41, 53)),
    "aarch64": (0xC00000B7, (203, 221, 281, 425, 117, 198, 199)),
}


def confine() -> None:
    """Apply the limits to this process, irrevocably, as far as the system supports them."""
    if sys.platform == "win32":
        return
    for what, most in (
        (resource.RLIMIT_DATA, _data()),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, FILES),
    ):
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))
    if sys.platform == "linux":
        _without_network()


def _data() -> int:
    """Return the limit on data with which this process uses no more memory than `MEMORY`.

    Data counts when it is allocated, memory when it is used: the limit is the data allocated until
    now, plus the memory that is left.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = [int(number) for number in file.read().split()]
    except OSError:
        return MEMORY
    page = resource.getpagesize()
    return page * pages[5] + max(MEMORY - page * pages[1], _LEAST)


def die_with_parent() -> None:
    """On Linux, have this process killed when its parent ends, however that ends.

    The signal comes when the *thread* that started the process ends, so this works only for forks
    of a process with a single thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _without_network() -> None:
    """Have the kernel refuse sockets and new programs, even from C code."""
    known = _SYSCALLS.get(platform.machine())
    if known is None:
        return
    code = syscall_filter(*known)
    buffer = ctypes.create_string_buffer(code, len(code))
    libc = ctypes.CDLL(None, use_errno=True)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    described = Program(len(code) // 8, ctypes.addressof(buffer))
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0)


def syscall_filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Return a seccomp filter that refuses some system calls, and all of other architectures.

    An instruction is (code, jump if true, jump if false, value). The first one loads the
    architecture, the third one the number of the call.
    """
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    refuse_at = 4 + len(refused)
    steps = [(load, 0, 0, 4), (equal, 0, refuse_at - 1, architecture), (load, 0, 0, 0)]
    steps += [(at_least, refuse_at - 3, 0, 0x40000000)]  # x32: the same calls under other numbers
    steps += [(equal, refuse_at - 4 - at, 0, number) for at, number in enumerate(refused)]
    steps += [(give, 0, 0, _ALLOW), (give, 0, 0, _REFUSE)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
