"""What an idle connection keeps in a gateway: blocks of memory and the bytes asked for them, counted."""

import json
import statistics
from pathlib import Path

from .heliograph import Heliograph
from .load import Load
from .paths import TOOLS, WORK, BenchError
from .servers import write

# Tables double: between a number of connections and twice as many each does so once, whatever its first size was.
FIRST, SECOND = 1_000, 2_000
# One login after the other: with many at once, chance decides how much one read of Redis' link brings, and so how large its buffers get.
TOGETHER = 1
ROUNDS = 3
# Counts while nothing happens, at least so far apart. Timers and Redis' links allocate and free all the time: the least count is what stays.
SAMPLES, APART_SECONDS = 150, 0.02
# A connection of each kind: whose user has only logged in, and who is a member of the one channel too.
KINDS = {"live.connection": "--others", "live.member": "--members"}
KEPT = WORK / "live.json"
# Bytes differ by one to three between runs, and in some by a buffer that another number of replies has made larger: that is 17 bytes a
# connection, which the median of the rounds leaves out. By 16 bytes malloc's blocks grow.
BYTES_TOLERANCE = 16


class Counted(Heliograph):
    """Its gateway counts what it has allocated and not freed (`Live/live.c`); the programs are the same."""

    def __init__(self) -> None:
        super().__init__()
        self.file = WORK / "live-counts"
        real = self.programs()
        self.binaries = _wrapped(real, WORK / "counted", self.file)

    def count(self) -> tuple[int, int]:
        """Blocks and bytes that the gateway has now."""
        numbers = self.file.read_bytes()
        return int.from_bytes(numbers[:8], "little"), int.from_bytes(numbers[8:16], "little")


def _wrapped(real: Path, folder: Path, file: Path) -> Path:
    """A folder with the same programs, the gateway by a script that loads the counting library into it alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for program in real.iterdir():
        if program.is_file():
            (folder / program.name).symlink_to(program)
    (folder / "gateway").unlink()
    script = write(folder / "gateway", f"""#!/bin/sh
export LD_PRELOAD='{TOOLS / "live.so"}' BENCH_LIVE_FILE='{file}'
exec '{real / "gateway"}' "$@"
""")
    script.chmod(0o755)
    return folder


def _least(server: Counted, load: Load) -> tuple[int, int]:
    """What stays: of each number the least of many counts."""
    counts = []
    for _ in range(SAMPLES):
        load.send(f"stand {APART_SECONDS} 0")
        if load.read("stood")["disconnected"]:
            raise BenchError("connections were lost while they were counted")
        counts.append(server.count())
    return min(blocks for blocks, _ in counts), min(size for _, size in counts)


def _per_connection(option: str) -> tuple[float, float]:
    """Blocks and bytes of a connection, as the difference of two numbers of connections: what is set up once does not count."""
    options = ("--push", "--concurrency", TOGETHER, "--members", 0, option, SECOND)
    with Counted() as server, Load(server, "idle", *options) as load:
        counts = []
        for connections in (FIRST, SECOND):
            opened = load.ask(f"open {connections}", "opened")
            if opened["disconnected"] or opened["connections"] != connections:
                raise BenchError(f"connections were lost: {opened}")
            counts.append(_least(server, load))
    (blocks, size), (more_blocks, more_size) = counts
    return (more_blocks - blocks) / (SECOND - FIRST), (more_size - size) / (SECOND - FIRST)


def measure() -> list[dict]:
    rows = []
    for name, option in KINDS.items():
        blocks, sizes = zip(*(_per_connection(option) for _ in range(ROUNDS)), strict=True)
        # A few blocks of the gateway's own come and go with time, not with connections.
        rows.append({"name": name, "blocks": round(statistics.median(blocks)), "bytes": round(statistics.median(sizes))})
    KEPT.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def kept() -> list[dict]:
    """The last measurement's rows."""
    try:
        return json.loads(KEPT.read_text())
    except FileNotFoundError:
        return []


def table(rows: list[dict]) -> list[str]:
    return ["| | blocks | bytes |", "| --- | --- | --- |"] + [f"| {row['name']} | {row['blocks']} | {row['bytes']:,} |" for row in rows]


def regressions(rows: list[dict], baseline: dict[str, dict]) -> list[str]:
    """What keeps more blocks or bytes than it did."""
    found = []
    for row in rows:
        known = baseline.get(row["name"])
        if known is None:
            found.append(f"{row['name']}: not in the baseline")
            continue
        if row["blocks"] > known["blocks"]:
            found.append(f"{row['name']}: {row['blocks']} blocks, baseline {known['blocks']}")
        if row["bytes"] > known["bytes"] + BYTES_TOLERANCE:
            found.append(f"{row['name']}: {row['bytes']} bytes, baseline {known['bytes']}")
    return found
