"""Namespaces and a private root directory, made once for a zygote.

They are an addition: the other layers do not need them, and a platform may refuse them.
See namespaces(7), pivot_root(2), mount(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_CAP_SETFCAP = 31
_ALL_BUT_USER = _NEWNS | _NEWCGROUP | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_SAME_FLAGS = 1 | 2 | 4 | 8 | 1024 | 2048
"""Flags with the same number in statvfs(3) and mount(2): ro, nosuid, nodev, noexec, noatime,
nodiratime."""
_ST_RELATIME, _MS_RELATIME = 1 << 12, 1 << 21
_ROOT_BYTES = 2**20

SCRATCH = Path("/scratch")
"""An empty directory of the private root, on which the scratch directory is mounted."""

_HOST_NAME = b"localhost"
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> bool:
    """Move this process into new namespaces.

    The next child that it forks is the first process of the new process namespace.

    Returns:
        False if the kernel does not permit it.
    """
    if _libc.unshare(_ALL_BUT_USER) == 0:
        _name_host()
        return True
    # A user namespace cannot be left, and nobody without a map can make a file in it.
    if not _can_map_user():
        return False
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_ALL_BUT_USER | _NEWUSER) != 0:
        return False
    # Without this map the namespace still confines, but nothing can be mounted in it.
    with contextlib.suppress(OSError):
        _map_user(user, group)
    _name_host()
    return True


def _can_map_user() -> bool:
    """Whether this user can exist in a user namespace: root without CAP_SETFCAP cannot.

    See user_namespaces(7).
    """
    if os.getuid() != 0:
        return True
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    return bool(effective >> _CAP_SETFCAP & 1)


def _map_user(user: int, group: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _name_host() -> None:
    """Give the host a name that says nothing of the machine, and that `loopback` can resolve."""
    _check("sethostname", _libc.sethostname(_HOST_NAME, len(_HOST_NAME)))


def change_root(
    readable: Iterable[Path],
    devices: Iterable[Path],
    at: Path,
    texts: Mapping[str, str],
    links: Mapping[str, str],
) -> None:
    """Make a root directory that holds some paths, read-only, and nothing else.

    Args:
        readable: files and directories that may be read; each keeps its path.
        devices: device files that may be used; each keeps its path.
        at: an empty directory to build the root on. Other namespaces see no change in it.
        texts: contents of further files, by their paths without the first slash.
        links: targets of links, by their paths.

    Raises:
        OSError: the kernel does not permit it. The mounts of this namespace may have changed.
    """
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    mount_tmpfs(at, num_bytes=_ROOT_BYTES, num_inodes=4096, options="mode=755")
    # From here on paths are relative. If the process that started this one is killed now, its
    # directory is removed; absolute paths would make that directory again.
    os.chdir(at)
    for path in _outermost(readable):
        _bind(path, _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    for path in devices:
        _bind(path, _MS_NOSUID | _MS_NOEXEC)
    for name, text in texts.items():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        file.write_text(text)
    for name, target in links.items():
        link = Path(name).relative_to("/")
        link.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        link.symlink_to(target)
    os.mkdir("old")
    os.mkdir(SCRATCH.name)
    pivot_root = _PIVOT_ROOT[os.uname().machine]
    _check("pivot_root", _libc.syscall(pivot_root, b".", b"old"))
    os.chdir("/")
    _check("umount", _libc.umount2(b"/old", _MNT_DETACH))
    os.rmdir("/old")


def seal_root() -> None:
    """Make the private root itself read-only, but not the file systems mounted on it."""
    _mount("none", "/", None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)


def mount_tmpfs(at: Path, *, num_bytes: int, num_inodes: int, options: str) -> None:
    """Mount an empty file system in memory. Raises OSError."""
    options = f"size={num_bytes},nr_inodes={num_inodes},{options}"
    _mount("tmpfs", str(at), "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)


def resize_tmpfs(at: Path, *, num_bytes: int) -> None:
    """Change the size limit of a file system in memory. Raises OSError."""
    flags = _MS_REMOUNT | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _mount("tmpfs", str(at), "tmpfs", flags, f"size={num_bytes}")


def _outermost(paths: Iterable[Path]) -> list[Path]:
    chosen: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(other) for other in chosen):
            chosen.append(path)
    return chosen


def _bind(path: Path, flags: int) -> None:
    """Mount a path under its own name below the working directory."""
    target = path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if path.is_dir():
        target.mkdir(mode=0o755, exist_ok=True)
    else:
        target.touch(mode=0o644)
    _mount(str(path), str(target), None, _MS_BIND)
    _mount("none", str(target), None, _MS_REMOUNT | _MS_BIND | _present_flags(target) | flags)


def _present_flags(path: Path) -> int:
    """Flags of a mount, which a remount in a user namespace has to repeat or fails."""
    found = os.statvfs(path).f_flag
    return found & _SAME_FLAGS | (_MS_RELATIME if found & _ST_RELATIME else 0)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    result = _libc.mount(
        source.encode(),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _check(f"mount {target}", result)


def _check(what: str, result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
