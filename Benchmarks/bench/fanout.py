"""F1: a given number of members and messages a second. F2: the highest rate."""

from math import ceil

from .load import Load
from .servers import Server

P99_BOUND_US = 100_000
# The share of the asked rate that must be kept: with less, the generator or the server did not keep up.
RATE_KEPT = 0.97
# The most messages a second that F2's publishers can send.
FASTEST = 10_000


def publishers_for(server: Server, rate: float, members: int) -> int:
    return min(members, max(1, ceil(rate / server.messages_per_publisher)))


def _load(server: Server, members: int, publishers: int) -> Load:
    outside = [] if server.members_speak else ["--outside"]
    return Load(server, "fanout", "--members", members, "--publishers", publishers, *outside)


def summary(run: dict) -> dict:
    """The numbers of a run that the table shows."""
    delivered = max(1, run["delivered"])
    return run | {
        "us_per_delivery": round(run["cpu_seconds"] / delivered * 1e6, 3),
        "deliveries_per_second": round(run["delivered"] / max(run["seconds"], 0.001)),
        "whole": is_whole(run),
    }


def is_whole(run: dict) -> bool:
    """Nothing lost, nothing out of order, nothing refused."""
    return (run["delivered"] == run["expected"] and run["disorder"] == 0 and run["refused"] == 0
            and run["disconnected"] == 0)


def steady(server: Server, members: int, rate: float, seconds: float) -> dict:
    """F1."""
    with _load(server, members, publishers_for(server, rate, members)) as load:
        load.ask(f"run {rate} 1", "run")
        return summary(load.ask(f"run {rate} {seconds}", "run"))



def keeps_up(run: dict) -> bool:
    """Whether a rate was sustained."""
    return (is_whole(run) and run["p99_us"] < P99_BOUND_US and run["sending"] > 0
            and run["delivered"] / run["seconds"] >= RATE_KEPT * run["rate"] * run["expected"] / max(1, run["sent"]))


def fastest(server: Server, members: int, seconds: float, *, first: float = 100, steps: int = 5, say=print) -> dict:
    """F2: doubles the rate until it is not sustained, then halves the interval; the best run, measured for `seconds`."""
    def attempt(rate: float, duration: float) -> dict:
        """One run; a second one when the first was not sustained: something else may have disturbed it."""
        run = once(rate, duration)
        return run if keeps_up(run) else once(rate, duration)

    def once(rate: float, duration: float) -> dict:
        nonlocal load
        if load is None:
            # A member was disconnected: begin with new members.
            load = _load(server, members, publishers_for(server, FASTEST, members))
            load.__enter__()
        run = summary(load.ask(f"run {rate:.0f} {duration}", "run"))
        say(f"    {run['rate']:.0f}/s: {run['deliveries_per_second']:,} deliveries/s, p99 {run['p99_us'] / 1000:.1f} ms, "
            f"{run['us_per_delivery']} us each{'' if keeps_up(run) else ', not sustained'}", flush=True)
        if run["disconnected"] or run["delivered"] != run["expected"]:
            load.__exit__()
            load = None
        return run

    load = None
    try:
        good, bad, rate, best = 0.0, None, first, None
        while bad is None:
            run = attempt(rate, 2)
            if keeps_up(run):
                good, best, rate = rate, run, rate * 2
            else:
                bad = rate
                if good == 0 and rate < 2:
                    return run
                if good == 0:
                    rate, bad = rate / 4, None
        for _ in range(steps):
            if bad / good < 1.04:
                break
            rate = (good * bad) ** 0.5
            run = attempt(rate, 2)
            if keeps_up(run):
                good, best = rate, run
            else:
                bad = rate
        # The result is a longer run; a rate at the very edge may not hold for so long.
        rate = good
        for _ in range(4):
            run = attempt(rate, seconds)
            if keeps_up(run):
                return run
            rate *= 0.93
        return best | {"held": False}
    finally:
        if load is not None:
            load.__exit__()
