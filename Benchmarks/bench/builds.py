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
    return found


def table(found: dict[str, dict[str, list[float]]]) -> list[str]:
    """A line for each number: its median for each build, and its ratio to the first one's."""
    labels = [label for label in dict.fromkeys(label for row in found.values() for label in row) if label != LIMIT]
    lines = ["| | " + " | ".join([LIMIT, *labels]) + " |", "| --- " * (len(labels) + 2) + "|"]
    for key, row in found.items():
        medians = {label: statistics.median(numbers) for label, numbers in row.items()}
        first = medians[labels[0]]
        cells = [f"{medians[LIMIT]:.3g}" if LIMIT in medians else ""]
        cells += [f"{medians[label]:.3g} ({medians[label] / max(first, 1e-9):.2f})" for label in labels]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return lines
