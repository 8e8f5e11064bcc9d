"""The command line."""

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from . import builds, check, compare, live, micro, network, report, results, suite
from .heliograph import Heliograph
from .paths import BENCHMARKS, BenchError
from .peers import PEERS
from .processes import rank_up
from .scenarios import bounds, media_client, psql, storm
from .servers import Limit, RefusedByKernel

SERVERS = {"limit": Limit, "ring": lambda: Limit("--ring"), "coalescing": lambda: Limit("--coalesce"), "heliograph": Heliograph} | PEERS
QUICK = "limit,heliograph"


def build_tools() -> None:
    done = subprocess.run(["make", "-s", "-C", BENCHMARKS], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the load generator does not build:\n{done.stderr}")


def parser() -> argparse.ArgumentParser:
    timed = argparse.ArgumentParser(add_help=False)
    timed.add_argument("--seconds", type=float, default=8, help="length of a measurement (default: 8)")
    timed.add_argument("--repeat", type=int, default=1, help="measurements of each server, alternating (default: 1)")
    timed.add_argument("--save", action="store_true", help="keep the results for `report`")
    beside = argparse.ArgumentParser(add_help=False, parents=[timed])
    beside.add_argument("--servers", default=QUICK, help=f"of {', '.join(SERVERS)}; or all (default: {QUICK})")
    top = argparse.ArgumentParser(prog="Benchmarks/run", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_scenarios(commands, timed, beside)
    everything = commands.add_parser("all", parents=[timed], help="every scenario, then the report")
    everything.add_argument("--servers", default="all", help="(default: all)")
    checking = commands.add_parser(
        "check", help="fail when the hot path counts more than the baseline, or a scenario costs more than in another build")
    checking.add_argument("--seconds", type=float, default=8, help="length of a measurement (default: 8)")
    checking.add_argument("--no-micro", action="store_true", help="without the counts: the micro-benchmarks and what connections keep")
    checking.add_argument("--rounds", type=int, default=5, help="measurements of each build, alternating; odd (default: 5)")
    checking.add_argument(
        "--most", type=int, default=compare.MOST_ROUNDS, help=f"as many where fewer leave it open; odd (default: {compare.MOST_ROUNDS})")
    checking.add_argument(
        "--against", type=Path, metavar="DIR", help="a checkout with release programs (default: the previous release, built when it is missing)")
    several = commands.add_parser("builds", help="several builds in turns: in which one an act has become dearer")
    several.add_argument("checkouts", type=Path, nargs="+", metavar="DIR", help="a checkout with release programs")
    several.add_argument(
        "--scenarios", default="P1,C1", help=f"of {', '.join(builds.SCENARIOS)} (default: P1,C1)")
    several.add_argument("--rounds", type=int, default=3, help="measurements of each build (default: 3)")
    several.add_argument("--seconds", type=float, default=5, help="length of a measurement (default: 5)")
    commands.add_parser("micro", help="the parts of the hot path: CPU time, allocations, instructions")
    commands.add_parser("live", help="what an idle connection keeps in a gateway: blocks of memory and their bytes, counted")
    commands.add_parser("report", help="write RESULTS.md and results.json from the kept results")
    commands.add_parser("baseline", help="make the last counts of `micro` and `live` the baseline")
    commands.add_parser("clear", help="delete the kept results")
    return top


def _add_scenarios(commands, timed: argparse.ArgumentParser, beside: argparse.ArgumentParser) -> None:
    """The commands that measure one scenario each: `beside` other servers, or Heliograph alone."""
    f1 = commands.add_parser("F1", parents=[beside], help="messages at a steady rate to all members of a channel")
    f1.add_argument("--members", type=int, default=1000)
    f1.add_argument("--rate", type=float, default=50)
    f2 = commands.add_parser("F2", parents=[beside], help="the highest rate with p99 under 100 ms and nothing lost")
    f2.add_argument("--members", type=int, default=1000)
    f2.add_argument("--first", type=float, default=100, help="messages a second to begin with (default: 100)")
    p1 = commands.add_parser("P1", parents=[beside], help="pairs that answer each other")
    p1.add_argument("--pairs", type=int, default=100)
    p1.add_argument("--old", action="store_true", help="Heliograph's clients are notified and poll, as the old ones do")
    c1 = commands.add_parser("C1", parents=[beside], help="idle connections")
    c1.add_argument("--connections", type=int, default=10_000)
    c1.add_argument("--channels", type=int, default=1)
    c1.add_argument("--known", action="store_true", help="Heliograph's users have logged in before")
    c1.add_argument("--old", action="store_true", help="Heliograph's clients poll after the login")
    for alone, text in (
        ("storm", "thousands of clients resume at once"), ("latency", "gateway to gateway, beside bare Redis"),
        ("gateways", "F1 at 1, 2 and 4 gateways"), ("joins", "joins of small and large channels"),
        ("memory", "memory per channel and member"), ("crowd", "100,000 idle users"),
        ("scaling", "one Redis, and clusters of 1, 3, 6 and 12 masters"),
        ("durability", "P1 with and without waiting for a replica of Redis"),
        ("A1", "the server API: single sends and batches, beside messages over WebSocket"),
    ):
        one = commands.add_parser(alone, parents=[timed], help=text)
        if alone == "storm":
            one.add_argument("--kind", choices=("kill", "cut"), default="kill")
            one.add_argument("--members", type=int, default=storm.MEMBERS, help=f"who resume (default: {storm.MEMBERS:,})")
    looks = commands.add_parser("psql", help="what operators ask every view, and the queries of Docs/psql.md; fails above the bound")
    looks.add_argument("--save", action="store_true", help="keep the results for `report`")
    for name, value in asdict(psql.Size()).items():
        looks.add_argument(f"--{name}", type=int, default=value, help=f"(default: {value:,})")
    looks.add_argument("--bound", type=float, default=psql.BOUND_MS, help=f"milliseconds that an answer may take (default: {psql.BOUND_MS})")
    of_messages = commands.add_parser("bounds", help="what each bound costs Redis for a message; what it costs a gateway is among `micro`")
    of_messages.add_argument("--rounds", type=int, default=7, help="measurements of which the least counts (default: 7)")
    client = commands.add_parser("media-client", help="the CPU of a participant of a media channel, beside the codec alone")
    client.add_argument("--seconds", type=float, default=10, help="length of a measurement (default: 10)")
    client.add_argument("--rounds", type=int, default=3, help="measurements of which the median counts (default: 3)")


def chosen(arguments: argparse.Namespace) -> list[suite.Beside] | list[suite.Alone]:
    match arguments.command:
        case "F1": return [suite.f1(arguments.members, arguments.rate)]
        case "F2": return [suite.f2(arguments.members, arguments.first)]
        case "P1": return [suite.p1(arguments.pairs, arguments.old)]
        case "C1": return [suite.c1(arguments.connections, arguments.channels, arguments.old, arguments.known)]
        case "storm": return [suite.resumes(arguments.kind, arguments.members)]
        case other: return [one for one in suite.alone() if one.key == other]


def tell(key: str, server: str, result: dict, saves: bool) -> None:
    print(json.dumps({"scenario": key, "server": server} | result), flush=True)
    if saves:
        results.add(key, server, result)


def measure(scenario: suite.Beside | suite.Alone, servers: str, seconds: float, saves: bool) -> None:
    if isinstance(scenario, suite.Alone):
        return tell(scenario.key, "heliograph", scenario.measure(seconds), saves)
    for name in SERVERS if servers == "all" else servers.split(","):
        if name not in SERVERS:
            raise BenchError(f"no server {name!r} (there are {', '.join(SERVERS)})")
        if scenario.ours_alone and name != "heliograph":
            continue
        if name in scenario.without and servers == "all":
            continue
        try:
            with SERVERS[name]() as server:
                tell(scenario.key, name, scenario.measure(server, seconds), saves)
        except RefusedByKernel as refused:
            if servers != "all":
                raise
            print(f"bench: {scenario.key} without {name}: {refused}", file=sys.stderr)


def look(arguments: argparse.Namespace) -> int:
    """Measures what operators ask; 1 when an answer took longer than the bound."""
    result = psql.measured(psql.Size(arguments.users, arguments.channels, arguments.calls))
    tell("psql", "heliograph", result, arguments.save)
    slow = psql.over(result, arguments.bound)
    print(*slow, sep="\n", file=sys.stderr)
    return 1 if slow else 0


def measure_all(arguments: argparse.Namespace) -> None:
    results.clear()
    micro.build()
    micro.measure()
    live.measure()
    for number in range(arguments.repeat):
        for scenario in suite.beside():
            measure(scenario, arguments.servers, arguments.seconds, saves=True)
        for scenario in suite.ours():
            measure(scenario, "heliograph", arguments.seconds, saves=True)
        # Those of Heliograph alone take long, and most of them are ratios of what they measure themselves.
        if number == 0:
            for scenario in suite.alone():
                measure(scenario, "", arguments.seconds, saves=True)
    print(report.write())


def measure_and_check(arguments: argparse.Namespace) -> int:
    if not arguments.no_micro:
        micro.build()
        micro.measure()
        # Counts do not vary: if they are worse, nothing else needs to be measured.
        live.measure()
        if worse := check.micro_regressions() + check.live_regressions():
            print(*worse, sep="\n")
            return 1
    worse = compare.regressions(
        arguments.against or compare.previous_release(), arguments.rounds, max(arguments.rounds, arguments.most), arguments.seconds)
    print(*worse or ["no regression"], sep="\n")
    return 1 if worse else 0


def run(arguments: argparse.Namespace) -> int:
    match arguments.command:
        case "micro":
            micro.build()
            print(*micro.table(micro.measure()), sep="\n")
        case "live": print(*live.table(live.measure()), sep="\n")
        case "report": print(report.write())
        case "baseline": check.keep()
        case "clear": results.clear()
        case "all": measure_all(arguments)
        case "check": return measure_and_check(arguments)
        case "builds":
            names = arguments.scenarios.split(",")
            if unknown := [name for name in names if name not in builds.SCENARIOS]:
                raise BenchError(f"no scenario {unknown[0]!r} (there are {', '.join(builds.SCENARIOS)})")
            print(*builds.table(builds.measured(arguments.checkouts, names, arguments.rounds, arguments.seconds)), sep="\n")
        case "psql": return look(arguments)
        case "bounds": print(*bounds.table(bounds.measured(arguments.rounds)), sep="\n")
        case "media-client":
            result = media_client.measured(arguments.seconds, arguments.rounds)
            print(*media_client.table(result), sep="\n")
            print(json.dumps(result))
        case _:
            for _ in range(arguments.repeat):
                for scenario in chosen(arguments):
                    measure(scenario, getattr(arguments, "servers", ""), arguments.seconds, arguments.save)
    return 0


def main() -> int:
    arguments = parser().parse_args()
    try:
        # Only those that need a load.
        if arguments.command not in {"psql", "bounds", "media-client", "report", "baseline", "clear"}:
            build_tools()
            network.raise_files()
            print(f"bench: {network.described(network.conditions())}", file=sys.stderr)
        rank_up()
        return run(arguments)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
