"""The goals: numbers of which lower is better, each with its bound."""

import statistics
from dataclasses import dataclass

from . import results

OURS = "heliograph"
PEERS = ("nchan", "redis", "mosquitto", "nats", "ejabberd")
F2_GOAL = 5_000_000
P1_GOAL_US, P1_OLD_GOAL_US = 33, 50
C1_RSS_KIB, C1_LOGIN_MS, C1_KNOWN_LOGIN_MS, C1_IDLE_PERCENT = 3.6, 0.42, 0.38, 1
API_GOAL, API_BATCH_GOAL = 5_000, 50_000
STORM_SECONDS, STORM_P99_US = 10, 250_000
# The large storm: so many resumes in so many seconds, and fewer of them in as many fewer seconds.
LARGE_STORM, LARGE_STORM_SECONDS, LARGE_STORM_P99_US = 20_000, 6, 60_000
CLUSTER_BOUND = 1.3


@dataclass(frozen=True)
class Goal:
    """One row of the table of goals."""

    text: str
    # Lower is better; met at or below the bound.
    value: float | None
    bound: float
    shown: str


class _Measured:
    """Makes goals of the medians of what was measured."""

    def __init__(self, runs: dict):
        self.runs = runs

    def ours(self, key: str, field: str) -> float | None:
        return results.median(self.runs, key, OURS, field)

    def fan_out(self, key: str, text: str, bound: float) -> Goal:
        """CPU per delivery, divided by the limit's."""
        value = results.ratio(self.runs, key, OURS, "us_per_delivery", "limit")
        ours, limit = (results.median(self.runs, key, name, "us_per_delivery") for name in (OURS, "limit"))
        return Goal(text, value, bound, "" if value is None else f"{ours:.2f} us, limit {limit:.2f} us: {value:.2f} x")

    def ahead(self, key: str, text: str) -> Goal:
        """CPU per delivery, divided by that of the best other server."""
        peers = {name: results.median(self.runs, key, name, "us_per_delivery") for name in PEERS}
        known = {name: value for name, value in peers.items() if value is not None}
        ours = results.median(self.runs, key, OURS, "us_per_delivery")
        if ours is None or not known:
            return Goal(text, None, 1, "")
        best = min(known, key=known.__getitem__)
        return Goal(text, ours / known[best], 1, f"{ours:.2f} us, {best} {known[best]:.2f} us")

    def clusters(self, text: str) -> Goal:
        """Redis' CPU time for a message on clusters, divided by that on a single Redis; the highest of all sizes."""
        found = [run["messages"] for run in self.runs.get("scaling", {}).get(OURS, [])]
        if not found:
            return Goal(text, None, CLUSTER_BOUND, "")
        costs = {layout: statistics.median(run[layout]["us"] for run in found) for layout in found[0]}
        single = costs.pop("single")
        shown = f"single {single:.1f} us; " + ", ".join(f"{layout} masters {cost:.1f}" for layout, cost in costs.items())
        return Goal(text, max(costs.values()) / single, CLUSTER_BOUND, shown)

    def large_storm(self) -> list[Goal]:
        """The storm of as many as the machine's bound of open files allowed."""
        found = [key for key in self.runs if key.startswith("storm kill ")]
        if not found:
            return []
        members = int(found[0].rsplit(" ", 1)[1])
        bound = LARGE_STORM_SECONDS * members / LARGE_STORM
        return [
            self.per(f"storm (kill): seconds until {members:,} are back / {bound:.1f}", found[0], "resume_seconds", bound),
            self.per(f"storm (kill) of {members:,}: others' p99 in us / 60,000", found[0], "p99_us", LARGE_STORM_P99_US)]

    def per(self, text: str, key: str, field: str, bound: float) -> Goal:
        """A number divided by its bound."""
        value = self.ours(key, field)
        return Goal(text, None, 1, "") if value is None else Goal(text, value / bound, 1, f"{round(value, 3)}")

    def fastest(self, text: str, key: str) -> Goal:
        """The goal for the deliveries a second divided by ours."""
        rate = self.ours(key, "deliveries_per_second")
        return Goal(text, F2_GOAL / rate if rate else None, 1, f"{rate / 1e6:.2f} M/s" if rate else "")

    def highest_ratio(self, key: str, names: tuple[str, ...]) -> float | None:
        """The highest of the names' medians."""
        found = [run["ratios"] for run in self.runs.get(key, {}).get(OURS, [])]
        return max(statistics.median(ratios[name] for ratios in found) for name in names) if found else None

    def api(self) -> list[Goal]:
        """The rates of the server API, as bounds divided by ours."""
        rows = (
            ("A1, server API: 5,000 single sends/s and core / ours", API_GOAL, "singles_per_core", "single_ratio"),
            ("A1, server API, batches of 100: 50,000 messages/s / ours", API_BATCH_GOAL, "batched_per_second", "batch_ratio"))
        found = []
        for text, bound, field, ratio_field in rows:
            rate, ratio = self.ours("A1", field), self.ours("A1", ratio_field)
            shown = f"{rate:,.0f}/s; {ratio:.2f} x a message over WebSocket" if rate and ratio else ""
            found.append(Goal(text, bound / rate if rate else None, 1, shown))
        return found

    def storm(self, kind: str) -> list[Goal]:
        key = f"storm {kind}"
        return [
            self.per(f"storm ({kind}): seconds until 5,000 are back / 10", key, "resume_seconds", STORM_SECONDS),
            self.per(f"storm ({kind}): others' p99 in us / 250,000", key, "p99_us", STORM_P99_US)]


def goals(runs: dict) -> list[Goal]:
    """All goals, with what these runs measured. Where they are from: Docs/decisions/0046-speed.md."""
    measured = _Measured(runs)
    ours, per = measured.ours, measured.per
    return [
        measured.fan_out("F1 1000x50", "F1, 1,000 members, 50 msg/s: CPU per delivery / limit", 0.90),
        measured.fan_out("F1 100x500", "F1, 100 members, 500 msg/s: CPU per delivery / limit", 1.4),
        measured.ahead("F1 100x500", "F1, 100 members, 500 msg/s: CPU per delivery / that of the best other server"),
        measured.fan_out("F1 5000x10", "F1, 5,000 members, 10 msg/s: CPU per delivery / limit", 0.80),
        measured.fastest("F2, 1,000 members: 5 M deliveries/s / ours", "F2 1000"),
        per("P1, pushes: us per message / 33", "P1", "us_per_message", P1_GOAL_US),
        per("P1, notify and poll: us per message / 50", "P1 old", "us_per_message", P1_OLD_GOAL_US),
        per("C1: KiB RSS per connection in the gateway / 3.6", "C1 10000", "rss_kib_per_connection", C1_RSS_KIB),
        per("C1: CPU ms per login + join / 0.42", "C1 10000", "cpu_ms_per_login", C1_LOGIN_MS),
        per(
            "C1, users who have logged in before: CPU ms per login + join / 0.38", "C1 10000 known", "cpu_ms_per_login",
            C1_KNOWN_LOGIN_MS),
        per("C1: percent of a core when idle / 1", "C1 10000", "idle_percent", C1_IDLE_PERCENT),
        Goal("latency, gateway to gateway: p50 / Redis alone", ours("latency", "p50_ratio"), 3, ""),
        Goal("latency, gateway to gateway: p99 / Redis alone", ours("latency", "p99_ratio"), 5, ""),
        Goal("growth: CPU per delivery at 2 and 4 gateways / at 1", measured.highest_ratio("gateways", ("2", "4")), 1.1, ""),
        Goal("growth: CPU per join at 10,000 members / at 10", measured.highest_ratio("joins", ("10000",)), 1.2, ""),
        *measured.api(), *measured.storm("kill"), *measured.storm("cut"),
        *measured.large_storm(), measured.clusters("scaling: Redis' CPU per message on a cluster / on a single Redis"),
    ]
