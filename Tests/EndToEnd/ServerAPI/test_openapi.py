"""`Docs/openapi.json` and the server agree: schemathesis tries what the file allows, and what it does not."""

import json
import subprocess
import sys
from pathlib import Path

from server_api import create_key
from stack_control import Stack, unique

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "Docs" / "openapi.json"
# Of each operation, besides those that cover each bound.
EXAMPLES = "6"
# After which no further examples are tried.
BUDGET_SECONDS = "60"
SECONDS = 180
# A stream of events, which test_events reads.
ENDLESS = "followEvents"
# The file cannot say that names and texts are bounded in bytes, so that the server refuses some of what the file allows.
EXCLUDED = "positive_data_acceptance"


def test_the_server_is_as_the_file_says(stack: Stack, tmp_path: Path):
    # An app of its own: the tries disconnect users and send messages.
    app = stack.create_app(unique("schema"))
    document = json.loads(FILE.read_text())
    document["components"]["parameters"]["App"]["schema"] = {"enum": [app.id]}
    narrowed = tmp_path / "openapi.json"
    narrowed.write_text(json.dumps(document))
    key = create_key(stack, app=app.id)["key"]
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", str(narrowed), "--url", stack.endpoints["api"][0],
            "--header", f"Authorization: Bearer {key}", "--generation-deterministic", "--max-examples", EXAMPLES,
            "--max-time", BUDGET_SECONDS,
            "--phases", "examples,coverage,fuzzing", "--exclude-checks", EXCLUDED, "--no-color", "--warnings", "off",
            "--max-failures", "20", "--exclude-operation-id", ENDLESS],
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    report = done.stdout + done.stderr
    assert key not in report
    assert done.returncode == 0, report[-8000:]
    operations = sum(len(methods) for methods in document["paths"].values())
    assert f"Tested: {operations - 1}\n" in report, report[-2000:]
