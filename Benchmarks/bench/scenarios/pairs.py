"""P1: pairs of users, each answering the other's message at once."""

from ..load import Load
from ..servers import Server


def closed_loop(server: Server, seconds: float, pairs: int = 100, pushes: bool = True) -> dict:
    """CPU time per message while each pair always has one message on its way."""
    options = ["--push"] if pushes and server.driver == "heliograph" else []
    with Load(server, "pairs", "--pairs", pairs, *options) as load:
        load.ask("run 1", "run")
        run = load.ask(f"run {seconds}", "run")
    delivered = max(1, run["delivered"])
    return run | {
        "us_per_message": round(run["cpu_seconds"] / delivered * 1e6, 2),
        "messages_per_second": round(run["delivered"] / run["seconds"]),
        "whole": run["lost"] == run["disorder"] == run["refused"] == run["disconnected"] == 0,
    }
