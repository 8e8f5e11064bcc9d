"""`Docs/openapi.json` and the server agree: schemathesis tries what the file allows, and what it does not."""

import json
import subprocess
import sys
from pathlib import Path

from event_stream import Stream
from jsonschema import Draft202012Validator
from server_api import ServerAPI, create_key
from stack_control import Stack, unique

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "Docs" / "openapi.json"
# Of each operation, besides those that cover each bound.
EXAMPLES = "6"
# After which no further examples are tried.
BUDGET_SECONDS = 45
CLUSTER_BUDGET_SECONDS = 27
SECONDS = 180
# A stream of events, which does not end: a test of its own reads it.
ENDLESS = "followEvents"
# What a key of one app may not do.
OF_THE_CLUSTER = ("listApps", "listAudit", "listWebhooks", "listTrunks", "listHooks", "listProcesses", "getMetrics", "exportSettings")
# The file cannot say that names and texts are bounded in bytes, so that the server refuses some of what the file allows.
EXCLUDED = "positive_data_acceptance"


def narrowed(app: str, folder: Path) -> Path:
    """The file, in which there is only one app."""
    document = json.loads(FILE.read_text())
    document["components"]["parameters"]["App"] |= {"schema": {"enum": [app]}, "example": app}
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    return path


def tried(stack: Stack, key: str, file: Path, budget: int, *options: str) -> str:
    """What schemathesis reports of its tries with a key; they must find nothing."""
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", str(file), "--url", stack.endpoints["api"][0],
            "--header", f"Authorization: Bearer {key}", "--generation-deterministic", "--max-examples", EXAMPLES,
            "--max-time", str(budget),
            "--phases", "examples,coverage,fuzzing", "--exclude-checks", EXCLUDED, "--no-color", "--warnings", "off",
            "--max-failures", "20", *options],
        cwd=file.parent, capture_output=True, text=True, timeout=SECONDS, check=False)
    report = done.stdout + done.stderr
    assert key not in report
    assert done.returncode == 0, report[-8000:]
    return report


def test_the_server_is_as_the_file_says(stack: Stack, tmp_path: Path):
    # An app of its own: the tries disconnect users and send messages.
    app = stack.create_app(unique("schema"))
    key = create_key(stack, app=app.id)["key"]
    report = tried(stack, key, narrowed(app.id, tmp_path), BUDGET_SECONDS, "--exclude-operation-id", ENDLESS)
    operations = sum(len(methods) for methods in json.loads(FILE.read_text())["paths"].values())
    assert f"Tested: {operations - 1}\n" in report, report[-2000:]


def test_the_server_is_as_the_file_says_to_keys_of_the_cluster(stack: Stack, tmp_path: Path):
    app = stack.create_app(unique("schema"))
    key = create_key(stack)["key"]
    log = tmp_path / "requests.har"
    chosen = [word for name in OF_THE_CLUSTER for word in ("--include-operation-id", name)]
    report = tried(stack, key, narrowed(app.id, tmp_path), CLUSTER_BUDGET_SECONDS, *chosen, "--report", "har", "--report-har-path", str(log))
    assert f"Tested: {len(OF_THE_CLUSTER)}\n" in report, report[-2000:]
    # Each answer was compared with the file; here, that the answers to what is allowed were among them.
    answered = {
        entry["request"]["url"].partition("?")[0].rpartition("/")[2]
        for entry in json.loads(log.read_text())["log"]["entries"] if entry["response"]["status"] == 200}
    assert answered == {"apps", "audit", "webhooks", "trunks", "hooks", "processes", "metrics", "settings"}


async def test_the_stream_of_events_is_as_the_file_says(stack: Stack, people):
    document = json.loads(FILE.read_text())
    answer = document["paths"]["/v1/apps/{app}/events"]["get"]["responses"]["200"]
    content_type, = answer["content"]
    validator = Draft202012Validator({**answer["content"][content_type]["x-event-data"], "components": document["components"]})
    app = stack.create_app(unique("schema"))
    api = ServerAPI(stack, create_key(stack, app=app.id)["key"])
    stream = await Stream(api, app.id).started()
    assert stream.answer.getheader("Content-Type") == content_type
    assert all(stream.answer.getheader(name) for name in answer["headers"])
    async with people(stack) as cast:
        user = cast.exactly("ann", app)
        await user.login(stack.gateways[0])
        await user.join("room 1")
        await user.leave("room 1")
        await user.logout()
        told = [await stream.next() for _ in range(4)]
    stream.close()
    assert [event["event"] for event in told] == ["online", "join", "leave", "offline"]
    for event in told:
        assert set(event) == {"id", "event", "data"} and event["data"]["event"] == event["event"]
        validator.validate(event["data"])
