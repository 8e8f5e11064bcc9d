"""F1: messages to the members of a channel at a given rate. F2: the highest rate that is sustained."""

from math import ceil

from ..load import Load
from ..servers import Server

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
    """F1: `rate` messages a second to `members` for `seconds`, after a second of warming up."""
    with _load(server, members, publishers_for(server, rate, members)) as load:
        load.ask(f"run {rate} 1", "run")
        return summary(load.ask(f"run {rate} {seconds}", "run"))


def keeps_up(run: dict) -> bool:
    """Whether a rate was sustained."""
    return (is_whole(run) and run["p99_us"] < P99_BOUND_US and run["sending"] > 0
            and run["delivered"] / run["seconds"] >= RATE_KEPT * run["rate"] * run["expected"] / max(1, run["sent"]))


def fastest(server: Server, members: int, seconds: float, *, first: float = 100, steps: int = 5) -> dict:
    """F2: the best run, measured for `seconds` at the highest rate that is sustained.

    The search begins with `first` messages a second; it doubles the rate until it is not sustained, then halves the interval
    between the best and the first bad rate at most `steps` times.
    """
    with Attempts(server, members) as attempts:
        good, bad, best = _bracket(attempts, first)
        if good == 0:
            return best
        for _ in range(steps):
            if bad / good < 1.04:
                break
            rate = (good * bad) ** 0.5
            run = attempts.measure(rate, 2)
            if keeps_up(run):
                good, best = rate, run
            else:
                bad = rate
        # The result is a longer run, in which a rate at the very edge may not be sustained: then a lower one is tried.
        for _ in range(4):
            run = attempts.measure(good, seconds)
            if keeps_up(run):
                return run
            good *= 0.93
        return best | {"held": False}


def _bracket(attempts: "Attempts", rate: float) -> tuple[float, float, dict]:
    """A rate that is sustained, one that is not, and the run of the first; 0 and the last run if even one a second is too fast."""
    good, best = 0.0, {}
    while True:
        run = attempts.measure(rate, 2)
        if keeps_up(run):
            good, best, rate = rate, run, rate * 2
        elif good:
            return good, rate, best
        elif rate < 2:
            return 0, rate, run
        else:
            rate /= 4


class Attempts:
    """Runs at rates that may be too high, with members who are replaced when the server has disconnected one of them."""

    def __init__(self, server: Server, members: int):
        self.server = server
        self.members = members
        self.load: Load | None = None

    def __enter__(self) -> "Attempts":
        return self

    def __exit__(self, *_: object) -> None:
        if self.load is not None:
            self.load.__exit__()
            self.load = None

    def measure(self, rate: float, seconds: float) -> dict:
        """One run; a second one when the first was not sustained, because something else may have disturbed it."""
        run = self._run(rate, seconds)
        return run if keeps_up(run) else self._run(rate, seconds)

    def _run(self, rate: float, seconds: float) -> dict:
        if self.load is None:
            self.load = _load(self.server, self.members, publishers_for(self.server, FASTEST, self.members))
            self.load.__enter__()
        run = summary(self.load.ask(f"run {rate:.0f} {seconds}", "run"))
        print(f"    {run['rate']:.0f}/s: {run['deliveries_per_second']:,} deliveries/s, p99 {run['p99_us'] / 1000:.1f} ms, "
              f"{run['us_per_delivery']} us each{'' if keeps_up(run) else ', not sustained'}", flush=True)
        if run["disconnected"] or run["delivered"] != run["expected"]:
            self.__exit__()
        return run
