"""`heliographctl trunk set`, `hook set` and `webhook set`: what is not named stays, and two at once lose nothing."""

import json
import subprocess
from contextlib import contextmanager

import pytest
from stack_control import BINARIES, ROOT, Stack, clean_environment, run_program, unique
from waiting import eventually_blocking

CONTROL = str(BINARIES / "heliographctl")
# What a trunk has besides its app and times, after each option was given.
FULL = {
    "acceptDigest": True, "allow": ["+49"], "appCalls": 4, "appCallsPerMinute": 5, "assertedIdentity": "sip:a@b",
    "callerId": ["110"], "dtmf": "info", "fromDomain": "example.net", "host": "sip.example.org", "longestCall": 6,
    "port": 5070, "privacy": "id", "register": True, "ringSeconds": 7, "secret": "s", "srtp": "optional", "trace": True,
    "transport": "tcp", "user": "u", "userCalls": 2, "userCallsPerMinute": 3,
}
OPTIONS = [
    "sip.example.org:5070", "--transport=tcp", "--user=u", "--secret=s", "--from-domain=example.net", "--register",
    "--dtmf=info", "--srtp=optional", "--ring=7", "--accept-digest", "--trace", "--allow=+49", "--caller-id=110",
    "--user-calls=2", "--user-calls-per-minute=3", "--app-calls=4", "--app-calls-per-minute=5", "--longest-call=6",
    "--asserted-identity=sip:a@b", "--privacy=id",
]


def trunk(stack: Stack, app: str, *options: str) -> dict:
    """Sets a trunk; what it has then."""
    stack.control("trunk", "set", app, *options)
    shown = json.loads(stack.control("trunk", "show", app, "--with-secret", "--json"))
    return {name: value for name, value in shown.items() if name not in ("appId", "registrations", "updatedAt")}


def closed_app(stack: Stack) -> str:
    """An app that asks for tokens."""
    app = unique("app")
    stack.control("app", "create", f"--id={app}")
    return app


def test_trunk_set_keeps_what_is_not_named(stack: Stack):
    app = closed_app(stack)
    assert trunk(stack, app, *OPTIONS) == FULL
    assert trunk(stack, app) == FULL
    for options, changed in [
        (["--ring=8"], {"ringSeconds": 8}), (["--user=v"], {"user": "v"}), (["--secret=t"], {"secret": "t"}),
        (["--transport=udp"], {"transport": "udp"}), (["--allow=none"], {"allow": []}),
        (["sip.example.com:5071"], {"host": "sip.example.com", "port": 5071}),
    ]:
        assert trunk(stack, app, *options) == FULL | changed, options
        assert trunk(stack, app, *OPTIONS) == FULL
    # A host without a port has the transport's.
    assert trunk(stack, app, "[2001:db8::1]", "--transport=tls") == FULL | {
        "host": "2001:db8::1", "port": 5061, "transport": "tls"}


def test_trunk_set_takes_back(stack: Stack):
    app = closed_app(stack)
    trunk(stack, app, *OPTIONS)
    url = stack.endpoints["postgres"]["url"]
    kept = dict(FULL)
    done = run_program(CONTROL, "trunk", "set", app, "--no-user", HELIOGRAPH_POSTGRES_URL=url)
    assert done.returncode == 64 and "--register needs the user and the secret" in done.stderr
    for flag, changed, gone in [
        ("--no-register", {"register": False}, []), ("--no-accept-digest", {"acceptDigest": False}, []),
        ("--no-user", {}, ["user", "secret"]), ("--no-trace", {"trace": False}, []),
        ("--no-from-domain", {}, ["fromDomain"]), ("--no-allow", {"allow": ["any"]}, []),
        ("--no-caller-id", {"callerId": []}, []), ("--no-asserted-identity", {}, ["assertedIdentity"]),
        ("--no-privacy", {}, ["privacy"]),
    ]:
        kept = {name: value for name, value in (kept | changed).items() if name not in gone}
        assert trunk(stack, app, flag) == kept, flag


def test_an_open_apps_trunk_goes_on_saying_whom_it_calls(stack: Stack):
    app = stack.create_app(unique("open")).id
    assert trunk(stack, app, "sip.example.org", "--allow=+49")["allow"] == ["+49"]
    assert trunk(stack, app, "--ring=8")["allow"] == ["+49"]
    done = run_program(CONTROL, "trunk", "set", app, "--no-allow", HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode == 64 and "--allow is needed" in done.stderr


@contextmanager
def held(stack: Stack, table: str, app: str):
    """Nobody else may write the app's setting."""
    with subprocess.Popen(["psql", stack.endpoints["postgres"]["url"], "-X", "-q"], stdin=subprocess.PIPE, text=True) as psql:
        psql.stdin.write(
            f"BEGIN; SELECT FROM apps WHERE id = '{app}' FOR UPDATE; SELECT FROM {table} WHERE app = '{app}' FOR UPDATE;\n")
        psql.stdin.flush()
        eventually_blocking(lambda: stack.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' "
            f"AND query LIKE '%FROM {table} WHERE app = ''{app}'' FOR UPDATE%'") == [["1"]], "the rows are locked")
        try:
            yield
        finally:
            psql.stdin.close()
            psql.wait(30)


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "changed"])
@pytest.mark.parametrize(("setting", "table", "place", "changes"), [
    ("trunk", "sip_trunks", "sip.example.org", {"--ring=7": ("ringSeconds", 7), "--dtmf=info": ("dtmf", "info")}),
    ("hook", "before_hooks", "https://a.example.org/", {"--deadline=77": ("deadline", 77), "--requests=7": ("requests", 7)}),
    ("webhook", "webhooks", "https://a.example.org/", {"--batch=7": ("batch", 7), "--allow-private": ("allowPrivate", True)}),
], ids=["trunk", "hook", "webhook"])
def test_two_at_once_lose_nothing(
        stack: Stack, setting: str, table: str, place: str, changes: dict[str, tuple[str, object]], is_new: bool):
    app = closed_app(stack)
    url = stack.endpoints["postgres"]["url"]
    if not is_new:
        stack.control(setting, "set", app, place)
    with held(stack, table, app):
        commands = [
            subprocess.Popen(
                [CONTROL, setting, "set", app, place, option], cwd=ROOT, env=clean_environment(HELIOGRAPH_POSTGRES_URL=url),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for option in changes]
        eventually_blocking(lambda: stack.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ) == [["2"]], "both wait")
    for command in commands:
        _, errors = command.communicate(timeout=30)
        assert command.returncode == 0, errors
    shown = json.loads(stack.control(setting, "show", app, "--json"))
    assert {name: shown[name] for name, _ in changes.values()} == dict(changes.values())
