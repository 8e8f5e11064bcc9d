"""Two who hear each other, as Docs/quick-start.md says it: its commands on a cluster with a media node."""

import subprocess
import wave
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import pages
from stack_control import Stack
from test_commands import prepared
from tone import ABSENT, PERIOD, RATE, level, snr

PAGE = "Docs/quick-start.md"
RUN_SECONDS = 60
# The tones of Anna and Bert on the page, in Hz.
ANNA, BERT = 440, 660
# Of one second against all the rest, in dB, at the default bit rate.
CLEAR = 30


@pytest.fixture
def environment(make_stack: Callable[..., Stack], tmp_path: Path) -> dict[str, str]:
    """What the page's shell has after `Scripts/stack environment`."""
    return prepared(make_stack(gateways=1, media=1), PAGE, tmp_path)


def commands(text: str) -> list[str]:
    """The commands of the page's block that has this text."""
    block, = [block for block in pages()[PAGE] if block.is_commands and text in block.text]
    return [command for command, _ in block.commands]


def heard(path: Path) -> list[array]:
    """What was recorded, second by second."""
    with wave.open(str(path)) as file:
        assert file.getframerate() == RATE
        pcm = array("h", file.readframes(file.getnframes()))
    return [pcm[start:start + RATE] for start in range(0, len(pcm) - RATE, PERIOD)]


def test_anna_and_bert_hear_each_other(environment: dict[str, str], tmp_path: Path):
    up, _, create = commands("--media 1")
    assert up.startswith("Scripts/stack up ") and create.startswith("heliographctl app create ")
    script = "\n".join(["set -e", create, *commands("tone.py 440"), *commands("media-call"), "wait"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "user 2 joined" in done.stdout.splitlines()
    assert [line for line in done.stdout.splitlines() if line.startswith("statistics ") and "uid=2," in line]
    for file, other, own in (("anna-hears.wav", BERT, ANNA), ("bert-hears.wav", ANNA, BERT)):
        best = max(heard(tmp_path / file), key=lambda second: snr(second, other))
        assert snr(best, other) >= CLEAR and level(best, own) <= ABSENT, file
