"""A host for each member, and one for the clients (`up --hosts`): networks of their own, joined by the wire."""

import os
import random
import socket
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from . import networks
from .errors import StackError
from .record import STORE_KINDS, Member, Record

WIRE = "wire"
CLIENTS = "clients"
# Seen in the stack's own namespaces only, so all stacks use the same addresses.
NETWORK = IPv4Address("10.83.0.0")
NETWORK_AND_BITS = f"{NETWORK}/16"
ANSWER_SECONDS = 5
SEED = "HELIOGRAPH_WIRE_SEED"


def problem() -> str | None:
    """Why this machine can have no hosts; None when it can."""
    try:
        for descriptor in networks.make(str(NETWORK + 1)):
            os.close(descriptor)
        return None
    except OSError as error:
        return f"--hosts needs root, network namespaces and /dev/net/tun: {error.strerror}"


def place(record: Record, name: str) -> dict[str, str]:
    """The fields of a new member that say where it runs: nothing but the defaults without `--hosts`."""
    if record.hosts is None:
        return {}
    record.hosts[name] = str(NETWORK + len(record.hosts) + 1)
    return {"address": record.hosts[name], "network": str(_links(record) / _link(name))}


def add_wire(record: Record) -> None:
    """Puts the wire into the record, before all others; called when all have their places."""
    if record.hosts is None:
        return
    place(record, CLIENTS)
    _links(record).mkdir(parents=True)
    seed = os.environ.get(SEED) or str(random.randrange(2**32))
    command = [sys.executable, str(Path(__file__).with_name("wire.py")), str(_links(record)), "--seed", seed]
    record.members.insert(0, Member(WIRE, WIRE, [], command + [f"{_link(name)}={address}" for name, address in record.hosts.items()]))


def inside(record: Record, name: str = CLIENTS) -> AbstractContextManager[None]:
    """For the body, this thread is on a host; without `--hosts` it stays where it is."""
    return networks.entered("" if record.hosts is None else str(_links(record) / _link(name)))


def described(record: Record) -> dict:
    """The part of endpoints.json about hosts."""
    if record.hosts is None:
        return {}
    return {"hosts": [
        {"name": name, "address": address, "network": str(_links(record) / _link(name))} for name, address in record.hosts.items()]}


def wire_problem(member: Member) -> str | None:
    """Why the wire doesn't pass packets yet; None when it does."""
    if member.identity.is_frozen():
        return "frozen"
    try:
        _exchange(Path(member.command[2]), [])
        return None
    except OSError as error:
        return f"wire: {error}"


def named(record: Record, name: str) -> list[str]:
    """The hosts of a member, of all members of a kind, of the clients, of all servers (`stores`), or all (`all`)."""
    if record.hosts is None:
        raise StackError("this stack has no hosts: start it with `up --hosts`")
    if name == "all":
        return list(record.hosts)
    if name in record.hosts:
        return [name]
    kinds = STORE_KINDS if name == "stores" else (name,)
    return [member.name for kind in kinds for member in record.of_kind(kind) if member.name in record.hosts] \
        or [record.member(name).name]


@dataclass(frozen=True)
class Route:
    """From the hosts of a name to those of `other`, each as in `named`; and back, unless it is one way only.

    Without `other`, all other hosts are meant.
    """

    other: str | None = None
    one_way: bool = False

    def pairs(self, record: Record, name: str) -> list[tuple[str, str]]:
        """The ordered pairs of hosts."""
        forth = [(one, two) for one in named(record, name) for two in named(record, self.other or "all") if one != two]
        return list(dict.fromkeys(forth + ([] if self.one_way else [(two, one) for one, two in forth])))


def tell(record: Record, verb: str, pairs: list[tuple[str, str]], *value: str) -> None:
    """Gives the wire one command for each pair."""
    lines = [" ".join((verb, _link(one), _link(two), *value)) for one, two in pairs]
    try:
        answers = _exchange(_links(record), lines)
    except OSError as error:
        raise StackError(f"the wire does not answer: {error}") from error
    if wrong := [f"{line}: {answer}" for line, answer in zip(lines, answers, strict=True) if answer != "ok"]:
        raise StackError(f"the wire refuses {wrong[0]}")


def _exchange(links: Path, lines: list[str]) -> list[str]:
    # A socket's own path may be too long.
    folder = os.open(links, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(ANSWER_SECONDS)
            control.connect(f"/proc/self/fd/{folder}/{networks.CONTROL}")
            control.sendall("".join(line + "\n" for line in lines).encode())
            control.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: control.recv(65536), b"")).decode().splitlines()
    finally:
        os.close(folder)


def _links(record: Record) -> Path:
    return record.directory / "hosts"


def _link(name: str) -> str:
    return name.replace("#", "-")
