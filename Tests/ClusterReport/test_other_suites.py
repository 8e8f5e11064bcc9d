"""Point 5: nothing acknowledged is lost with its master. Point 11: what fails between hosts. Other suites show both."""

import os
import subprocess
import sys
from pathlib import Path

import other_suites
import pytest
from sheet import SEED, Sheet
from stack_control import ROOT, clean_environment

KILLS = 100
# A kill takes some four seconds, with the servers' start; the debug build of the tests comes before.
DURABILITY_SECONDS, HOSTS_SECONDS = 2_400, 5_400


@pytest.mark.long
def test_nothing_acknowledged_is_lost_with_its_master():
    done = subprocess.run(
        ["swift", "test", "--disable-xctest", "--no-parallel", "--filter", "RedisDurabilityFailoverTests/nothingAcknowledgedIsLost"],
        cwd=ROOT, env=clean_environment(HELIOGRAPH_TEST_KILLS=str(KILLS)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False, timeout=DURABILITY_SECONDS)
    found = other_suites.durability(done.stdout)
    assert found, "\n".join(done.stdout.splitlines()[-40:])
    name = "a master killed, its replica 100 ms behind, with HELIOGRAPH_REDIS_DURABILITY=replica"
    with Sheet(5) as sheet:
        sheet.at_least(f"{name}: kills", found.kills, KILLS)
        sheet.none(f"{name}: acknowledged numbers that the replica lacks", found.lost, found.acknowledged)
        sheet.at_least("the same with `none`, one kill: numbers that the replica lacks", found.lost_without, 1)
        sheet.none(f"{name}: exit status of the suite", done.returncode)


@pytest.mark.long
def test_scenes_between_hosts(tmp_path: Path):
    # In a process of its own: the suite has modules of the same names as this one, and threads on other hosts.
    environment = os.environ | {"HELIOGRAPH_HOSTS": "all", "HELIOGRAPH_SEED": str(SEED), "HELIOGRAPH_FAULTS_DIR": str(tmp_path)}
    results = tmp_path / "results.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "Tests/Hosts/test_scenes.py", "-q", "--junitxml", str(results)], cwd=ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=HOSTS_SECONDS)
    table = tmp_path / "scenes.txt"
    # Without a table no scene has run: where no hosts can be made, the summary says why.
    assert table.exists() and results.exists(), "\n".join(done.stdout.splitlines()[-40:])
    with Sheet(11) as sheet:
        sheet.note("seed of all scenes", f"{SEED}: HELIOGRAPH_SEED={SEED} make hosts")
        for scene in other_suites.scenes(results.read_text(), table.read_text()):
            judged = "not judged" if scene.acknowledged is None else f"{scene.acknowledged} messages acknowledged"
            sheet.none(f"{scene.name} ({judged}): broken invariants of Tests/Hosts/README.md", scene.failures)
        sheet.none("exit status of the suite", done.returncode)
