"""The limit program, which other servers are compared with."""

import json
import subprocess

from bench import paths

# More than a ring takes at once.
MEMBERS = 300


def test_the_limit_delivers_everything_with_system_calls_and_with_the_ring():
    done = subprocess.run(
        [paths.BENCHMARKS / "run", "F1", "--servers", "limit,ring", "--members", str(MEMBERS), "--rate", "20", "--seconds", "1"],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["server"], one["whole"]) for one in results] == [("limit", True), ("ring", True)]
    assert all(one["delivered"] >= MEMBERS for one in results)
