"""Drives `Scripts/stack` through its public interface: the command line and endpoints.json."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

from apps import App

ROOT = Path(__file__).resolve().parents[2]
# The programs under test: HELIOGRAPH_BIN, or the release build of this checkout.
BINARIES = Path(os.environ.get("HELIOGRAPH_BIN") or ROOT / ".build" / "release")
UP_SECONDS = 180
COMMAND_SECONDS = 90


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment of this process without its settings of Heliograph, and with these variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HELIOGRAPH_")} | variables


def run_program(*command: str, **variables: str) -> subprocess.CompletedProcess:
    """Runs a command to its end, in the repository's root and in a clean environment with these variables."""
    return subprocess.run(
        command, cwd=ROOT, env=clean_environment(**variables), capture_output=True, text=True, timeout=COMMAND_SECONDS,
        check=False)


class Stack:
    """A cluster in a directory of its own."""

    def __init__(self, directory: Path | None = None):
        self.directory = directory or Path(tempfile.mkdtemp(prefix="heliograph-test-"))
        # The user postgres must be able to enter it.
        self.directory.chmod(0o755)

    def run(self, *arguments: str, check: bool = True, seconds: float = COMMAND_SECONDS) -> subprocess.CompletedProcess:
        """One command of the program; a failure shows its output."""
        done = subprocess.run(
            [str(ROOT / "Scripts" / "stack"), *arguments, "--dir", str(self.directory)],
            capture_output=True, text=True, timeout=seconds, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"stack {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done

    def up(self, *more: str, **counts: int) -> "Stack":
        """Starts it: `up(gateways=2, channel_state=2)`; `more` are options other than counts."""
        options = [*more] + [text for name, number in counts.items() for text in (f"--{name.replace('_', '-')}", str(number))]
        self.run("up", *options, seconds=UP_SECONDS)
        return self

    def down(self) -> None:
        self.run("down")

    def remove(self) -> None:
        """Takes it down and deletes its logs."""
        self.down()
        shutil.rmtree(self.directory, ignore_errors=True)

    def kill(self, name: str) -> None:
        self.run("kill", name)

    def drain(self, name: str) -> None:
        self.run("drain", name)

    def start(self, name: str) -> None:
        self.run("start", name)

    def freeze(self, name: str) -> None:
        self.run("freeze", name)

    def thaw(self, name: str) -> None:
        self.run("thaw", name)

    def redis(self, *words: str) -> str:
        """Runs one command of Redis; the answer as redis-cli prints it."""
        done = subprocess.run(
            ["redis-cli", "-u", self.endpoints["redis"]["url"], "-e", *words], capture_output=True, text=True,
            timeout=COMMAND_SECONDS, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def user_prefix(self, account: str) -> str:
        """What the keys of an account begin with that is logged in to the open app. The account must be plain text."""
        key, = self.redis("KEYS", f"{{*}}a:{self.open_app.id}:u:{account}:session").split()
        return key.removesuffix(":session")

    @property
    def endpoints(self) -> dict:
        return json.loads((self.directory / "endpoints.json").read_text())

    @property
    def gateways(self) -> list[str]:
        """The WebSocket addresses, in the order of the names."""
        return [gateway["ws"] for gateway in self.endpoints["gateways"]]

    @property
    def pids(self) -> dict[str, int]:
        """The process ids of the running members, by name."""
        found = self.endpoints
        members = found["gateways"] + found["services"]
        pids = {member["name"]: member["pid"] for member in members}
        pids |= {name: found[name]["pid"] for name in ("redis", "postgres")}
        return {name: pid for name, pid in pids.items() if pid}

    @property
    def open_app(self) -> App:
        return next(app for app in self._apps() if not app.token_required)

    @property
    def token_app(self) -> App:
        return next(app for app in self._apps() if app.token_required)

    def _apps(self) -> list[App]:
        return [App(app["appId"], app["certificate"], app["tokenRequired"]) for app in self.endpoints["apps"]]

    def create_app(self, app_id: str) -> App:
        """Makes another open app."""
        self.control("app", "create", f"--id={app_id}", "--open")
        return App(app_id)

    def control(self, *arguments: str) -> str:
        """Runs `heliographctl` against the stack's stores; its output."""
        done = run_program(
            str(BINARIES / "heliographctl"), *arguments, HELIOGRAPH_POSTGRES_URL=self.endpoints["postgres"]["url"],
            HELIOGRAPH_REDIS_URL=self.endpoints["redis"]["url"])
        assert done.returncode == 0, f"heliographctl {' '.join(arguments[:2])}: {done.stderr}"
        return done.stdout

    def sql(self, statement: str) -> list[list[str]]:
        """Queries the stack's database."""
        done = subprocess.run(
            ["psql", self.endpoints["postgres"]["url"], "-X", "-q", "-A", "-t", "-F", "\t", "-c", statement],
            capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]


def is_running(pid: int) -> bool:
    """Whether a process of this id runs; a zombie does not."""
    try:
        return not re.search(r"^State:\s+[ZX]", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return False


def unique(name: str) -> str:
    """A name that no other test uses."""
    return f"{name}-{uuid.uuid4().hex[:10]}"
