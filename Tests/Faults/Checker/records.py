"""A history, indexed for the rules of the checker."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

# The deadline of an act at the gateway, and what a loaded machine may add.
DEADLINE, MARGIN = 8, 2
# An answer slower than this counts as "not healed yet".
SLOW = 2
# After this time without a connection (`_conn_timeout`), a user is offline.
SHORTEST_ABSENCE = 20
# Seconds that a message may take around a fault.
HEALING = 15
# Answers that leave open whether the act took effect.
UNKNOWN = ("timeout", "unavailable")

# Reasons for which a user no longer counts as a member, while the cluster and the others have seen no leave.
NO_REASONS = ("session lost", "told of a gap")

# Which of `checker.DEFECTS` was found, or "forgiven"; and what exactly.
Defect = tuple[str, str]


class Records:
    """A history, indexed."""

    def __init__(self, records: list[dict]):
        self.of_kind: dict[str, list[dict]] = defaultdict(list)
        for record in records:
            self.of_kind[record["kind"]].append(record)
        self.faults = self.of_kind["fault"]
        self.end = max((r.get("t1") or r.get("t") or 0 for r in records), default=0)
        phases = {phase["name"]: phase["t"] for phase in self.of_kind["phase"]}
        self.reconnect = phases.get("reconnect", math.inf)
        self.settle = phases.get("settle", math.inf)

    def acts(self, *names: str) -> list[dict]:
        return [act for act in self.of_kind["act"] if act["act"] in names]

    def forgiven(self, t: float) -> bool:
        """Whether what was acknowledged at this time may be lost, because a store was turned back or emptied."""
        return any(fault.get("forgive") and fault["forgive"][0] <= t <= fault["forgive"][1] for fault in self.faults)

    def may_come_twice(self, t: float) -> bool:
        """Whether a message of this time may be delivered twice, or late, because a master that was suspended and replaced still had it."""
        return any(fault.get("twice") and fault["twice"][0] <= t <= fault["twice"][1] for fault in self.faults)

    def silenced(self, t: float) -> float:
        """When a connection may no longer send whose account has logged in elsewhere at a time: when its gateway has heard of that, and
        later if the gateway could hear nothing then."""
        ends = [t]
        for fault in self.faults:
            if (lapse := fault.get("lapse")) is not None:
                deaf = fault.get("deaf", [(fault["t0"], fault["t1"])])
                ends += [t + lapse, *(end + lapse for begin, end in deaf if begin - lapse <= t <= end)]
        return max(ends)

    def under_way(self, act: dict) -> float:
        """Seconds that an acknowledged message may take to those who don't leave before."""
        disturbed = any(fault["t0"] <= act["t1"] + 1 and act["t0"] <= fault["t1"] + HEALING for fault in self.faults)
        return HEALING if disturbed else 1

    @property
    def forgot(self) -> bool:
        return any(fault.get("forgive") for fault in self.faults)


def intervals(history: Records) -> list[tuple[str, str, float, float]]:
    """(member, channel, from, to), in the order of their beginnings."""
    found, open_ones = [], {}
    marks = sorted(history.of_kind["in"] + history.of_kind["out"], key=lambda record: record["t"])
    for mark in marks:
        key = mark["who"], mark["channel"]
        start = open_ones.pop(key, None)
        if start is not None:
            found.append((*key, start, mark["t"]))
        if mark["kind"] == "in":
            open_ones[key] = mark["t"]
    found += [(*key, start, math.inf) for key, start in open_ones.items()]
    return sorted(found, key=lambda stay: stay[2])


def absent(history: Records) -> Iterator[tuple[str, float, float]]:
    """(who, from, to): times without a connection that were long enough to be taken for the end."""
    for who, found in connections(history).items():
        for one, other in zip(found, [*found[1:], {"kind": "end", "t": history.end}], strict=True):
            if one["kind"] == "closed" and other["t"] - one["t"] >= SHORTEST_ABSENCE - 1:
                yield who, one["t"], other["t"]


def cut_off(history: Records) -> Iterator[tuple[str, float, float]]:
    """The same of those who had a connection, but to a gateway that Redis did not hear of for so long."""
    for fault in (fault for fault in history.faults if fault["t1"] - fault["t0"] >= SHORTEST_ABSENCE - 1):
        for who, found in connections(history).items():
            before = [one for one in found if one["t"] <= fault["t0"]]
            if before and before[-1]["kind"] == "open" and before[-1]["gateway"] in fault.get("cut", ()):
                again = (one["t"] for one in found if one["kind"] == "open" and one["t"] > fault["t0"])
                yield who, fault["t0"], next(again, history.end)


def connections(history: Records) -> dict[str, list[dict]]:
    """The beginnings and ends of each user's connections, without attempts to resume that failed."""
    ends = [record for record in history.of_kind["closed"] if not record["resuming"]]
    return group(sorted(history.of_kind["open"] + ends, key=lambda r: r["t"]), lambda r: r["who"])


def group(records: Iterable, key) -> dict:
    found = defaultdict(list)
    for record in records:
        found[key(record)].append(record)
    return found
