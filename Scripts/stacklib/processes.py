"""Detached processes, identified by more than their process id.

A pid alone may belong to a stranger by the time it is used, so a process is remembered with its start time and the
machine's boot, and signalled through a pidfd that was opened before those were compared.
"""

import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import StackError

# Marks the processes of a stack, to find those that outlived its record. Not HELIOGRAPH_...: services warn of names that
# they don't know.
MARKER = "STACK_DIRECTORY"
STOP_SECONDS = 10


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True)
class Identity:
    """One process, distinguished from later ones of the same id: `started` is in clock ticks since the boot named `boot`."""

    pid: int
    started: int
    boot: str

    @staticmethod
    def of(pid: int) -> "Identity | None":
        """The process that has this id now, a zombie included; None when there is none."""
        fields = _stat(pid)
        return Identity(pid, int(fields[19]), boot_id()) if fields else None

    def exists(self) -> bool:
        """Whether it is still in the process table, if only as a zombie."""
        _reap(self.pid)
        return self == Identity.of(self.pid)

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self.exists() and (_stat(self.pid) or ["X"])[0] not in "ZX"

    def is_frozen(self) -> bool:
        """Whether it is stopped by a signal."""
        return self.exists() and (_stat(self.pid) or ["X"])[0] in "Tt"

    def send(self, number: int) -> None:
        """Signals it, or does nothing when it is gone."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.is_alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)

    def wait_gone(self, seconds: float) -> bool:
        """Waits until it has ended. It may be in the process table for longer: the system's first process decides when it looks."""
        deadline = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def spawn(command: list[str], environment: dict[str, str], log: Path, directory: Path) -> Identity:
    """Starts a process in a session of its own, its output appended to `log`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HELIOGRAPH_")}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env=clean | environment | {MARKER: str(directory)}, cwd="/")
        except OSError as error:
            raise StackError(f"cannot run {command[0]}: {error.strerror}") from error
    # The command is meant to outlive this program: Popen would warn about that.
    process.returncode = 0
    identity = Identity.of(process.pid)
    if identity is None:
        raise StackError(f"{command[0]} ended at once, see {log}")
    return identity


def freeze(identity: Identity) -> None:
    """Stops a process and its descendants, parents first: a stopped process starts no further child."""
    identity.send(signal.SIGSTOP)
    deadline = time.monotonic() + STOP_SECONDS
    while identity.is_alive() and not identity.is_frozen():
        if time.monotonic() > deadline:
            raise StackError(f"process {identity.pid} goes on {STOP_SECONDS} s after SIGSTOP")
        time.sleep(0.001)
    for child in _children(identity):
        freeze(child)


def thaw(identity: Identity) -> None:
    """Continues a process and its descendants."""
    for one in [*descendants(identity), identity]:
        one.send(signal.SIGCONT)


def descendants(identity: Identity) -> list[Identity]:
    """The children and all further descendants, descendants before their parents."""
    return [one for child in _children(identity) for one in [*descendants(child), child]]


def _children(parent: Identity) -> list[Identity]:
    found = []
    for entry in Path("/proc").iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdigit() else None
        identity = Identity.of(int(entry.name)) if fields and int(fields[1]) == parent.pid else None
        if identity and identity.is_alive():
            found.append(identity)
    return found


def leftovers(directory: Path | None, data_directories: list[Path]) -> list[Identity]:
    """Processes of the stack in `directory`, recorded or not.

    They carry the marker in their environment; PostgreSQL and Redis write their titles over that, but work in their data
    directories.
    """
    found = []
    mark = f"{MARKER}={directory}".encode()
    homes = {str(path) for path in data_directories}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            ours = mark in (entry / "environ").read_bytes().split(b"\0")
            if not ours and os.readlink(entry / "cwd") in homes:
                ours = os.path.basename(os.readlink(entry / "exe")).startswith(("postgres", "redis-"))
        except OSError:
            continue
        identity = Identity.of(int(entry.name)) if ours else None
        if identity and identity.is_alive():
            found.append(identity)
    return found


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command's name: state first, start time at index 19."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
