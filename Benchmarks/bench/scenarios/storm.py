"""A reconnect storm: thousands of clients resume at once, while others talk."""

from ..heliograph import Heliograph
from ..load import Load


MEMBERS, OTHERS = 5000, 100


def storm(kind: str, members: int = MEMBERS, others: int = OTHERS, rate: float = 50, channels: int = 100) -> dict:
    """`kill`: the members' gateway is killed, and they resume at the others'. `cut`: their connections are cut, and they
    resume where they were, with the others."""
    options = ("--members", members, "--others", others, "--channels", channels, "--concurrency", 500, "--push")
    with Heliograph(gateways=2 if kind == "kill" else 1) as server, Load(server, "storm", *options) as load:
        load.tell_pids()
        with load.profiled(f"storm {kind}"):
            load.send(f"storm {kind} {rate} 3 3")
            load.read("storm")
            if kind == "kill":
                server.kill("gateway#1")
            run = load.add_cpu(load.read("run"))
        checked = load.ask("check", "checked")
    return run | {
        "resume_seconds": round(run["resume_last_ms"] / 1000, 2),
        "us_per_resume": round(run["cpu_seconds"] / members * 1e6),
        "channels_heard": f"{checked['delivered']}/{checked['expected']}",
        "whole": run["errors"] == run["disorder"] == run["refused"] == run["others_disconnected"] == 0
        and run["heard"] == run["expected"] and run["resumed"] == members and checked["delivered"] == checked["expected"],
    }
