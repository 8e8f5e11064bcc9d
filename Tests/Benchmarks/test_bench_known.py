"""C1 with users who have logged in before, against a cluster."""

import json
import subprocess

from bench import paths


def test_known_users_log_in_again():
    done = subprocess.run(
        [paths.BENCHMARKS / "run", "C1", "--known", "--connections", "200", "--servers", "limit,heliograph"],
        capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    # The limit program has no users.
    result, = map(json.loads, done.stdout.splitlines())
    assert (result["scenario"], result["server"]) == ("C1 200 known", "heliograph")
    # 200 that are not counted come first.
    assert result["connections"] == 400 and result["whole"]
    assert min(result[field] for field in ("cpu_ms_per_login", "cpu_ms_per_first_login", "cpu_ms_per_logout")) > 0
