"""What it costs that a message is acknowledged only when a replica of Redis has it (`HELIOGRAPH_REDIS_DURABILITY=replica`)."""

import subprocess

from ..heliograph import Heliograph
from ..paths import BenchError
from ..processes import LOAD_CORE
from ..servers import Program
from . import pairs


class Replica(Program):
    """A replica of the Redis at a port, beside the load generator rather than the servers: its CPU time is another host's."""

    name = "replica"

    def __init__(self, master: int):
        super().__init__()
        self.master = master

    def command(self) -> list[str]:
        return [
            "taskset", "-c", str(LOAD_CORE), "redis-server", "--port", str(self.ports[0]), "--bind", "127.0.0.1",
            "--dir", str(self.directory), "--save", "", "--replicaof", "127.0.0.1", str(self.master)]

    def answers(self) -> bool:
        """Whether it has its master's data."""
        done = subprocess.run(
            ["redis-cli", "-p", str(self.ports[0]), "INFO", "replication"], capture_output=True, text=True, check=False)
        return "master_link_status:up" in done.stdout


def _measured(durability: str, seconds: float) -> dict:
    """One pair, whose messages each wait alone, and a hundred, which wait together; over one connection to Redis."""
    settings = {"HELIOGRAPH_REDIS_DURABILITY": durability, "HELIOGRAPH_GATEWAY_EVENT_LOOPS": "1"}
    with Heliograph(settings=settings) as server, Replica(server.redis_port()):
        alone = pairs.closed_loop(server, seconds, 1)
        together = pairs.closed_loop(server, seconds, 100)
    if not alone["whole"] or not together["whole"]:
        raise BenchError(f"messages were lost or refused: {alone} {together}")
    return {
        "answer_p50_us": alone["answer_p50_us"], "answer_p99_us": alone["answer_p99_us"], "delivery_p50_us": alone["p50_us"],
        "answer_p50_us_of_100": together["answer_p50_us"], "answer_p99_us_of_100": together["answer_p99_us"],
        "messages_per_second": together["messages_per_second"],
        "redis_us": round(together["cpu_by_process"]["redis"] / together["delivered"] * 1e6, 2),
        "us_per_message": together["us_per_message"]}


def replicated(seconds: float) -> dict:
    """Both settings in one run, and the ratios of `replica` to `none`; a replica follows in both."""
    without, waiting = _measured("none", seconds), _measured("replica", seconds)
    ratios = {f"{name}_ratio": round(waiting[name] / without[name], 2) for name in without}
    return ratios | {"none": without, "replica": waiting}
