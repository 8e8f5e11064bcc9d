"""Latency from a client of one gateway to a client of another, compared with Redis alone in the same run."""

from ..heliograph import Heliograph
from ..load import Load
from ..servers import Server
from .fanout import is_whole


class StackRedis(Server):
    """The stack's own Redis, spoken to directly."""

    name = driver = "redis"

    def __init__(self, stack: Heliograph):
        super().__init__()
        self.stack = stack
        self.ports = [stack.redis_port()]

    def processes(self) -> dict[int, str]:
        return self.stack.processes()


def _one_to_one(server: Server, rate: float, seconds: float, *options: object) -> dict:
    with Load(server, "fanout", "--members", 1, "--outside", "--stamp-sending", *options) as load:
        load.ask(f"run {rate} 1", "run")
        run = load.ask(f"run {rate} {seconds}", "run")
    return {"p50_us": run["p50_us"], "p99_us": run["p99_us"], "max_us": run["max_us"], "whole": is_whole(run)}


def gateway_to_gateway(seconds: float, rate: float = 50) -> dict:
    """The latency between clients of two gateways, measured between two measurements of Redis alone."""
    with Heliograph(gateways=2) as server:
        bare = StackRedis(server)
        first = _one_to_one(bare, rate, seconds / 2)
        ours = _one_to_one(server, rate, seconds, "--publisher-endpoint", 1)
        second = _one_to_one(bare, rate, seconds / 2)
    redis = {name: round((first[name] + second[name]) / 2, 1) for name in ("p50_us", "p99_us")}
    return ours | {
        "redis_p50_us": redis["p50_us"], "redis_p99_us": redis["p99_us"],
        "p50_ratio": round(ours["p50_us"] / redis["p50_us"], 2),
        "p99_ratio": round(ours["p99_us"] / redis["p99_us"], 2)}
