"""Several builds of Heliograph beside each other: in which one an act has become dearer."""

import statistics
from pathlib import Path

from . import suite
from .heliograph import Heliograph
from .servers import Limit

# What is compared, by the names of scenarios: lower is better.
COMPARED: dict[str, tuple[suite.Beside, tuple[str, ...]]] = {
    "P1": (suite.p1(100, old=False), ("us_per_message",)),
    "P1-old": (suite.p1(100, old=True), ("us_per_message",)),
    "C1": (suite.c1(10_000), ("cpu_ms_per_login", "rss_kib_per_connection", "idle_percent")),
    "F1-1000": (suite.f1(1000, 50), ("us_per_delivery",)),
    "F1-100": (suite.f1(100, 500), ("us_per_delivery",)),
}
LIMIT = "limit"
# The field that has the CPU seconds of each process of which these numbers are made.
BY_PROCESS = {
    "us_per_message": "cpu_by_process", "us_per_delivery": "cpu_by_process", "cpu_ms_per_login": "cpu_by_process",
    "idle_percent": "idle_by_process"}


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
            scenario, fields = COMPARED[name]
            servers = {str(checkout): Heliograph(checkout=checkout.resolve()) for checkout in checkouts}
            # Clients that poll have no limit to be compared with.
            others = {LIMIT: Limit()} if name != "P1-old" else {}
            turn = number % len(servers)
            for label, server in [*others.items(), *list(servers.items())[turn:], *list(servers.items())[:turn]]:
                with server:
                    result = scenario.measure(server, seconds)
                print(f"{name}, {label}: " + ", ".join(f"{field} {result[field]}" for field in fields), flush=True)
                for field in fields:
                    found.setdefault(f"{name} {field}", {}).setdefault(label, []).append(result[field])
                    for process, share in shares(result, field).items() if label != LIMIT else ():
                        found.setdefault(f"{name} {field}: {process}", {}).setdefault(label, []).append(share)
    return found


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
