"""`heliographctl apply` and `export`: a file says what is set up; all of it is done, or nothing."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually_blocking

CONTROL = str(BINARIES / "heliographctl")
SECRET = "a-secret-of-the-receiver"


class Target:
    """A database that files are applied to."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def run(self, *arguments: str, code: int = 0, **variables: str) -> str:
        done = run_program(CONTROL, *arguments, HELIOGRAPH_POSTGRES_URL=self.url, **variables)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code in (0, 2) else done.stderr

    def apply(self, content: object, *options: str, code: int = 0, **variables: str) -> str:
        file = self.folder / "cluster.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return self.run("apply", str(file), *options, code=code, **variables)

    def apps(self) -> dict[str, dict]:
        return {app["appId"]: app for app in json.loads(self.run("app", "list", "--show-certificates", "--json"))["apps"]}


@pytest.fixture
def target(stack: Stack, tmp_path: Path) -> Target:
    return Target(stack.endpoints["postgres"]["url"], tmp_path)


@pytest.fixture
def other(stack: Stack, target: Target, tmp_path: Path) -> Iterator[Target]:
    """Another database on the same server, with tables."""
    name = unique("other").replace("-", "_")
    stack.sql(f"CREATE DATABASE {name}")
    found = Target(target.url.rpartition("/")[0] + f"/{name}", tmp_path)
    found.run("migrate")
    yield found
    stack.sql(f"DROP DATABASE {name}")


def everything(number: str) -> dict[str, object]:
    """What can be said of an app."""
    return {
        "limits": {"messagesPerSecond": 100, "specialChannels": "closed", "messageEvents": "without-text"},
        "webhook": {"url": "https://a.example/events", "kinds": ["online", "message"], "messageText": True, "secret": {"env": "HOOK_SECRET"}},
        "hook": {"url": "https://a.example/ask", "on": ["send"], "deadline": 70, "failOpen": True},
        "trunk": {"host": "sip.example.org", "transport": "tls", "allow": ["+49"], "fromDomain": "example.org"},
        "numbers": {number: "anna"},
    }


def test_apply_then_again(target: Target, stack: Stack):
    app, number = unique("app"), unique("+49").replace("_", "-")
    content = {"version": 1, "apps": {app: everything(number)}}
    planned = target.apply(content, "--dry-run", HOOK_SECRET=SECRET)
    assert app not in target.apps()
    done = target.apply(content, HOOK_SECRET=SECRET)
    assert done == planned and SECRET not in done
    lines = done.splitlines()
    assert lines[0] == f"app {app}: added" and f"app {app}: limit messagesPerSecond 60 -> 100" in lines
    assert f"app {app}: number {number} none -> anna" in lines
    assert target.apps()[app]["messagesPerSecond"] == 100 and target.apps()[app]["specialChannels"] == "closed"
    assert target.apps()[app]["messageEvents"] == "without-text"
    webhook = json.loads(target.run("webhook", "show", app, "--with-secret", "--json"))
    assert (webhook["kinds"], webhook["messageText"], webhook["secret"]) == (["online", "message"], True, SECRET)
    hook = json.loads(target.run("hook", "show", app, "--json"))
    assert (hook["on"], hook["deadline"], hook["failOpen"]) == (["send"], 70, True)
    trunk = json.loads(target.run("trunk", "show", app, "--json"))
    assert (trunk["host"], trunk["port"], trunk["allow"]) == ("sip.example.org", 5061, ["+49"])
    acts = {entry["act"] for entry in json.loads(target.run("audit", "--app", app, "--json"))["entries"]}
    assert acts == {"app.create", "webhook.set", "hook.set", "trunk.set", "number.set"}
    entries = stack.sql(f"SELECT count(*) FROM audit_entries WHERE app = '{app}'")
    assert target.apply(content, HOOK_SECRET=SECRET) == "nothing to change\n"
    assert stack.sql(f"SELECT count(*) FROM audit_entries WHERE app = '{app}'") == entries


def test_what_is_named_changes_and_the_rest_stays(target: Target):
    app, number = unique("app"), unique("+49").replace("_", "-")
    target.apply({"apps": {app: everything(number)}}, HOOK_SECRET=SECRET)
    before = target.apps()[app]
    certificate = target.folder / "certificate"
    certificate.write_text("new-certificate\n")
    change = {"apps": {app: {
        "tokenRequired": False, "certificate": {"file": str(certificate)}, "limits": {"actsPerSecond": 7}, "hook": {"deadline": 80},
        "webhook": {"remove": True}, "numbers": {number: {"remove": True}, "+1-none": {"remove": True}}}}}
    changes = json.loads(target.apply(change, "--json"))
    assert changes["dryRun"] is False and len(changes["changes"]) == 6
    assert {"action": "change", "after": 7, "app": app, "before": 50, "kind": "limit", "name": "actsPerSecond"} in changes["changes"]
    after = target.apps()[app]
    assert after == before | {"tokenRequired": False, "certificate": "new-certificate", "actsPerSecond": 7}
    assert json.loads(target.run("hook", "show", app, "--json"))["failOpen"] is True
    target.run("webhook", "show", app, code=1)
    assert json.loads(target.run("number", "list", "--app", app, "--json"))["numbers"] == []
    assert target.apply(change) == "nothing to change\n"


def test_several_webhooks(target: Target, other: Target):
    app, url = unique("app"), "https://archive.example/events"
    settings = {"webhook": {"url": "https://a.example/events"}, "webhooks": {
        "archive": {"url": url, "kinds": ["message"], "messageText": True, "secret": {"env": "HOOK_SECRET"}}, "push": {"url": url}}}
    lines = target.apply({"apps": {app: settings}}, HOOK_SECRET=SECRET).splitlines()
    assert {f"app {app}: webhook added", f"app {app}: webhook archive added", f"app {app}: webhook push added"} <= set(lines)
    assert target.apply({"apps": {app: settings}}, HOOK_SECRET=SECRET) == "nothing to change\n"

    def shown(name: str) -> dict:
        return json.loads(target.run("webhook", "show", app, f"--name={name}", "--with-secret", "--json"))

    before = {name: shown(name) for name in ("default", "archive")}
    assert (before["archive"]["name"], before["archive"]["messageText"], before["archive"]["secret"]) == ("archive", True, SECRET)
    change = {"apps": {app: {"webhooks": {"archive": {"url": url + "/new"}, "push": {"remove": True}, "none": {"remove": True}}}}}
    changes = json.loads(target.apply(change, "--json"))["changes"]
    assert [(one["action"], one["kind"], one["name"], one["before"], one["after"]) for one in changes] == [
        ("change", "webhook", "archive.url", url, url + "/new"), ("remove", "webhook", "push", None, None)]
    assert shown("archive") == before["archive"] | {"url": url + "/new"} and shown("default") == before["default"]
    target.run("webhook", "show", app, "--name=push", code=1)
    assert target.apply(change) == "nothing to change\n"
    exported = target.run("export", "--app", app)
    written = json.loads(exported)["apps"][app]
    assert written["webhook"]["url"] == "https://a.example/events" and list(written["webhooks"]) == ["archive"] and SECRET not in exported
    other.apply(exported)
    assert other.run("export") == exported and target.apply(exported) == "nothing to change\n"


def test_detailed_exit_code(target: Target):
    content = {"apps": {unique("app"): {}}}
    target.apply(content, "--dry-run", "--detailed-exitcode", code=2)
    target.apply(content, "--detailed-exitcode", code=2)
    assert target.apply(content, "--detailed-exitcode") == "nothing to change\n"


def test_an_export_makes_the_same_elsewhere(target: Target, other: Target):
    app, number = unique("app"), unique("+49").replace("_", "-")
    target.apply({"apps": {app: everything(number)}}, HOOK_SECRET=SECRET)
    exported = target.run("export", "--app", app)
    assert SECRET not in exported and target.apps()[app]["certificate"] not in exported
    other.apply(exported)
    assert other.run("export") == exported
    assert other.apply(exported) == "nothing to change\n" == target.apply(exported)
    assert "there is no app nobodys" in target.run("export", "--app", "nobodys", code=1)


@pytest.mark.parametrize(("wrong", "reason"), [
    ({"limits": {"messagesPerSecond": 0}}, "limits.messagesPerSecond must be 1...1000000; it is 0"),
    ({"limit": {}}, "limit is unknown"), ({"trunk": {"register": True}}, "trunk.host is needed for a new trunk"),
    ({"webhook": {"url": "https://a/", "secret": SECRET}}, "webhook.secret must be {"),
    ({"webhook": {"url": "https://a/", "secret": {"env": "NOT_SET_ANYWHERE"}}}, "names an environment variable that is not set"),
    ({"hook": {"url": "https://a/", "secret": {"file": "/nowhere"}}}, "names a file that cannot be read"),
    ({"webhooks": {"default": {"url": "https://a/"}}}, "webhooks.default is written as webhook"),
    ({"webhooks": {"An-archive": {"url": "https://a/"}}}, "must be a name of 1 to 32 characters a-z, 0-9 and -, the first one a letter"),
    ({"webhooks": {"archive": {"url": "https://a/", "batch": 0}}}, "webhooks.archive.batch must be 1...1000"),
], ids=str)
def test_a_bad_file_changes_nothing(target: Target, wrong: dict, reason: str):
    good, bad = unique("good"), unique("bad")
    error = target.apply({"apps": {good: {}, bad: wrong}}, code=1)
    assert reason in error and f"apps.{bad}." in error and "nothing was changed" in error and SECRET not in error
    assert not {good, bad} & target.apps().keys()


def test_a_change_that_fails_undoes_those_before(target: Target, stack: Stack):
    app, refused = unique("app"), unique("refused")
    name = unique("refuse").replace("-", "_")
    stack.sql(f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
        CREATE TRIGGER {name} BEFORE INSERT ON apps FOR EACH ROW WHEN (NEW.id = '{refused}') EXECUTE FUNCTION {name}()""")
    try:
        assert "not this one" in target.apply({"apps": {app: {}, refused: {}}}, code=1)
    finally:
        stack.sql(f"DROP TRIGGER {name} ON apps; DROP FUNCTION {name}()")
    assert not {app, refused} & target.apps().keys()
    assert stack.sql(f"SELECT count(*) FROM audit_entries WHERE app = '{app}'") == [["0"]]


def test_bounds_of_a_file(target: Target):
    assert "must have at most 1000 apps; it is an object of 1001" in target.apply({"apps": {f"a{n}": {} for n in range(1001)}}, code=1)
    webhooks = {"webhook": {"url": "https://a/"}, "webhooks": {f"w{n}": {"url": "https://a/"} for n in range(16)}}
    assert "16 webhooks" in target.apply({"apps": {unique("app"): webhooks}}, code=1)
    assert "must have at most 4194304 bytes" in target.apply("{}" + " " * (4 << 20), code=1)
    assert target.apply("{}" + " " * ((4 << 20) - 2)) == "nothing to change\n"
    assert "cannot be read" in target.run("apply", str(target.folder / "missing"), code=1)


def test_another_command_at_work(target: Target, stack: Stack):
    """Apply waits for what changes an app meanwhile, and not without end; a dry run waits for nobody."""
    app, label = unique("app"), unique("holds")
    holder = subprocess.Popen(
        ["psql", target.url, "-X", "-q", "-c", f"SET application_name = '{label}'", "-c",
         "BEGIN; LOCK TABLE apps IN ROW EXCLUSIVE MODE; SELECT pg_sleep(60)"], stdout=subprocess.DEVNULL)
    try:
        eventually_blocking(lambda: stack.sql(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE mode = 'RowExclusiveLock' AND granted "
            f"AND application_name = '{label}'") == [["1"]], "the lock to be held")
        assert "lock timeout" in target.apply({"apps": {app: {}}}, code=1)
        assert f"app {app}: added" in target.apply({"apps": {app: {}}}, "--dry-run")
    finally:
        stack.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{label}'")
        holder.wait(timeout=60)
    assert app not in target.apps()
    assert f"app {app}: added" in target.apply({"apps": {app: {}}})


def test_standard_input(target: Target):
    done = subprocess.run(
        [CONTROL, "apply", "-"], input='{"apps": {}}', capture_output=True, text=True, timeout=60, check=False,
        env={"HELIOGRAPH_POSTGRES_URL": target.url})
    assert (done.returncode, done.stdout) == (0, "nothing to change\n"), done.stderr
