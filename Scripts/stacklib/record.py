"""The state of a stack between two commands: `DIR/stack.json`."""

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .errors import StackError
from .processes import Identity

# The names of the stores where there is one server of each.
STORES = ("redis", "postgres")
STORE_KINDS = ("redis", "sentinel", "postgres")


@dataclass
class Member:
    """One process of the stack, running or not."""

    name: str
    kind: str
    ports: list[int]
    """All ports reserved for it."""
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    http: str = ""
    """The base URL of its health listener; empty for stores."""
    identity: Identity | None = None
    address: str = "127.0.0.1"
    """Where it listens."""
    network: str = ""
    """A path to the network namespace of its host; empty for this machine's own."""
    secrets: str = ""
    """Of a Redis server that speaks TLS only and asks for a password: the folder with both; else empty."""

    @property
    def port(self) -> int:
        return self.ports[0]

    @property
    def is_running(self) -> bool:
        return self.identity is not None and self.identity.is_alive()


@dataclass
class Record:
    """A stack: its directory, its members and its apps."""

    directory: Path
    members: list[Member] = field(default_factory=list)
    apps: list[dict] = field(default_factory=list)
    postgres_data: str = ""
    """Where the data of the first PostgreSQL lie."""
    redis: str = "single"
    """Single, sentinel or cluster."""
    hosts: dict[str, str] | None = None
    """With `--hosts`, the addresses of the hosts by name; a member's host has its name."""

    @property
    def path(self) -> Path:
        return self.directory / "stack.json"

    @property
    def endpoints_path(self) -> Path:
        return self.directory / "endpoints.json"

    def log(self, name: str) -> Path:
        return self.directory / "logs" / f"{name}.log"

    def member(self, name: str) -> Member:
        for member in self.members:
            if member.name == name:
                return member
        known = ", ".join(member.name for member in self.members) or "none: the stack is down"
        raise StackError(f"no member {name!r} in the stack at {self.directory} (members: {known})")

    def of_kind(self, kind: str) -> list[Member]:
        return [member for member in self.members if member.kind == kind]

    def save(self) -> None:
        document = asdict(self) | {"directory": str(self.directory)}
        write_json(self.path, document)

    @staticmethod
    def load(directory: Path) -> "Record":
        """The stack that lives in `directory`; one without members when there is none."""
        record = Record(directory)
        try:
            document = json.loads(record.path.read_text())
            record.apps = document["apps"]
            record.postgres_data = document["postgres_data"]
            record.redis = document.get("redis", "single")
            record.hosts = document.get("hosts")
            for entry in document["members"]:
                identity = entry.pop("identity")
                record.members.append(Member(**entry, identity=Identity(**identity) if identity else None))
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError):
            # An unreadable record counts as none; the processes that it named are found by their mark.
            return Record(directory)
        return record


def write_json(path: Path, document: object) -> None:
    """Writes a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(json.dumps(document, indent=2) + "\n")
    os.replace(draft, path)


@contextmanager
def locked(path: Path):
    """Holds a file lock: commands on one stack, and the choice of ports, happen one after another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
