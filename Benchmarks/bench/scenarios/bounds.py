"""What each bound costs Redis for a message: what its functions compute for it, many times in one call."""

import json
import re
import subprocess
from dataclasses import dataclass

from ..heliograph import Heliograph
from ..paths import BenchError, tool
from ..peers import Redis

LIBRARY = "heliograph_messages"
TIMES = 200_000
# Of a Redis that is tight: more than half of its memory is used, and less than the fraction from which on all are refused. An app may
# add a twentieth of it, which the entries below do not reach.
FILLER, MAXMEMORY = 400_000_000, 700_000_000


@dataclass(frozen=True)
class Bound:
    """One bound: what is computed for it once a message, and what was computed without it."""

    name: str
    tag: str
    with_it: str
    without_it: str = "nil"
    is_tight: bool = False


USER, CHANNEL = "{17}a:app:u:anna", "{a:app:c:room}"
# So small that the app's share is not reached.
SHARE = "refuses_memory(tag, 0.001, now)"
BOUNDS = [
    Bound("an app's share of Redis: to users", USER, SHARE, "crowded(now)"),
    Bound("the same while Redis is more than half full", USER, SHARE, "crowded(now)", is_tight=True),
    Bound("deadline: to users once a batch, to channels", USER, "late_error('9999999999999', now)"),
    Bound("special channels: to channels", CHANNEL, "is_special(tag)"),
]


def measured(rounds: int) -> list[dict]:
    """Nanoseconds of Redis for a message: the least of some rounds, which what else the machine does can only prolong."""
    library = _library()
    with Redis() as server:
        return [
            {"bound": bound.name, "ns": _cost(server.ports[0], library, bound, rounds)} for bound in BOUNDS]


def table(rows: list[dict]) -> list[str]:
    return ["| bound | ns of Redis for a message |", "| --- | --- |"] + [f"| {row['bound']} | {row['ns']:.0f} |" for row in rows]


def _library() -> str:
    """The library's text, as the services load it."""
    with Heliograph() as server:
        listed = _cli(server.redis_port(), "--json", "FUNCTION", "LIST", "LIBRARYNAME", LIBRARY + "*", "WITHCODE")
    return "".join(library["library_code"] for library in json.loads(listed))


def _cost(port: int, library: str, bound: Bound, rounds: int) -> float:
    _cli(port, "FLUSHALL")
    _cli(port, "CONFIG", "SET", "maxmemory", str(MAXMEMORY if bound.is_tight else 0))
    if bound.is_tight:
        _cli(port, "SETRANGE", "filler", str(FILLER), "x")
    least = {}
    for _ in range(rounds):
        for code in (bound.with_it, bound.without_it):
            least[code] = min(least.get(code, float("inf")), _nanoseconds(port, library, bound.tag, code))
    return least[bound.with_it] - least[bound.without_it]


def _nanoseconds(port: int, library: str, tag: str, code: str) -> float:
    """What computing something once takes Redis, by its own statistics of one call that computes it `TIMES` times."""
    loop = f"local tag, now = keys[1], clock() for _ = 1, {TIMES} do local _ = {code} end return tag"
    text = f"{library}\nregister_function('computes', function(keys, args) {loop} end)\n"
    _cli(port, "-x", "FUNCTION", "LOAD", "REPLACE", stdin=text)
    functions = json.loads(_cli(port, "--json", "FUNCTION", "LIST"))[0]["functions"]
    name = next(one["name"] for one in functions if one["name"].startswith("computes"))
    _cli(port, "CONFIG", "RESETSTAT")
    _cli(port, "FCALL", name, "1", tag)
    statistic = re.search(r"cmdstat_fcall:calls=1,usec=(\d+),", _cli(port, "INFO", "commandstats"))
    if not statistic:
        raise BenchError("Redis has no statistics of the call")
    return int(statistic[1]) * 1000 / TIMES


def _cli(port: int, *arguments: str, stdin: str | None = None) -> str:
    done = subprocess.run(
        [tool("redis-cli"), "-e", "-p", str(port), *arguments], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"redis-cli {' '.join(arguments)[:100]}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout
