"""Processes under measurement: their descendants, their memory, and the core they run on."""

import os
from pathlib import Path

SERVER_CORE = 0
LOAD_CORE = 1


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    return children


def family(pids: dict[int, str]) -> dict[int, str]:
    """The processes and all their descendants, each under its ancestor's name."""
    children = _children()
    found: dict[int, str] = {}
    for pid, name in pids.items():
        waiting = [pid]
        while waiting:
            one = waiting.pop()
            found[one] = name
            waiting += children.get(one, [])
    return found


def rank_up() -> None:
    """Raises the priority above everything else on the machine, where that is allowed: waiting for others would spoil a measurement."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    except PermissionError:
        pass


def pin(pids: dict[int, str], *cores: int) -> None:
    """Pins all threads to these cores, by default the servers', with this process's priority; later threads inherit both."""
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            try:
                os.sched_setaffinity(int(thread.name), set(cores or (SERVER_CORE,)))
                # libdispatch sets a priority of its own for its threads, which their threads inherit.
                os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)
            except ProcessLookupError:
                pass


def rss_kib(pid: int) -> int:
    """Resident memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def total_rss_kib(pids: dict[int, str], name: str | None = None) -> int:
    """Resident memory of all, or of those of one name."""
    return sum(rss_kib(pid) for pid, known in pids.items() if name is None or known == name)
