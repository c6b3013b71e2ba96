"""A network for each execution that opens a socket, in which there is nothing but itself.

    child --socket(2)--> kernel --notification--> zygote: a new network, a socket in it
      ^                                              |
      '------------- descriptor ---------------------'

The zygote installs a filter in itself that reports each socket(2) for TCP to it; its children
inherit the filter. At the first report of an execution the zygote makes a network namespace and
enters it. It leaves it when the execution has ended, and with the last socket the namespace ends.
So an execution that opens no socket costs nothing more. See seccomp_unotify(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import signal
import socket
import struct
from collections.abc import Iterator

HOST_FILES = {
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "etc/nsswitch.conf": "hosts: files\n",
}
"""Files of the private root by which the C library knows the name `localhost`."""
MAX_SOCKETS = 1000
"""Sockets that one execution may open, one after the other. The zygote works for each of them, and
its work is not counted as the execution's CPU time."""

_SETTINGS = {
    "core/somaxconn": "32",
    "ipv4/tcp_rmem": "4096 32768 32768",
    "ipv4/tcp_wmem": "4096 32768 32768",
}
"""Settings of each network. The kernel counts what lies in sockets against no limit of the
execution: up to 64 listeners, each with a queue of 32 connections, hold 32 KiB for each."""
_LOCAL_ERRORS = frozenset(
    {errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EINVAL}
)
"""Errors of socket(2) that are about its arguments, or about what this kernel has."""

_ARCHITECTURES = {
    # machine: (kernel's number of the architecture, socket(2), seccomp(2))
    "x86_64": (0xC000003E, 41, 317),
    "aarch64": (0xC00000B7, 198, 277),
}
_NEWNET = 0x40000000
_SET_MODE_FILTER, _NEW_LISTENER = 1, 8
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_NR_OFFSET, _ARCH_OFFSET, _FAMILY_OFFSET, _MARK_OFFSET = 0, 4, 16, 16 + 5 * 8
_MARK = 0x6C6F6F70
"""Last argument of the zygote's own calls, which are not reported. A child that imitates it gets a
socket in the network of the zygote, in which there is nothing, not even loopback."""

_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""id, pid, flags, number of the call, architecture, address of the call, its arguments."""
_RESPONSE = struct.Struct("=QqiI")
"""id, result, error, flags."""
_DESCRIPTOR = struct.Struct("=QIIII")
"""id, flags, descriptor here, descriptor there, flags there."""
_RECEIVE, _RESPOND, _ADD_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40182103
_AND_RESPOND = 2
_RECEIVE_SECONDS = 0.05

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_INTERFACE = struct.Struct("=16sH14x")

_libc = ctypes.CDLL(None, use_errno=True)


class Loopback:
    """The zygote's side: it opens the sockets of its children.

    It has to be made while /proc can be seen.

    Raises:
        OSError: the kernel does not permit it.
    """

    def __init__(self) -> None:
        machine = platform.machine()
        if machine not in _ARCHITECTURES:
            raise OSError(errno.ENOSYS, f"no system call numbers for {machine}")
        self._architecture, self._socket, self._seccomp = _ARCHITECTURES[machine]
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._settings = os.open("/proc/sys/net", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._num_sockets = 0
        self._is_away = False
        self._enter()  # the proof that it can
        self.leave()
        self.descriptor = self._report_calls()
        """It can be read when a child waits for `answer`."""

    def _report_calls(self) -> int:
        """Have the kernel report calls of the children; the descriptor to receive them from."""
        code = [
            (_LOAD, 0, 0, _ARCH_OFFSET),
            (_IF_EQUAL, 0, 8, self._architecture),
            (_LOAD, 0, 0, _NR_OFFSET),
            (_IF_EQUAL, 0, 6, self._socket),
            (_LOAD, 0, 0, _FAMILY_OFFSET),
            (_IF_EQUAL, 1, 0, socket.AF_INET),
            (_IF_EQUAL, 0, 3, socket.AF_INET6),
            (_LOAD, 0, 0, _MARK_OFFSET),
            (_IF_EQUAL, 1, 0, _MARK),
            (_RETURN, 0, 0, _NOTIFY),
            (_RETURN, 0, 0, _ALLOW),
        ]
        image = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
        program = ctypes.create_string_buffer(
            struct.pack("@HP", len(code), ctypes.addressof(image))
        )
        return _checked(
            "seccomp",
            _libc.syscall(ctypes.c_long(self._seccomp), _SET_MODE_FILTER, _NEW_LISTENER, program),
        )

    def _enter(self) -> None:
        """Enter a new network, in which only loopback is, and up."""
        _checked("unshare", _libc.unshare(_NEWNET))
        self._is_away = True
        for name, value in _SETTINGS.items():
            self._set(name, value)
        with socket.socket(fileno=self._open(socket.AF_INET, socket.SOCK_STREAM, 0)) as any_socket:
            lo = bytearray(_INTERFACE.pack(b"lo", 0))
            fcntl.ioctl(any_socket, _GET_FLAGS, lo)
            _, flags = _INTERFACE.unpack(lo)
            fcntl.ioctl(any_socket, _SET_FLAGS, _INTERFACE.pack(b"lo", flags | _UP))

    def _set(self, name: str, value: str) -> None:
        try:
            setting = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._settings)
        except FileNotFoundError as error:
            # Linux 6.1 shows no net/core to a namespace that root did not make.
            what = f"this kernel does not let users set net/{name} of their own networks"
            raise OSError(errno.ENOENT, what) from error
        try:
            os.write(setting, value.encode())
        finally:
            os.close(setting)

    def _open(self, family: int, kind: int, protocol: int) -> int:
        zero = ctypes.c_long(0)
        number = ctypes.c_long(self._socket)
        mark = ctypes.c_long(_MARK)
        kind |= socket.SOCK_CLOEXEC
        return _checked("socket", _libc.syscall(number, family, kind, protocol, zero, zero, mark))

    def leave(self) -> None:
        """Leave the network of an execution that has ended, if it had one. Raises OSError."""
        self._num_sockets = 0
        if self._is_away:
            _checked("setns", _libc.setns(self._home, _NEWNET))
            self._is_away = False

    def answer(self) -> None:
        """Open the socket that a child waits for. Raises OSError for a failure of ours."""
        notification = self._receive()
        if notification is None:
            return
        identifier, _, _, _, _, _, family, kind, protocol, *_ = notification
        if self._num_sockets == MAX_SOCKETS:
            self._refuse(identifier, errno.EMFILE)
            return
        self._num_sockets += 1
        if not self._is_away:
            self._enter()
        try:
            opened = self._open(_low(family), _low(kind), _low(protocol))
        except OSError as error:
            if error.errno not in _LOCAL_ERRORS:
                raise
            self._refuse(identifier, error.errno)
            return
        try:
            self._give(identifier, opened, closes_on_exec=bool(kind & socket.SOCK_CLOEXEC))
        finally:
            os.close(opened)

    def _receive(self) -> tuple[int, ...] | None:
        """The next report; None if the child that made it is gone.

        The kernel would wait for another report then, and its child may not exist yet. So a timer
        interrupts the call, again and again: once could be before the call.
        """
        notification = ctypes.create_string_buffer(_NOTIFICATION.size)
        request = ctypes.c_ulong(_RECEIVE)
        with _interrupted_every(_RECEIVE_SECONDS):
            # Not fcntl.ioctl, which from Python 3.14 on goes on after a signal.
            result = _libc.ioctl(self.descriptor, request, notification)
            error = ctypes.get_errno()
        if result == 0:
            return _NOTIFICATION.unpack(notification)
        if error in (errno.EINTR, errno.ENOENT):
            return None
        raise OSError(error, f"ioctl: {os.strerror(error)}")

    def _give(self, identifier: int, opened: int, *, closes_on_exec: bool) -> None:
        flags = os.O_CLOEXEC if closes_on_exec else 0
        order = _DESCRIPTOR.pack(identifier, _AND_RESPOND, opened, 0, flags)
        try:
            fcntl.ioctl(self.descriptor, _ADD_DESCRIPTOR, order)
        except OSError as error:
            if error.errno == errno.EMFILE:  # the child has as many as it may
                self._refuse(identifier, errno.EMFILE)
            elif not _is_gone(error):
                raise

    def _refuse(self, identifier: int, number: int) -> None:
        try:
            fcntl.ioctl(self.descriptor, _RESPOND, _RESPONSE.pack(identifier, 0, -number, 0))
        except OSError as error:
            if not _is_gone(error):
                raise


def _is_gone(error: OSError) -> bool:
    """Whether the child that waited for an answer has ended, or was interrupted."""
    return error.errno in (errno.ENOENT, errno.ESRCH, errno.EINPROGRESS)


@contextlib.contextmanager
def _interrupted_every(seconds: float) -> Iterator[None]:
    """Have system calls that wait end with EINTR, after this time and again."""
    previous = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _low(argument: int) -> int:
    """The part of an argument that the kernel looks at where its type has 32 bits."""
    return ctypes.c_int(argument & 0xFFFFFFFF).value


def _checked(name: str, result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return int(result)
