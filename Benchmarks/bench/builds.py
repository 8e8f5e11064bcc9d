"""Several builds of Heliograph beside each other: in which one an act has become dearer."""

import statistics
from collections.abc import Callable
from pathlib import Path

from . import suite
from .heliograph import Heliograph
from .network import reduced
from .scenarios import growth, sends, storm
from .servers import Limit, Server

# What is compared, by the names of scenarios: lower is better.
COMPARED: dict[str, tuple[suite.Beside, tuple[str, ...]]] = {
    "P1": (suite.p1(100, old=False), ("us_per_message",)),
    "P1-old": (suite.p1(100, old=True), ("us_per_message",)),
    "C1": (suite.c1(10_000), ("cpu_ms_per_login", "rss_kib_per_connection", "idle_percent")),
    "C1-known": (suite.c1(10_000, known=True), ("cpu_ms_per_login",)),
    "F1-1000": (suite.f1(1000, 50), ("us_per_delivery",)),
    "F1-100": (suite.f1(100, 500), ("us_per_delivery",)),
    "F1-5000": (suite.f1(5000, 10), ("us_per_delivery",)),
}
# What the limit program has not: clients that poll, and users.
WITHOUT_LIMIT = ("P1-old", "C1-known")


def resumes(checkout: Path, members: int = 20_000) -> dict:
    return storm.storm("kill", reduced(members, storm.OTHERS, "storm"), checkout)


def joins(checkout: Path, size: int = 200) -> dict:
    done = growth.joins((size,), checkout)
    return {"us_per_join_and_leave": done["us_per_join_and_leave"][str(size)], "cpu_by_process": done["cpu_by_process"][str(size)]}


# The same, of clusters that the scenario itself makes from a checkout.
CLUSTERS: dict[str, tuple[Callable[[Path], dict], tuple[str, ...]]] = {
    "storm": (resumes, ("us_per_resume", "resume_seconds", "p99_us")),
    "joins": (joins, ("us_per_join_and_leave",)),
    "A1": (sends.singles, ("us_per_message", "answer_p50_us")),
}
SCENARIOS = (*COMPARED, *CLUSTERS)
LIMIT = "limit"
# The field that has the CPU seconds of each process of which these numbers are made.
BY_PROCESS = {
    "us_per_message": "cpu_by_process", "us_per_delivery": "cpu_by_process", "cpu_ms_per_login": "cpu_by_process",
    "us_per_resume": "cpu_by_process", "us_per_join_and_leave": "cpu_by_process", "idle_percent": "idle_by_process"}


def shares(result: dict, field: str) -> dict[str, float]:
    """What each process takes of a number, in the number's unit; nothing where it is not made of CPU time."""
    seconds = result.get(BY_PROCESS.get(field, ""), {})
    total = sum(seconds.values())
    return {process: result[field] * of_it / total for process, of_it in seconds.items()} if total else {}


def measured(checkouts: list[Path], names: list[str], rounds: int, seconds: float) -> dict[str, dict[str, list[float]]]:
    """The numbers of each build and of the limit, by scenario and field; in each round the build that begins is another one."""
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        for name in names:
            fields = (COMPARED.get(name) or CLUSTERS[name])[1]
            builds = checkouts[number % len(checkouts):] + checkouts[:number % len(checkouts)]
            if name in COMPARED and name not in WITHOUT_LIMIT:
                note(found, name, LIMIT, fields, beside(name, Limit(), seconds))
            for checkout in builds:
                if name in CLUSTERS:
                    result = CLUSTERS[name][0](checkout.resolve())
                else:
                    result = beside(name, Heliograph(checkout=checkout.resolve()), seconds)
                note(found, name, str(checkout), fields, result)
    return found


def beside(name: str, server: Server, seconds: float) -> dict:
    with server:
        return COMPARED[name][0].measure(server, seconds)


def note(found: dict[str, dict[str, list[float]]], name: str, label: str, fields: tuple[str, ...], result: dict) -> None:
    print(f"{name}, {label}: " + ", ".join(f"{field} {result[field]}" for field in fields), flush=True)
    for field in fields:
        found.setdefault(f"{name} {field}", {}).setdefault(label, []).append(result[field])
        for process, share in shares(result, field).items() if label != LIMIT else ():
            found.setdefault(f"{name} {field}: {process}", {}).setdefault(label, []).append(share)


def table(found: dict[str, dict[str, list[float]]]) -> list[str]:
    """A line for each number: its median for each build, and its ratio to the first one's."""
    labels = [label for label in dict.fromkeys(label for row in found.values() for label in row) if label != LIMIT]
    lines = ["| | " + " | ".join([LIMIT, *labels]) + " |", "| --- " * (len(labels) + 2) + "|"]
    for key, row in found.items():
        medians = {label: statistics.median(numbers) for label, numbers in row.items()}
        first = medians.get(labels[0])
        cells = [f"{medians[LIMIT]:.3g}" if LIMIT in medians else ""]
        for label in labels:
            number = f"{medians[label]:.3g}" if label in medians else ""
            cells.append(f"{number} ({medians[label] / first:.2f})" if number and first else number)
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return lines
