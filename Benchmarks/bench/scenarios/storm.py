"""A reconnect storm: thousands of clients resume at once, while others talk."""

from pathlib import Path

from ..heliograph import Heliograph
from ..load import Load
from ..paths import ROOT

MEMBERS, OTHERS = 5000, 100
CALM_SECONDS = 3


def storm(kind: str, members: int = MEMBERS, checkout: Path = ROOT, rate: float = 50, channels: int = 100) -> dict:
    """`kill`: the members' gateway is killed, and they resume at the others'. `cut`: their connections are cut, and they
    resume where they were, with the others. Those have a load generator of their own.

    :param checkout: another one, with its programs
    """
    options = ("--members", members, "--channels", channels, "--concurrency", 500, "--push")
    with (
        Heliograph(gateways=2 if kind == "kill" else 1, checkout=checkout) as server, Load(server, "storm", *options) as load,
        Load(server, "talk", "--members", OTHERS, "--prefix", "others", "--push") as others,
    ):
        calm = others.ask(f"talk {rate} {CALM_SECONDS}", "talked")
        others.send(f"talk {rate} 0")
        load.tell_pids()
        with load.profiled(f"storm {kind}"):
            load.send(f"storm {kind}")
            load.read("storm")
            if kind == "kill":
                server.kill("gateway#1")
            run = load.add_cpu(load.read("run"))
        meanwhile = others.ask("end", "talked")
        checked = load.ask("check", "checked")
    run |= {
        "calm_p50_us": calm["p50_us"], "calm_p99_us": calm["p99_us"], "others_disconnected": meanwhile["disconnected"],
        "refused": run["refused"] + meanwhile["refused"]}
    run |= {name: meanwhile[name] for name in ("spoken", "heard", "expected", "disorder", "p50_us", "p99_us", "max_us")}
    return run | {
        "resume_seconds": round(run["resume_last_ms"] / 1000, 2),
        "us_per_resume": round(run["cpu_seconds"] / members * 1e6),
        "channels_heard": f"{checked['delivered']}/{checked['expected']}",
        "whole": run["errors"] == run["disorder"] == run["refused"] == run["others_disconnected"] == 0
        and run["heard"] == run["expected"] and run["resumed"] == members and checked["delivered"] == checked["expected"],
    }
