"""The system calls that an execution may make: for each the program that needs it and, where it
takes flags or an operation, those that are permitted.

Isolation is data here, and `seccomp` makes the filter from it. What no program needs is left out,
because each flag and operation is code of the kernel that a program could attack:

| left out | why |
|---|---|
| fadvise64, MADV_PAGEOUT, MADV_COLD, MADV_COLLAPSE | change the page cache: later runs notice |
| MSG_OOB | CVE-2025-38236, on Unix sockets |
| futexes with priority inheritance | CVE-2014-3153, CVE-2021-3347 |
| MADV_MERGEABLE | merged pages tell the contents of other processes' memory |
| threads with descriptors of their own, CLOSE_RANGE_UNSHARE | each has a limit of its own |
| O_DIRECT | a pipe then keeps each write apart, and the reader reads each alone |
| sendfile, vmsplice and their like | put pages of the page cache into pipes: CVE-2022-0847 |
| SIGKILL to itself | would look as if the machine had killed the program |
| clocks and timers of CPU time | CVE-2025-38352 |
"""

from __future__ import annotations

import errno
import resource
import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class Is:
    """The low 32 bits of an argument have this value. Enough for types of 32 bits."""

    argument: int
    value: int


@dataclass(frozen=True)
class IsNot:
    """The low 32 bits of an argument have another value than this."""

    argument: int
    value: int


@dataclass(frozen=True)
class IsOneOf:
    """The low 32 bits of an argument, without some bits that do not matter, are one of these."""

    argument: int
    values: tuple[int, ...]
    ignored: int = 0


@dataclass(frozen=True)
class HasOnly:
    """The low 32 bits of an argument have no other bits than these flags."""

    argument: int
    flags: int


@dataclass(frozen=True)
class HasOnlyOpenFlags:
    """The low 32 bits of an argument have no other bits than the machine's `OPEN_FLAGS`."""

    argument: int


@dataclass(frozen=True)
class AtMost:
    """The low 32 bits of an argument, as an unsigned number, are not above a value."""

    argument: int
    value: int


@dataclass(frozen=True)
class IsNull:
    """All 64 bits of an argument are 0."""

    argument: int


@dataclass(frozen=True)
class IsOwnPid:
    """The argument is the pid of the process itself."""

    argument: int


@dataclass(frozen=True)
class IsGate:
    """All 64 bits of an argument are the number that was drawn for the child, see `gate.Gate`."""

    argument: int


Condition = Is | IsNot | IsOneOf | HasOnly | HasOnlyOpenFlags | AtMost | IsNull | IsOwnPid | IsGate
Alternative = tuple[Condition, ...]
"""Conditions on the arguments of a call, all of which must hold."""


@dataclass(frozen=True)
class SystemCall:
    """A call that is permitted, or of which some uses are."""

    x86_64: int | None
    """Number on x86-64; None where the architecture has no such call."""
    aarch64: int | None
    needed_by: str
    """A program, library or function that makes the call."""
    permitted: tuple[Alternative, ...] = ((),)
    """The call is permitted if one alternative holds. One without conditions always does."""
    error: int = errno.EPERM
    """Error of a use that is not permitted."""


# Numbers below are those of the kernel's headers, equal on both architectures unless they say so.
# Those of Python's modules would be of the machine that this runs on.
_OPEN_COMMON = 0o2000000 | 0o4010000 | 0o4000 | 0o2000 | 0o1000 | 0o400 | 0o200 | 0o100 | 0o3
# CLOEXEC, SYNC with DSYNC, NONBLOCK, APPEND, TRUNC, NOCTTY, EXCL, CREAT, the access mode
_O_TMPFILE = 0o20000000
OPEN_FLAGS = {
    "x86_64": _OPEN_COMMON | _O_TMPFILE | 0o400000 | 0o200000 | 0o100000,
    "aarch64": _OPEN_COMMON | _O_TMPFILE | 0o400000 | 0o100000 | 0o40000,
}
"""Permitted flags of open(2). The last three are NOFOLLOW, DIRECTORY and LARGEFILE, in the order of
each architecture. Left out: DIRECT, ASYNC, NOATIME, PATH."""

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000

_CLONE_OF_GLIBC = 0x3D0F00
# VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID
_CLONE_OF_MUSL = 0x7D0F00  # DETACHED as well, which the kernel ignores

_PROT = 0x01000017  # READ, WRITE, EXEC; BTI of aarch64; GROWSDOWN for a stack with code
_MAP = 0x02D873
# SHARED, PRIVATE, FIXED, ANONYMOUS, 32BIT, DENYWRITE, EXECUTABLE, NORESERVE, POPULATE, STACK
_MREMAP = 0x1  # MAYMOVE
_MADVICE = (0, 1, 2, 3, 4, 8, 14, 15)
# NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE
_MSYNC = 0x7  # ASYNC, INVALIDATE, SYNC
_FUTEX_OPTIONS = 0x180  # PRIVATE, CLOCK_REALTIME
_FUTEX = (0, 1, 3, 9)  # WAIT, WAKE, REQUEUE (musl), WAIT_BITSET
_RECEIVE = 0x4162  # PEEK, TRUNC, DONTWAIT, WAITALL, NOSIGNAL
_SEND = 0x4040  # DONTWAIT, NOSIGNAL
_SOL_SOCKET, _SOCKET_OPTIONS = 1, (3, 4, 38, 39)  # TYPE, ERROR, PROTOCOL, DOMAIN
_AF_UNIX, _AF_INET, _AF_INET6, _SOCK_STREAM, _TCP = 1, 2, 10, 1, 6
_ADDRESS_SIZES = (16, 28)
# Of IPv4 and IPv6. A filter cannot read an address, and the end of a Unix pair has names too.
_SET_SOCKET_OPTIONS: dict[int, tuple[int, ...]] = {
    # REUSEADDR, KEEPALIVE, LINGER, REUSEPORT, RCVTIMEO, SNDTIMEO. Not the sizes of buffers, which
    # `loopback` bounds.
    _SOL_SOCKET: (2, 9, 13, 15, 20, 21),
    _TCP: (1, 4, 5, 6),  # NODELAY, KEEPIDLE, KEEPINTVL, KEEPCNT
    41: (26,),  # IPV6_V6ONLY
}
_GET_SOCKET_OPTIONS = {
    **_SET_SOCKET_OPTIONS,
    # and TYPE, ERROR, SNDBUF, RCVBUF, ACCEPTCONN, PROTOCOL, DOMAIN. None of those that name the
    # process at the other end.
    _SOL_SOCKET: (*_SOCKET_OPTIONS, *_SET_SOCKET_OPTIONS[_SOL_SOCKET], 7, 8, 30),
}
_PRCTL = (15, 16)  # PR_SET_NAME, PR_GET_NAME
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_FCNTL = (0, 1, 2, 3, 1030, 1032)
# DUPFD, GETFD, SETFD, GETFL, DUPFD_CLOEXEC, GETPIPE_SZ. No locks: one on a file of the standard
# library, which every execution can open, is a signal to the others.
_F_SETFL = 4
# Clocks of other processes have negative numbers. Any use of one tells whether its process exists.
_LAST_STATIC_CLOCK = 11
_ITIMER_REAL = 0
_ARCH_SET_FS = 0x1002

_OWN: tuple[Alternative, ...] = ((Is(0, 0),), (IsOwnPid(0),))
_STATIC_CLOCK: tuple[Alternative, ...] = ((AtMost(0, _LAST_STATIC_CLOCK),),)

CALLS: dict[str, SystemCall] = {
    # Files that are open
    "read": SystemCall(0, 63, "open().read"),
    "write": SystemCall(1, 64, "print"),
    "readv": SystemCall(19, 65, "os.readv, stdio of musl"),
    "writev": SystemCall(20, 66, "os.writev, stdio of musl, libstdc++"),
    "pread64": SystemCall(17, 67, "os.pread; the zygote's child for its payload"),
    "pwrite64": SystemCall(18, 68, "os.pwrite"),
    "close": SystemCall(3, 57, "open().close"),
    "close_range": SystemCall(436, 436, "os.closerange", ((Is(2, 0),),)),
    "fstat": SystemCall(5, 80, "open"),
    "lseek": SystemCall(8, 62, "open().seek"),
    "dup": SystemCall(32, 23, "os.dup"),
    "dup2": SystemCall(33, None, "os.dup2"),
    "dup3": SystemCall(292, 24, "os.dup2", ((HasOnly(2, _CLOEXEC),),)),
    "fcntl": SystemCall(
        *(72, 25),
        "os.set_blocking, os.dup",
        ((IsOneOf(1, _FCNTL),), (Is(1, _F_SETFL), HasOnlyOpenFlags(2))),
    ),
    "ioctl": SystemCall(16, 29, "os.isatty, socket.setblocking", ((IsOneOf(1, _IOCTL),),)),
    "fsync": SystemCall(74, 82, "os.fsync"),
    "fdatasync": SystemCall(75, 83, "os.fdatasync"),
    "ftruncate": SystemCall(77, 46, "open().truncate"),
    # Files by name
    "open": SystemCall(2, None, "open of musl", ((HasOnlyOpenFlags(1),),)),
    "openat": SystemCall(257, 56, "open", ((HasOnlyOpenFlags(2),),)),
    "stat": SystemCall(4, None, "os.stat of musl and of old glibc"),
    "lstat": SystemCall(6, None, "os.lstat of musl and of old glibc"),
    # EMPTY_PATH, NO_AUTOMOUNT, SYMLINK_NOFOLLOW
    "newfstatat": SystemCall(262, 79, "os.stat", ((HasOnly(3, 0x1900),),)),
    "statx": SystemCall(
        332, 291, "std::filesystem, os.stat on new ports", ((HasOnly(2, 0x1900),),)
    ),
    "access": SystemCall(21, None, "os.access"),
    "faccessat": SystemCall(269, 48, "os.access"),
    # EMPTY_PATH, EACCESS, SYMLINK_NOFOLLOW
    "faccessat2": SystemCall(439, 439, "os.access with options", ((HasOnly(3, 0x1300),),)),
    # Targets of links in /proc tell of files and processes outside. EINVAL says that a path is no
    # link: the C library's realpath asks so about every part of a path, and goes on.
    "readlink": SystemCall(89, None, "os.path.realpath, for its error", (), errno.EINVAL),
    "readlinkat": SystemCall(267, 78, "realpath, for its error", (), errno.EINVAL),
    "getcwd": SystemCall(79, 17, "os.getcwd"),
    "chdir": SystemCall(80, 49, "os.chdir"),
    "fchdir": SystemCall(81, 50, "os.fchdir"),
    "getdents64": SystemCall(217, 61, "os.listdir, import"),
    "mkdir": SystemCall(83, None, "os.mkdir"),
    "mkdirat": SystemCall(258, 34, "os.mkdir"),
    "rmdir": SystemCall(84, None, "os.rmdir"),
    "unlink": SystemCall(87, None, "os.unlink"),
    "unlinkat": SystemCall(263, 35, "os.unlink, shutil.rmtree", ((HasOnly(2, 0x200),),)),
    "rename": SystemCall(82, None, "os.rename"),
    "renameat": SystemCall(264, 38, "os.rename"),
    "umask": SystemCall(95, 166, "os.umask"),
    # Memory
    "mmap": SystemCall(9, 222, "malloc, import, mmap", ((HasOnly(2, _PROT), HasOnly(3, _MAP)),)),
    "mprotect": SystemCall(10, 226, "malloc, threads, ctypes", ((HasOnly(2, _PROT),),)),
    "munmap": SystemCall(11, 215, "free"),
    "mremap": SystemCall(25, 216, "realloc, mmap.resize", ((HasOnly(3, _MREMAP),),)),
    "brk": SystemCall(12, 214, "malloc"),
    "madvise": SystemCall(
        28, 233, "free, end of a thread, numpy, mmap", ((IsOneOf(2, _MADVICE),),)
    ),
    "msync": SystemCall(26, 227, "mmap.flush", ((HasOnly(2, _MSYNC),),)),
    # Threads
    "clone": SystemCall(
        *(56, 220), "threading", ((IsOneOf(0, (_CLONE_OF_GLIBC, _CLONE_OF_MUSL)),),)
    ),
    # The C library tries clone3 first; with ENOSYS it falls back to clone, with EPERM it would
    # start no thread.
    "clone3": SystemCall(435, 435, "threading, which then does with clone", (), errno.ENOSYS),
    "futex": SystemCall(
        *(202, 98),
        "threading, locks of the C library",
        ((IsOneOf(1, _FUTEX, _FUTEX_OPTIONS),),),
    ),
    "set_robust_list": SystemCall(273, 99, "start of a thread"),
    "set_tid_address": SystemCall(218, 96, "start of a program"),
    "rseq": SystemCall(334, 293, "start of a thread", ((HasOnly(2, 0x1),),)),  # UNREGISTER
    "gettid": SystemCall(186, 178, "threading.get_native_id"),
    "sched_yield": SystemCall(24, 124, "os.sched_yield, spin locks"),
    "sched_getaffinity": SystemCall(204, 123, "os.cpu_count", _OWN),
    "getcpu": SystemCall(309, 168, "malloc of some libraries"),
    "exit": SystemCall(60, 93, "end of a thread"),
    "exit_group": SystemCall(231, 94, "sys.exit"),
    # Signals
    "kill": SystemCall(62, 129, "os.kill", ((IsOwnPid(0), IsNot(1, signal.SIGKILL)),)),
    "tgkill": SystemCall(234, 131, "abort, raise", ((IsOwnPid(0), IsNot(2, signal.SIGKILL)),)),
    "rt_sigaction": SystemCall(13, 134, "signal.signal"),
    "rt_sigprocmask": SystemCall(14, 135, "start of a thread, abort"),
    "rt_sigreturn": SystemCall(15, 139, "return from a handler"),
    "rt_sigpending": SystemCall(127, 136, "signal.sigpending"),
    "rt_sigsuspend": SystemCall(130, 133, "sigsuspend"),
    "rt_sigtimedwait": SystemCall(128, 137, "signal.sigwait"),
    "sigaltstack": SystemCall(131, 132, "faulthandler"),
    "pause": SystemCall(34, None, "signal.pause"),
    "alarm": SystemCall(37, None, "signal.alarm"),
    "setitimer": SystemCall(38, 103, "signal.setitimer, alarm", ((Is(0, _ITIMER_REAL),),)),
    "getitimer": SystemCall(36, 102, "signal.getitimer", ((Is(0, _ITIMER_REAL),),)),
    "restart_syscall": SystemCall(219, 128, "sleep after a signal that stops"),
    # Time
    "nanosleep": SystemCall(35, 101, "usleep of musl"),
    "clock_nanosleep": SystemCall(
        *(230, 115),
        "time.sleep",
        ((IsOneOf(0, (0, 1)), HasOnly(1, 0x1)),),  # REALTIME, MONOTONIC; ABSTIME
    ),
    "clock_gettime": SystemCall(228, 113, "time.process_time", _STATIC_CLOCK),
    "clock_getres": SystemCall(229, 114, "time.get_clock_info", _STATIC_CLOCK),
    "gettimeofday": SystemCall(96, 169, "gettimeofday where there is no vDSO"),
    "time": SystemCall(201, None, "time where there is no vDSO"),
    "times": SystemCall(100, 153, "os.times, clock"),
    "getrusage": SystemCall(98, 165, "resource.getrusage"),
    # The process and the machine
    "getpid": SystemCall(39, 172, "os.getpid, tempfile"),
    "getppid": SystemCall(110, 173, "os.getppid"),
    "getpgrp": SystemCall(111, None, "os.getpgrp"),
    "getpgid": SystemCall(121, 155, "os.getpgid", _OWN),
    "getsid": SystemCall(124, 156, "os.getsid", _OWN),
    "getuid": SystemCall(102, 174, "os.getuid"),
    "geteuid": SystemCall(107, 175, "start of a program, os.geteuid"),
    "getgid": SystemCall(104, 176, "os.getgid"),
    "getegid": SystemCall(108, 177, "start of a program, os.getegid"),
    "getresuid": SystemCall(118, 148, "os.getresuid"),
    "getresgid": SystemCall(120, 150, "os.getresgid"),
    "getgroups": SystemCall(115, 158, "os.getgroups"),
    "getrlimit": SystemCall(97, 163, "getrlimit of old glibc"),
    "prlimit64": SystemCall(
        *(302, 261),
        "resource.getrlimit; resource.setrlimit of the stack, for deep recursion",
        (
            (Is(0, 0), IsNull(2)),
            (IsOwnPid(0), IsNull(2)),
            (Is(0, 0), Is(1, resource.RLIMIT_STACK)),
        ),
    ),
    "prctl": SystemCall(157, 167, "names of threads", ((IsOneOf(0, _PRCTL),),)),
    "uname": SystemCall(63, 160, "os.uname, platform, start of a static program"),
    "sysinfo": SystemCall(99, 179, "os.sysconf, g++ for the size of its heap"),
    # NONBLOCK, RANDOM
    "getrandom": SystemCall(318, 278, "os.urandom, std::random_device", ((HasOnly(2, 0x3),),)),
    # Waiting for descriptors
    "poll": SystemCall(7, None, "select.poll"),
    "ppoll": SystemCall(271, 73, "select.poll"),
    "select": SystemCall(23, None, "select.select of old glibc and musl"),
    "pselect6": SystemCall(270, 72, "select.select"),
    "epoll_create1": SystemCall(291, 20, "asyncio", ((HasOnly(0, _CLOEXEC),),)),
    "epoll_ctl": SystemCall(233, 21, "asyncio", ((IsOneOf(1, (1, 2, 3)),),)),  # ADD, DEL, MOD
    "epoll_wait": SystemCall(232, None, "asyncio"),
    "epoll_pwait": SystemCall(281, 22, "asyncio"),
    # Pipes and pairs of sockets
    "pipe": SystemCall(22, None, "pipe of old glibc and musl"),
    "pipe2": SystemCall(293, 59, "os.pipe", ((HasOnly(1, _CLOEXEC | _NONBLOCK),),)),
    "socketpair": SystemCall(
        *(53, 199),
        "asyncio, the self-pipe of its loop",
        (
            (
                Is(0, _AF_UNIX),
                IsOneOf(1, (_SOCK_STREAM,), _CLOEXEC | _NONBLOCK),
                Is(2, 0),
            ),
        ),
    ),
    "sendto": SystemCall(44, 206, "socket.send", ((HasOnly(3, _SEND), IsNull(4)),)),
    "recvfrom": SystemCall(45, 207, "socket.recv", ((HasOnly(3, _RECEIVE),),)),
    "shutdown": SystemCall(48, 210, "socket.shutdown", ((IsOneOf(1, (0, 1, 2)),),)),
    "getsockname": SystemCall(51, 204, "socket.socket(fileno=...), asyncio"),
    "getpeername": SystemCall(52, 205, "asyncio"),
    "getsockopt": SystemCall(
        *(55, 209),
        "socket.socket(fileno=...), asyncio",
        ((Is(1, _SOL_SOCKET), IsOneOf(2, _SOCKET_OPTIONS)),),
    ),
}
"""The calls of every execution. All others are refused with EPERM."""

CALLS_OF_NATIVE: dict[str, SystemCall] = {
    "execveat": SystemCall(322, 281, "a zygote of the kind `native`, once", ((IsGate(5),),)),
    "arch_prctl": SystemCall(158, None, "start of a static program", ((Is(0, _ARCH_SET_FS),),)),
}
"""More calls, in a zygote of the kind `native`."""

_EVENTFD = SystemCall(
    290,
    19,
    "the event loop of Node.js, the threads of Ruby",
    ((HasOnly(1, _CLOEXEC | _NONBLOCK),),),
)
# Asked for a thread, it would tell whether a process has that number. The C library takes ENOSYS
# for an answer, and EPERM for a failure.
_GETAFFINITY_OF_THREADS = SystemCall(
    204, 123, "pthread_getattr_np, by which a thread finds its stack", _OWN, errno.ENOSYS
)
# NONBLOCK, RANDOM, INSECURE
_GETRANDOM_OF_RUST = SystemCall(318, 278, "HashMap of Rust", ((HasOnly(2, 0x7),),))
_CLONE_OF_GO = (0x50F00, 0xD0F00)
# VM, FS, FILES, SIGHAND, THREAD, SYSVSEM; from Go 1.20 on with SETTLS.

CALLS_OF_RUNTIMES: dict[str, dict[str, SystemCall]] = {
    "node": {"eventfd2": _EVENTFD},
    "ruby": {
        "eventfd2": _EVENTFD,
        # Refused, its first line of stderr would be a warning. It gets no timer, and so never the
        # signal that would wake a blocked thread once more.
        "timer_create": SystemCall(222, 107, "start of Ruby", (), 0),
        "timer_settime": SystemCall(223, 110, "threads of Ruby that are woken", (), 0),
        "timer_delete": SystemCall(226, 111, "end of Ruby", (), 0),
    },
    "java": {"sched_getaffinity": _GETAFFINITY_OF_THREADS},
    "r": {},
    "go": {
        "clone": SystemCall(
            56, 220, "threads of Go's runtime", ((IsOneOf(0, (_CLONE_OF_GLIBC, *_CLONE_OF_GO)),),)
        ),
    },
    "mono": {"sched_getaffinity": _GETAFFINITY_OF_THREADS},
    "ghc": {
        "eventfd2": _EVENTFD,
        "epoll_create": SystemCall(213, None, "the event loop of GHC"),
        # It asks for the clock of its own thread by a number that could be another's, and needs
        # no answer but that there is one.
        "clock_getres": SystemCall(229, 114, "start of GHC", _STATIC_CLOCK, 0),
    },
    "haskell": {
        "timer_create": SystemCall(222, 107, "turns of Haskell's threads", ((Is(0, 1),),)),
        "timer_settime": SystemCall(223, 110, "turns of Haskell's threads", ((Is(1, 0),),)),
        "timer_delete": SystemCall(226, 111, "end of a Haskell program"),
    },
    "rust": {"getrandom": _GETRANDOM_OF_RUST},
    "rustc": {
        "getrandom": _GETRANDOM_OF_RUST,
        "sched_getaffinity": _GETAFFINITY_OF_THREADS,
        # It fails unless it can set the mode of the file that it makes. The mode does not matter.
        "fchmod": SystemCall(91, 52, "rustc, which copies its output", (), 0),
        "readlink": SystemCall(89, None, "rustc, which looks for its library beside itself"),
        "readlinkat": SystemCall(267, 78, "rustc, which looks for its library beside itself"),
    },
}
"""Calls of one runtime or compiler each, in a zygote of the kind `native`. They replace others."""

CALLS_OF_LOOPBACK: dict[str, SystemCall] = {
    "socket": SystemCall(
        *(41, 198),
        "socket.socket; `loopback` opens it in a network of the execution's own",
        (
            (
                IsOneOf(0, (_AF_INET, _AF_INET6)),
                IsOneOf(1, (_SOCK_STREAM,), _CLOEXEC | _NONBLOCK),
                IsOneOf(2, (0, _TCP)),
            ),
        ),
    ),
    "bind": SystemCall(49, 200, "http.server", ((IsOneOf(2, _ADDRESS_SIZES),),)),
    "listen": SystemCall(50, 201, "http.server"),
    "connect": SystemCall(42, 203, "http.client", ((IsOneOf(2, _ADDRESS_SIZES),),)),
    "accept": SystemCall(43, 202, "servers in C"),
    "accept4": SystemCall(288, 242, "http.server", ((HasOnly(3, _CLOEXEC | _NONBLOCK),),)),
    "setsockopt": SystemCall(
        *(54, 208),
        "http.server, asyncio",
        tuple((Is(1, level), IsOneOf(2, them)) for level, them in _SET_SOCKET_OPTIONS.items()),
    ),
    "getsockopt": SystemCall(
        *(55, 209),
        "asyncio, http.client",
        tuple((Is(1, level), IsOneOf(2, them)) for level, them in _GET_SOCKET_OPTIONS.items()),
    ),
}
"""Calls where executions have networks of their own, see `loopback`. They replace those above."""
