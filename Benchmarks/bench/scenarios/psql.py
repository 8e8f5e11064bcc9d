"""How long operators wait for an answer: what they ask each view, and the queries of Docs/psql.md, with a million users in the tables.

Also what the triggers that keep the views' numbers add to a batch of the mirrors.
"""

import json
import os
import re
import statistics
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from ..heliograph import Heliograph
from ..paths import ROOT, BenchError
from .psql_queries import NAMES, QUERIES

DATA = Path(__file__).with_name("psql_data.sql")
PAGE = ROOT / "Docs" / "psql.md"
RUNS = 5
BOUND_MS = 100
VIEWS = "SELECT viewname FROM pg_views WHERE schemaname = 'public' ORDER BY 1"
# A table of fewer rows is read as a whole, rightly.
SMALL = 1000
BATCH = """
INSERT INTO channel_members AS m (app, channel, account, present, version, uid, joined_at)
SELECT 'app' || (g % 10), 'room' || (g * 7 + {number} * 1000) % 100000, 'new' || g, true, {number}, g, now() FROM generate_series(1, 1000) g
ORDER BY 1, 2, 3 ON CONFLICT (app, channel, account) DO UPDATE SET present = EXCLUDED.present, version = EXCLUDED.version
WHERE m.version < EXCLUDED.version;
"""


@dataclass(frozen=True)
class Size:
    """How many rows there are."""

    users: int = 1_000_000
    channels: int = 100_000
    calls: int = 1_000_000


@dataclass(frozen=True)
class Answered:
    """One query: how long it took, and why."""

    view: str
    asked: str
    first_ms: float
    """The first run, which may read the disk."""
    ms: float
    """The median of the others."""
    rows: int
    read: int
    """Rows that were read of tables and indexes."""
    pages: int
    by: str
    """The indexes, and the large tables that were read as a whole."""

    def __str__(self) -> str:
        return f"{self.view:22} {self.asked:34.34} {self.first_ms:8.1f} {self.ms:8.1f} {self.rows:6} {self.read:8} {self.pages:7}  {self.by}"


HEAD = f"{'view':22} {'asked for':34} {'first ms':>8} {'ms':>8} {'rows':>6} {'read':>8} {'pages':>7}  by"


def _run(url: str, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["psql", url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"psql: {done.stderr}")
    return done.stdout


def _times(url: str, statement: str, runs: int = RUNS + 1) -> list[float]:
    told = _run(url, "-o", "/dev/null", text="\\timing on\n" + f"{statement};\n" * runs)
    return [float(time) for time in re.findall(r"^Time: ([\d.]+) ms", told, re.MULTILINE)]


def _answered(url: str, view: str, asked: str, statement: str) -> Answered:
    first, *others = _times(url, statement)
    explained = json.loads(_run(url, "-c", f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {statement}"))[0]
    plan = explained["Plan"]
    if not plan["Actual Rows"]:
        raise BenchError(f"finds nothing, so its time says nothing: {statement}")
    read, by = 0, set()
    for node in _nodes(plan):
        name = node.get("Index Name") or node.get("Relation Name")
        if name is None:
            continue
        # Rows of the loops' average; with an index and a bitmap, the table's node has what was removed.
        count = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        read += round(count * node["Actual Loops"])
        if "Index Name" in node:
            by.add(name)
        elif node["Node Type"] == "Seq Scan" and count * node["Actual Loops"] > SMALL:
            by.add(f"all of {name}")
    if "JIT" in explained:
        by.add("compiled")
    pages = plan.get("Shared Hit Blocks", 0) + plan.get("Shared Read Blocks", 0)
    return Answered(view, asked, first, statistics.median(others), plan["Actual Rows"], read, pages, ", ".join(sorted(by)))


def _nodes(plan: dict) -> list[dict]:
    return [plan, *(node for part in plan.get("Plans", []) for node in _nodes(part))]


def _page_queries() -> list[str]:
    blocks = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [query.strip() for block in blocks for query in block.split(";\n") if query.strip()]


def _filled(statement: str, names: dict[str, str]) -> str:
    for placeholder, name in names.items():
        statement = statement.replace(f"'{placeholder}'", f"'{name}'")
    return statement


def _asked(url: str) -> list[tuple[str, str, str]]:
    """View, what is asked, and the statement: of every view, and of the page."""
    views = _run(url, "-c", VIEWS).split()
    if unknown := set(views) - set(QUERIES):
        raise BenchError(f"psql_queries.py does not say what operators ask of {', '.join(sorted(unknown))}")
    names: dict[str, str] = {}
    for placeholder, statement in NAMES.items():
        names[placeholder] = _run(url, "-c", _filled(statement, names)).strip()
    asked = []
    for view in views:
        queries = {"the first 100 rows": f"SELECT * FROM {view} LIMIT 100"} | QUERIES[view]
        asked += [(view, text, _filled(statement, names)) for text, statement in queries.items()]
    return asked + [("Docs/psql.md", " ".join(query.split()), _filled(query, names)) for query in _page_queries()]


def _batches(url: str, first: int) -> float:
    """The median time of a batch of the mirrors."""
    return statistics.median(_times(url, BATCH.format(number=first + number).rstrip(";\n"), 1)[0] for number in range(RUNS))


def answers(url: str, size: Size) -> dict:
    """Fills a database, asks, and prints a line for each query.

    :param url: a migrated, empty database
    """
    _run(url, *(word for name, value in asdict(size).items() for word in ("-v", f"{name}={value}")), "-f", str(DATA))
    print(HEAD, flush=True)
    answered = []
    for view, asked, statement in _asked(url):
        answered.append(_answered(url, view, asked, statement))
        print(answered[-1], flush=True)
    with_triggers = _batches(url, 1)
    _run(url, "-c", "ALTER TABLE channel_members DISABLE TRIGGER USER")
    without = _batches(url, 101)
    of_views = [one for one in answered if one.view != "Docs/psql.md"]
    of_page = [one for one in answered if one.view == "Docs/psql.md"]
    slowest_view, slowest = (max(some, key=lambda one: one.ms) for some in (of_views, of_page))
    return asdict(size) | {
        "views": len({one.view for one in of_views}), "slowest_view": f"{slowest_view.view}: {slowest_view.asked}",
        "slowest_view_ms": slowest_view.ms, "queries": len(answered), "slowest_query": slowest.asked, "slowest_query_ms": slowest.ms,
        "ms": {f"{one.view}: {one.asked}": one.ms for one in answered},
        "batch_ms": with_triggers, "batch_without_triggers_ms": without}


def measured(size: Size = Size()) -> dict:
    """Measures in a PostgreSQL of its own, or in the database of HELIOGRAPH_BENCH_POSTGRES."""
    if url := os.environ.get("HELIOGRAPH_BENCH_POSTGRES"):
        return answers(url, size)
    with Heliograph() as server:
        # They would compare what is in the tables with Redis, and correct it.
        for member in server.endpoints()["services"]:
            server.kill(member["name"])
        return answers(server.endpoints()["postgres"]["url"], size)


def over(result: dict, bound_ms: float) -> list[str]:
    """What did not take less than the bound."""
    return [f"{asked}: {ms:.1f} ms, not under {bound_ms:g}" for asked, ms in result["ms"].items() if ms >= bound_ms]
