"""Docs/configuration.md is what the programs say of their settings, and the other documents name only settings that exist."""

import re
import subprocess

from stack_control import BINARIES, ROOT, clean_environment

SETTING = re.compile(r"\bHELIOGRAPH_[A-Z0-9_]+[A-Z0-9]\b")
PAGE = ROOT / "Docs" / "configuration.md"
# Of the clients, of Scripts/stack and of the examples of names that are ignored.
OTHERS = {
    "HELIOGRAPH_URL", "HELIOGRAPH_API_URL", "HELIOGRAPH_BIN", "HELIOGRAPH_TEST_REDIS", "HELIOGRAPH_REDISURL", "HELIOGRAPH_DATABASE_PASSWORD",
    "HELIOGRAPH_GATEWAY_SERVICE_HOST", "HELIOGRAPH_TEST_KILLS", "HELIOGRAPH_ENGINE_SECCOMP", "HELIOGRAPH_CLUSTER_REPORT_SEED", "HELIOGRAPH_WIRE_SEED",
    "HELIOGRAPH_AUDIO_IN", "HELIOGRAPH_AUDIO_OUT",
}


def generator(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "Scripts" / "configuration-doc", *words], env=clean_environment(HELIOGRAPH_BIN=str(BINARIES)), capture_output=True, text=True,
        check=False, timeout=60)


def test_the_page_is_what_the_programs_say():
    done = generator("--check")
    assert done.returncode == 0, done.stderr


def test_the_page_has_the_settings_of_every_program_of_the_image():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    listed = next(line for line in text.splitlines() if "for program in" in line).split("for program in")[1].split(";")[0].split()
    script = (ROOT / "Scripts" / "configuration-doc").read_text(encoding="utf-8")
    assert all(f'"{program}"' in script for program in listed)


def test_documents_name_settings_that_exist():
    known = set(SETTING.findall(PAGE.read_text(encoding="utf-8"))) | OTHERS
    for path in (ROOT / "README.md", *(ROOT / "Docs").glob("*.md"), *(ROOT / "Docs" / "monitoring").glob("*.md")):
        named = set(SETTING.findall(path.read_text(encoding="utf-8")))
        assert named <= known, f"{path.name}: {sorted(named - known)}"
    assert len(known) > 60


def test_documents_name_metrics_that_exist():
    listed = (ROOT / "Docs" / "monitoring" / "metrics.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `(heliograph_\w+)`", listed, re.MULTILINE))
    known |= {name + part for name in known for part in ("_bucket", "_sum", "_count")}
    assert len(known) > 100
    for path in (ROOT / "Docs").glob("*.md"):
        # `heliograph_gateway_api_...` stands for several, and roles and functions of the stores have such names too.
        named = set(re.findall(r"\bheliograph_(?:gateway|command|commands|redis|postgres|sip|invitation|event)_[a-z_]+(?![\w.])", path.read_text(encoding="utf-8")))
        assert {name for name in named if not name.endswith("_")} <= known, f"{path.name}: {sorted(named - known)}"


def test_a_wrong_word_is_refused():
    assert generator("--no-such").returncode == 2
