"""Free loopback ports that no other stack of this user has reserved.

Ports come from below the ephemeral range, so that no outgoing connection takes the port of a member that is down for
a while. A list of all stacks, kept under a lock, keeps stacks apart that start at the same time.
"""

import json
import os
import random
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from .errors import StackError
from .record import Record, locked, write_json

FIRST, LAST = 21_000, 31_999
ATTEMPTS = 2_000


def _registry() -> Path:
    return Path(tempfile.gettempdir()) / f"heliograph-stacks-{os.getuid()}"


def reserve(record: Record, assign: Callable[["PortPicker"], None]) -> None:
    """Runs `assign`, which puts members with ports into the record, and saves the record before others may pick."""
    registry = _registry()
    with locked(registry.with_suffix(".lock")):
        stacks = [path for path in _known(registry) if (path / "stack.json").exists() and path != record.directory]
        assign(PortPicker(_taken(stacks)))
        record.save()
        write_json(registry.with_suffix(".json"), [str(path) for path in [*stacks, record.directory]])


def reserved() -> set[int]:
    """The ports of all stacks."""
    return _taken(_known(_registry()))


def _taken(stacks: list[Path]) -> set[int]:
    return {port for path in stacks for member in Record.load(path).members for port in member.ports}


def _known(registry: Path) -> list[Path]:
    try:
        return [Path(text) for text in json.loads(registry.with_suffix(".json").read_text())]
    except (FileNotFoundError, ValueError):
        return []


class PortPicker:
    """Chooses ports that are neither bound nor reserved."""

    def __init__(self, taken: set[int]):
        self.taken = taken

    def pick(self, count: int = 1) -> list[int]:
        """`count` consecutive free ports."""
        for _ in range(ATTEMPTS):
            first = random.randint(FIRST, LAST - count)
            ports = list(range(first, first + count))
            if not self.taken.intersection(ports) and all(map(_is_free, ports)):
                self.taken.update(ports)
                return ports
        raise StackError(f"no {count} free consecutive ports between {FIRST} and {LAST}")


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        # Tried on all addresses, not just loopback: another program may listen on the wildcard address.
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
