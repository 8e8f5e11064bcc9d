"""A whole Heliograph cluster, by `Scripts/stack`."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path

from .network import room
from .paths import ROOT, WORK, BenchError
from .processes import family
from .servers import Server


@cache
def knows_unlimited(stack: Path) -> bool:
    text = subprocess.run([stack, "up", "--help"], capture_output=True, text=True, check=True).stdout
    return "--unlimited" in text


class Heliograph(Server):
    """Redis, PostgreSQL and all services, on one core together."""

    name = driver = "heliograph"
    members_speak = True

    def __init__(
            self, gateways: int = 1, options: tuple[str, ...] = (), settings: dict[str, str] | None = None,
            checkout: Path = ROOT):
        """
        :param options: further options of `Scripts/stack up`, such as `--redis cluster`
        :param settings: of the services, by their full names
        :param checkout: another one, with its programs, to measure another release
        """
        super().__init__()
        self.program = checkout / "Scripts" / "stack"
        self.binaries = os.environ.get("HELIOGRAPH_BIN") if checkout == ROOT else checkout / ".build" / "release"
        self.settings = settings or {}
        self.gateways = gateways
        self.options = options
        self.directory = WORK / "stack"
        # A client may have 1,024 calls unanswered.
        self.messages_per_publisher = 1_000 if knows_unlimited(self.program) else 55

    def stack(self, *arguments: str) -> None:
        environment = os.environ | {"HELIOGRAPH_GATEWAY_CONNECTIONS": str(room()), "HELIOGRAPH_LOG_LEVEL": "warning"}
        environment |= self.settings
        if self.binaries:
            environment["HELIOGRAPH_BIN"] = str(self.binaries)
        done = subprocess.run(
            [self.program, arguments[0], "--dir", self.directory, *arguments[1:]], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"Scripts/stack {' '.join(arguments)}:\n{done.stdout}")

    def start(self) -> None:
        unlimited = ["--unlimited"] if knows_unlimited(self.program) else []
        self.stack("up", "--gateways", str(self.gateways), *self.options, *unlimited)
        self.ports = [int(gateway["ws"].rsplit(":", 1)[1]) for gateway in self.endpoints()["gateways"]]
        self.load_options = ["--app", next(app["appId"] for app in self.endpoints()["apps"] if not app["tokenRequired"])]

    def endpoints(self) -> dict:
        return json.loads((self.directory / "endpoints.json").read_text())

    def stop(self) -> None:
        self.stack("down")

    def kill(self, member: str) -> None:
        self.stack("kill", member)

    def processes(self) -> dict[int, str]:
        points = self.endpoints()
        pids = {points["postgres"]["pid"]: "postgres"}
        # A stack of an older checkout does not name the servers of a store.
        for node in points["redis"].get("nodes") or [points["redis"] | {"name": "redis"}]:
            pids[node["pid"]] = node["name"]
        for member in [*points["gateways"], *points["services"]]:
            pids[member["pid"]] = member["name"].split("#")[0]
        pids.pop(None, None)
        return family(pids)

    def facing(self) -> str:
        return "gateway"

    def api_port(self) -> int:
        """Where the first gateway serves the server API."""
        return int(self.endpoints()["api"][0].rsplit(":", 1)[1])

    def api_key(self) -> str:
        """A new key of the server API for the open app, whose rate is no limit."""
        control = Path(os.environ.get("HELIOGRAPH_BIN") or ROOT / ".build/release") / "heliographctl"
        done = subprocess.run(
            [control, "key", "create", "--app", self.load_options[1], "--scopes", "send", "--rate", "1000000", "--json"],
            env=os.environ | {"HELIOGRAPH_POSTGRES_URL": self.endpoints()["postgres"]["url"]}, capture_output=True, text=True,
            check=False)
        if done.returncode != 0:
            raise BenchError(f"heliographctl key create:\n{done.stderr}")
        return json.loads(done.stdout)["key"]

    def programs(self) -> Path:
        """The folder of the programs."""
        return Path(self.binaries or ROOT / ".build" / "release")

    def redis_port(self) -> int:
        return int(self.endpoints()["redis"]["url"].rsplit(":", 1)[1].split("/")[0])
