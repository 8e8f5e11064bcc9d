"""Drives `Scripts/stack` through its public interface: the command line and endpoints.json."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import uuid
from contextlib import AbstractContextManager
from pathlib import Path

from apps import App
from redis_flavour import up_options

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Scripts"))

from stacklib.networks import entered  # noqa: E402

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
        """Starts it: `up(gateways=2, channel_state=2)`; `more` are options other than counts.

        Redis is of the flavour that the tests run on, unless `more` says otherwise.
        """
        options = [*up_options(), *more] + [text for name, number in counts.items() for text in (f"--{name.replace('_', '-')}", str(number))]
        self.run("up", *options, seconds=UP_SECONDS)
        return self

    def down(self, *, at_once: bool = False) -> None:
        self.run("down", *(["--at-once"] if at_once else []))

    def remove(self) -> None:
        """Takes it down and deletes its logs."""
        self.down(at_once=True)
        shutil.rmtree(self.directory, ignore_errors=True)

    def clients_host(self) -> AbstractContextManager[None]:
        """For the body, this thread and what it starts are on the clients' host, if the stack has hosts."""
        found = [host["network"] for host in self.endpoints.get("hosts", []) if host["name"] == "clients"]
        return entered(found[0] if found else "")

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

    def promote(self, name: str) -> None:
        self.run("promote", name)

    def redis(self, *words: str, node: str | None = None) -> str:
        """Runs one command of Redis; the answer as redis-cli prints it.

        On the server `node`, or where the command's key is. Without a key: on the master, of a cluster on any server.
        """
        follow = ["-c"] if node is None and "+cluster://" in self.endpoints["redis"]["url"] else []
        name = node or self._redis_for_keys()
        done = subprocess.run(
            ["redis-cli", "-u", self._redis_url(name), *self.redis_options, *follow, "-e", *words], capture_output=True, text=True,
            env=os.environ | self.redis_variables, timeout=COMMAND_SECONDS, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    @property
    def redis_options(self) -> list[str]:
        """What `redis-cli` needs besides an address: the authority of a stack with `--redis-tls`."""
        url = urllib.parse.urlsplit(self.endpoints["redis"]["url"])
        return ["--tls", "--cacert", urllib.parse.parse_qs(url.query)["cacert"][0]] if url.scheme.startswith("rediss") else []

    @property
    def redis_variables(self) -> dict[str, str]:
        """The password for `redis-cli` of such a stack."""
        found = re.match(r"[^/]+://:([^@]+)@", self.endpoints["redis"]["url"])
        return {"REDISCLI_AUTH": found[1]} if found else {}

    def redis_everywhere(self, *words: str) -> list[str]:
        """Runs one command on every master; their answers."""
        return [self.redis(*words, node=name) for name in self.redis_masters]

    def redis_keys(self, pattern: str) -> list[str]:
        """The keys of all masters that match the pattern."""
        return [key for answer in self.redis_everywhere("KEYS", pattern) for key in answer.splitlines() if key]

    @property
    def redis_servers(self) -> list[str]:
        """The names of all servers with data, whether they run or not."""
        return [node["name"] for node in self.endpoints["redis"]["nodes"] if node["role"] != "sentinel"]

    @property
    def redis_masters(self) -> list[str]:
        """The names of the servers that take writes now, by what they say themselves."""
        servers = self.redis_servers
        if len(servers) == 1:
            return servers
        running = self.pids
        return [name for name in servers if name in running and self.redis("ROLE", node=name).split()[0] == "master"]

    @property
    def redis_urls(self) -> list[str]:
        """The addresses of the masters, one by one."""
        return [self._redis_url(name) for name in self.redis_masters]

    def _redis_for_keys(self) -> str:
        """A server that answers for every key, or (in a cluster) knows who does."""
        if self.endpoints["redis"]["url"].startswith("redis+sentinel"):
            return self.redis_masters[0]
        return next((name for name in self.redis_servers if name in self.pids), self.redis_servers[0])

    def _redis_url(self, name: str) -> str:
        node = next(node for node in self.endpoints["redis"]["nodes"] if node["name"] == name)
        return f"redis://{node['host']}:{node['port']}"

    def kill_redis(self) -> None:
        """Kills every server of Redis."""
        for name in self.redis_servers:
            self.kill(name)

    def start_redis(self) -> None:
        """Starts every server of Redis; each has the data of its disk."""
        for name in self.redis_servers:
            self.start(name)

    def freeze_redis(self) -> None:
        """Stops every server of Redis in one moment, Sentinels too, so that nobody is there to replace one of them."""
        self._signal_redis(signal.SIGSTOP)

    def thaw_redis(self) -> None:
        """Lets them go on. A signal instead of a command of `Scripts/stack`, which may be busy with another one."""
        self._signal_redis(signal.SIGCONT)

    def _signal_redis(self, number: signal.Signals) -> None:
        for node in self.endpoints["redis"]["nodes"]:
            os.kill(node["pid"], number)

    def user_prefix(self, account: str) -> str:
        """What the keys of an account begin with that is logged in to the open app. The account must be plain text."""
        key, = self.redis_keys(f"{{*}}a:{self.open_app.id}:u:{account}:session")
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
        pids |= {node["name"]: node["pid"] for store in ("redis", "postgres") for node in found[store]["nodes"]}
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

    def sql(self, statement: str, node: str | None = None) -> list[list[str]]:
        """Queries the stack's database: on the server `node`, or on the one that takes writes."""
        found = self.endpoints["postgres"]
        url = found["url"]
        if node is not None:
            server = next(one for one in found["nodes"] if one["name"] == node)
            url = f"postgresql://heliograph@{server['host']}:{server['port']}/heliograph"
        done = subprocess.run(
            ["psql", url, "-X", "-q", "-A", "-t", "-F", "\t", "-c", statement],
            capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]


def processes_of(stack: Stack) -> list[int]:
    """The processes that carry the stack's mark or work in its data directories, found through /proc alone."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                marked = f"STACK_DIRECTORY={stack.directory}".encode() in file.read().split(b"\0")
            works_there = os.readlink(f"/proc/{name}/cwd").startswith(f"{stack.directory}/")
        except OSError:
            continue
        if (marked or works_there) and is_running(int(name)):
            found.append(int(name))
    return found


def is_running(pid: int) -> bool:
    """Whether a process of this id runs; a zombie does not."""
    try:
        return not re.search(r"^State:\s+[ZX]", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return False


def resident_mebibytes(pid: int) -> int:
    """The memory of a process."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


def unique(name: str) -> str:
    """A name that no other test uses."""
    return f"{name}-{uuid.uuid4().hex[:10]}"
