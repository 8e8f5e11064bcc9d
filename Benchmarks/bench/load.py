"""Drives the load generator, a process of its own on its own core."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

from .network import check_room
from .paths import TOOLS, BenchError, tool
from .processes import LOAD_CORE
from .servers import Server

# When this is set, `perf record` writes what the servers do in each part of a measurement to this path with the part's number.
PROFILE = os.environ.get("HELIOGRAPH_BENCH_PROFILE")
PROFILES = itertools.count(1)

# The options that say how many connections the generator has, and how many each of them adds.
CONNECTIONS = {"--members": 1, "--others": 1, "--publishers": 1, "--pairs": 2}


def connections(options: list[str]) -> int:
    """At most so many: publishers may be members."""
    return sum(int(options[at + 1]) * CONNECTIONS[name] for at, name in enumerate(options) if name in CONNECTIONS)


class Load:
    """A running load generator; ends with the `with` block."""

    def __init__(self, server: Server, scenario: str, *options: object):
        self.server = server
        command = ["taskset", "-c", str(LOAD_CORE), str(TOOLS / "load"), "--driver", server.driver, "--scenario", scenario]
        for port in server.ports:
            command += ["--endpoint", str(port)]
        words = [*server.load_options, *map(str, options)]
        command += words
        check_room(connections(words), f"this load ({scenario})")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready = self.read("ready")
        self.tell_pids()

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if text := self.process.stderr.read():
            print(text, end="", file=sys.stderr)

    def tell_pids(self) -> None:
        """Tells the generator which processes to measure, and pins them to their core; again before each part, since processes come and go."""
        self.names = self.server.processes()
        self.server.pin()
        self.send("pids " + ",".join(map(str, self.names)))

    def send(self, line: str) -> None:
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise BenchError(f"the load generator ended: {self.process.stderr.read()}") from None

    def read(self, event: str) -> dict:
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise BenchError(f"the load generator ended: {self.process.stderr.read()}")
        answer = json.loads(line)
        if answer["event"] != event:
            raise BenchError(f"the load generator says {answer}, not {event}")
        return answer

    def ask(self, line: str, event: str) -> dict:
        """Sends the generator a command; returns its answer, with the CPU time of the processes by name."""
        self.tell_pids()
        with self.profiled(line):
            self.send(line)
            return self.add_cpu(self.read(event))

    @contextlib.contextmanager
    def profiled(self, part: str) -> Iterator[None]:
        """Profiles the servers meanwhile, if that is asked for."""
        if not PROFILE:
            yield
            return
        file = f"{PROFILE}.{next(PROFILES)}"
        print(f"{file} is a profile of: {part}", file=sys.stderr)
        pids = ",".join(map(str, self.names))
        profiler = subprocess.Popen(
            [tool("perf"), "record", "-q", "-F", "999", "-g", "-p", pids, "-o", file], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        yield
        profiler.send_signal(signal.SIGINT)
        profiler.wait()

    def add_cpu(self, answer: dict) -> dict:
        by_name: dict[str, float] = {}
        for pid, seconds in answer.pop("cpu", {}).items():
            name = self.names[int(pid)]
            by_name[name] = round(by_name.get(name, 0) + seconds, 3)
        answer["cpu_by_process"] = by_name
        answer["cpu_seconds"] = round(sum(by_name.values()), 3)
        return answer
