"""The gateway's WebSockets against all cases of the Autobahn suite: it echoes messages with the code that serves clients."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CASES = 517
# The longest messages of the suite. With the 64 KiB that clients may send, most of 9.1 to 9.6 would end with 1009.
LONGEST_BYTES = 16 << 20
SUITE_SECONDS = 300
# The gateway has no compression, so that nobody can make it inflate; the suite reports its cases as UNIMPLEMENTED.
COMPRESSION = ("12.", "13.")
GOOD = {"OK", "NON-STRICT", "INFORMATIONAL"}


def faults(report: dict[str, dict]) -> list[str]:
    """What a report of the suite (case -> its index entry) says against the server."""
    found = []
    for case, entry in sorted(report.items()):
        good = {"UNIMPLEMENTED"} if case.startswith(COMPRESSION) else GOOD
        if entry["behavior"] not in good or entry["behaviorClose"] not in GOOD:
            found.append(f"{case}: {entry['behavior']}, close {entry['behaviorClose']}")
    return found


def test_every_case(make_stack, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TEST_ECHO_BYTES", str(LONGEST_BYTES))
    stack = make_stack(gateways=1)
    # A process of its own: the suite puts a stand-in for the package autobahn, which other tests use, into the path.
    program = Path(sys.executable).parent / "kosoku"
    done = subprocess.run(
        [program, stack.gateways[0].removeprefix("ws://").rstrip("/"), "--parallelism", "4", "--outdir", tmp_path],
        capture_output=True, text=True, timeout=SUITE_SECONDS, check=False)
    index = json.loads((tmp_path / "index.json").read_text())
    report, = index.values()
    assert len(report) == CASES, done.stdout[-1000:] + done.stderr[-1000:]
    assert not faults(report)


@pytest.mark.parametrize(("case", "behavior", "close"), [
    ("1.1.1", "FAILED", "OK"), ("1.1.1", "OK", "FAILED"), ("1.1.1", "OK", "WRONG CODE"), ("1.1.1", "UNIMPLEMENTED", "OK"),
    ("12.1.1", "FAILED", "OK"), ("7.1.1", "OK", "UNCLEAN"), ("9.1.1", "ERROR", "OK")])
def test_the_judgement_can_fail(case: str, behavior: str, close: str):
    good = {"2.1": {"behavior": "OK", "behaviorClose": "OK"}, "12.1.2": {"behavior": "UNIMPLEMENTED", "behaviorClose": "OK"}}
    assert not faults(good)
    assert len(faults(good | {case: {"behavior": behavior, "behaviorClose": close}})) == 1
