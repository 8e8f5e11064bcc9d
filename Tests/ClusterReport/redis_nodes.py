"""The servers of a stack's Redis Cluster: who owns which slots, what is in flux, and what each has used."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from stack_control import Stack
from waiting import eventually_blocking

WHOLE_SECONDS, TOOL_SECONDS = 30, 300
TICKS = os.sysconf("SC_CLK_TCK")


class RedisNodes:
    """The servers by their names in the stack."""

    def __init__(self, stack: Stack):
        self.stack = stack

    @property
    def running(self) -> dict[str, int]:
        """The port of each server that runs."""
        return {node["name"]: node["port"] for node in self.stack.endpoints["redis"]["nodes"] if node["pid"]}

    def ask(self, name: str, *words: str) -> str:
        return self.stack.redis(*words, node=name)

    def slots(self) -> dict[str, set[int]]:
        """The slots of each master, by a server that runs. Masters without slots are left out."""
        ports = {port: name for name, port in self.running.items()}
        found = {}
        for line in self._table():
            port = int(line[1].split("@")[0].rsplit(":", 1)[1])
            # Slots in migration are in brackets.
            ranges = [text.split("-") for text in line[8:] if not text.startswith("[")]
            if "master" in line[2] and "fail" not in line[2] and ranges and port in ports:
                found[ports[port]] = {slot for one in ranges for slot in range(int(one[0]), int(one[-1]) + 1)}
        return dict(sorted(found.items()))

    def id(self, name: str) -> str:
        return self.ask(name, "CLUSTER", "MYID")

    def ports(self, name: str) -> tuple[int, int]:
        """A server's port for clients, and the one for other servers."""
        port = self.running[name]
        address = next(line[1] for line in self._table() if f":{port}@" in line[1])
        return port, int(address.split("@")[1].split(",")[0])

    def _table(self) -> list[list[str]]:
        return [line.split() for line in self.stack.redis("CLUSTER", "NODES", node=next(iter(self.running))).splitlines()]

    def wait_until_whole(self) -> None:
        """Waits until every server knows that each slot has a master."""
        def is_whole() -> bool:
            infos = [self.ask(name, "CLUSTER", "INFO") for name in self.running]
            owned = sum(len(slots) for slots in self.slots().values())
            return owned == 16_384 and all("cluster_state:ok" in info and "cluster_slots_pfail:0" in info for info in infos)

        eventually_blocking(is_whole, "every slot has a master", WHOLE_SECONDS)

    def wait_until_copied(self, name: str) -> None:
        """Waits until a server has its master's data."""
        eventually_blocking(
            lambda: "master_link_status:up" in self.ask(name, "INFO", "replication"), f"{name} has the data", WHOLE_SECONDS)

    def cpu_seconds(self) -> dict[str, float]:
        """The CPU time of each server."""
        return {node["name"]: self.seconds_of(node["pid"]) for node in self.stack.endpoints["redis"]["nodes"] if node["pid"]}

    @staticmethod
    def seconds_of(pid: int) -> float:
        """User and system time of a process, from /proc."""
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def commands(self, name: str) -> dict[str, int]:
        """How often each command was carried out, calls inside functions included."""
        return calls(self.ask(name, "INFO", "commandstats"))

    def tool(self, command: str, *words: str) -> "ClusterTool":
        """Starts `redis-cli --cluster COMMAND`."""
        return ClusterTool(next(iter(self.running.values())), command, *words)

    def reshard(self, source: str, target: str, slots: int) -> "ClusterTool":
        """Starts to move so many slots, once all servers agree about their present owners: the tool refuses otherwise."""
        eventually_blocking(lambda: self.tool("check").wait() == 0, "the servers agree", WHOLE_SECONDS)
        # Without a number, the tool would ask for one over and over.
        assert slots > 0
        return self.tool(
            "reshard", "--cluster-from", self.id(source), "--cluster-to", self.id(target), "--cluster-slots", str(slots), "--cluster-yes")


def calls(statistics: str) -> dict[str, int]:
    """How often each command was carried out, from `INFO commandstats`."""
    return {name: int(count) for name, count in re.findall(r"^cmdstat_([^:]+):calls=(\d+)", statistics, re.MULTILINE)}


class ClusterTool:
    """A running `redis-cli --cluster`. Its output goes to a file: it prints more than a pipe holds before it begins."""

    def __init__(self, port: int, command: str, *words: str):
        self._output = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            ["redis-cli", "--cluster", command, f"127.0.0.1:{port}", *words], stdin=subprocess.DEVNULL, stdout=self._output,
            stderr=subprocess.STDOUT, text=True)

    def wait(self) -> int:
        """Waits for its end; returns its exit code."""
        return self._process.wait(TOOL_SECONDS)

    def finish(self) -> None:
        """Waits for its end; a failure shows the end of its output."""
        code = self.wait()
        self._output.seek(0)
        assert code == 0, "\n".join(self._output.read().splitlines()[-10:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
