"""How long users of healthy masters of a Redis Cluster wait while another master is in trouble."""

from binascii import crc_hqx
from collections.abc import Callable, Iterator

from records import Defect, Records

SLOTS, BUCKETS = 16_384, 4_096
MASTERS = 3
# Seconds of load that are not counted: everybody is still arriving.
WARM_UP = 3
SHARE = 0.9
# How much longer they may wait, and seconds that a busy machine may add.
FACTOR, MARGIN = 1.5, 0.25
# A pair of users sends as many before a fault. With thirteen pairs, one run in hundreds has fewer on healthy masters.
FEWEST = 10


def master_of(app_id: str, account: str) -> str:
    """The server that holds a user's data in a new cluster: Docs/decisions has the layout of keys."""
    slot = SLOTS // BUCKETS * (crc_hqx(f"a:{app_id}:u:{account}".encode(), 0) % BUCKETS)
    return next(f"redis#{number}" for number in range(1, MASTERS + 1) if slot < SLOTS * number // MASTERS)


def percentile(values: list[float], share: float = SHARE) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def waits(records: list[dict], is_healthy: Callable[[str], bool]) -> tuple[list[float], list[float]]:
    """Seconds until messages between users of healthy masters were answered: those sent before the fault, and during it."""
    history = Records(records)
    fault, = history.faults
    began = next(phase["t"] for phase in history.of_kind["phase"] if phase["name"] == "load") + WARM_UP
    before, during = [], []
    for act in history.acts("send"):
        if not (is_healthy(act["who"]) and is_healthy(act["to"])):
            continue
        if began < act["t0"] and act["t1"] < fault["t0"]:
            before.append(act["t1"] - act["t0"])
        elif fault["t0"] <= act["t0"] <= fault["t1"]:
            during.append(act["t1"] - act["t0"])
    return before, during


def patience(records: list[dict], is_healthy: Callable[[str], bool]) -> Iterator[Defect]:
    """Users of healthy masters wait no longer than before."""
    before, during = waits(records, is_healthy)
    if min(len(before), len(during)) < FEWEST:
        yield "other", f"too few messages between users of healthy masters: {len(before)} before, {len(during)} during the fault"
    elif percentile(during) > FACTOR * percentile(before) + MARGIN:
        yield "late", (
            f"users of healthy masters waited {1000 * percentile(during):.0f} ms at the {SHARE:.0%} mark, "
            f"{1000 * percentile(before):.0f} before")
