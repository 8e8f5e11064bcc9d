"""`heliographctl doctor` on a cluster that is well, and on clusters that somebody has broken: it names the cause and the cure."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from certificates import make_certificate
from fixtures import running
from server_api import create_key
from signaling import Client
from stack_control import BINARIES, ROOT, Stack, run_program, unique
from waiting import eventually_blocking
from web import metric

pytestmark = pytest.mark.single_redis("breaks the one server of Redis by its settings")

# `clock_gettime` and the like, an hour ahead.
FAST_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (id == CLOCK_REALTIME) at->tv_sec += 3600;
    return result;
}
"""


# A process that was killed counts as running for 20 s.
PATIENCE_SECONDS = 60


class Patient:
    """A cluster, and the doctor's opinion of it."""

    def __init__(self, stack: Stack, certificate: Path):
        self.stack = stack
        self.certificate = certificate

    def examine(self, *arguments: str, **settings: str) -> tuple[int, dict]:
        """The exit code, and what it printed as JSON."""
        done = run_program(str(BINARIES / "heliographctl"), "doctor", "--json", *arguments, **(self.settings | settings))
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    @property
    def settings(self) -> dict[str, str]:
        found = self.stack.endpoints
        return {"HELIOGRAPH_REDIS_URL": found["redis"]["url"], "HELIOGRAPH_POSTGRES_URL": found["postgres"]["url"]}

    def complaint(self, *words: str, weight: str = "wrong", **settings: str) -> str:
        """Waits until the doctor complains with all of the words in one line; that line."""
        found: list[str] = []

        def is_said() -> bool:
            code, report = self.examine(**settings)
            assert code == (1 if report["wrong"] else 0)
            found[:] = [line for line in report[weight] if all(word in line for word in words)]
            return len(found) == 1

        eventually_blocking(is_said, f"one line of {weight} with {words}", PATIENCE_SECONDS)
        return found[0]

    def recovers(self) -> None:
        eventually_blocking(
            lambda: self.examine()[1]["wrong"] == [], "nothing is wrong any more", PATIENCE_SECONDS)
        assert self.examine()[0] == 0


@pytest.fixture(scope="module")
def patient(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Patient]:
    folder = tmp_path_factory.mktemp("tls")
    certificate = make_certificate(folder, days=400)
    settings = {f"HELIOGRAPH_GATEWAY_TLS_{name}": str(certificate) for name in ("CERTIFICATE", "KEY")}
    os.environ.update(settings)
    try:
        with running(request, gateways=1) as stack:
            yield Patient(stack, certificate)
    finally:
        for name in settings:
            del os.environ[name]


def test_a_cluster_that_is_well(patient: Patient):
    patient.recovers()
    code, report = patient.examine("--strict")
    facts = "\n".join(report["facts"])
    for words in ("append-only file", "PostgreSQL 15", "primary", "presence 1", "the certificate of the gateway"):
        assert words in facts
    # These stacks leave the disk to the system, and have no limit of memory: that is advice, and --strict tells it.
    assert code == 2 and any("appendfsync" in line for line in report["advice"])
    text = patient.stack.control("doctor").splitlines()
    assert text[-1] == "nothing is wrong" and text[0].startswith("advice: ")


@contextmanager
def redis_setting(patient: Patient, **values: str) -> Iterator[None]:
    """Sets settings of Redis (`maxmemory_policy`), and back."""
    names = {name: name.replace("_", "-") for name in values}
    before = {name: patient.stack.redis("CONFIG", "GET", name).split("\n")[1] for name in names.values()}
    for name, value in values.items():
        patient.stack.redis("CONFIG", "SET", names[name], value)
    try:
        yield
    finally:
        for name, value in before.items():
            patient.stack.redis("CONFIG", "SET", name, value)


def test_redis_without_its_file(patient: Patient):
    with redis_setting(patient, appendonly="no"):
        assert "CONFIG SET appendonly yes" in patient.complaint("keeps no append-only file")
    patient.recovers()


def test_redis_that_evicts(patient: Patient):
    with redis_setting(patient, maxmemory="1gb", maxmemory_policy="allkeys-lru"):
        assert "set it to noeviction" in patient.complaint("deletes data when it is full", "allkeys-lru")
    patient.recovers()


def test_redis_that_is_nearly_full(patient: Patient):
    used = int(patient.stack.redis("INFO", "memory").split("used_memory:")[1].split()[0])
    with redis_setting(patient, maxmemory=str(int(used * 1.05))):
        assert "raise maxmemory" in patient.complaint("% of its maxmemory")
    with redis_setting(patient, maxmemory=str(int(used * 1.25))):
        assert "MiB are left" in patient.complaint("% of its maxmemory", weight="advice")
    patient.recovers()


def test_redis_that_is_away(patient: Patient):
    patient.stack.kill("redis")
    try:
        # PostgreSQL is looked at nevertheless.
        assert "HELIOGRAPH_REDIS_URL" in patient.complaint("Redis: ")
        assert any(fact.startswith("PostgreSQL") for fact in patient.examine()[1]["facts"])
    finally:
        patient.stack.start("redis")
    patient.recovers()


def test_a_primary_that_takes_no_writes(patient: Patient):
    def set_to(value: str) -> None:
        for statement in (f"ALTER SYSTEM SET default_transaction_read_only = {value}", "SELECT pg_reload_conf()"):
            patient.stack.sql(statement)

    set_to("on")
    try:
        assert "turn it off" in patient.complaint("default_transaction_read_only")
    finally:
        set_to("off")
    patient.recovers()


def test_a_database_without_tables(patient: Patient):
    url = patient.settings["HELIOGRAPH_POSTGRES_URL"].rsplit("/", 1)[0] + "/postgres"
    assert "run `heliographctl migrate`" in patient.complaint("has no tables", HELIOGRAPH_POSTGRES_URL=url)


def test_a_database_that_is_not_there(patient: Patient):
    line = patient.complaint("PostgreSQL: ", HELIOGRAPH_POSTGRES_URL="postgresql://nobody@127.0.0.1:1/none")
    assert "does not answer" in line


def test_a_service_that_is_missing(patient: Patient):
    patient.stack.kill("presence#1")
    try:
        assert "start one" in patient.complaint("no presence process runs", "nobody can log in")
    finally:
        patient.stack.start("presence#1")
    patient.recovers()


def test_webhooks_that_nobody_sends(patient: Patient):
    stack = patient.stack
    stack.control("app", "create", "--id=hooked", "--open")
    stack.control("webhook", "set", "hooked", "https://hooks.example.com/x")
    try:
        assert "start one" in patient.complaint("no webhooks process runs", "events of hooked wait")
        # The alert sees it too, without such a process.
        gauge = "heliograph_invitation_webhook"
        invitation = next(member["http"] for member in stack.endpoints["services"] if member["name"] == "invitation#1")
        eventually_blocking(lambda: metric(invitation, f"{gauge}_apps") >= 1, "the metric counts the app", 40)
        assert not [line for line in patient.examine()[1]["advice"] if "webhook" in line]
        stack.sql(
            "INSERT INTO webhook_events (app, at, id, kind, body, queued_at) VALUES ('hooked', 1, 'a', 'online', '{}', now() - interval '1 h')")
        assert "webhook list" in patient.complaint("for the webhooks of hooked have been waiting for up to 36", weight="advice")
        stack.sql(
            "INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error) "
            "SELECT 'hooked', n, n::text, 'online', '{}', now(), 'x' FROM generate_series(1, 3) n")
        assert "webhook replay APP" in patient.complaint("3 events for the webhooks of hooked were given up", weight="advice")
        eventually_blocking(
            lambda: metric(invitation, f"{gauge}_oldest_seconds") > 3000, "the metric shows the wait", 40)
    finally:
        stack.control("app", "remove", "hooked")
    patient.recovers()


def advice(patient: Patient, *words: str) -> list[str]:
    return [line for line in patient.examine()[1]["advice"] if all(word in line for word in words)]


@contextmanager
def an_app(patient: Patient, name: str) -> Iterator[None]:
    patient.stack.control("app", "create", f"--id={name}", "--open")
    try:
        yield
    finally:
        patient.stack.control("app", "remove", name)


def test_a_receiver_of_webhooks_that_fails(patient: Patient):
    def fails(seconds: int) -> None:
        patient.stack.sql(
            f"UPDATE webhooks SET attempts = 7, failing_since = now() - interval '{seconds} s', "
            "last_error = 'the receiver answered with 503'")

    with an_app(patient, "failing"):
        patient.stack.control("webhook", "set", "failing", "https://hooks.example.com/x")
        # One that restarts is no news.
        fails(30)
        assert not advice(patient, "the receiver of the webhook")
        fails(300)
        line = patient.complaint("the webhook of failing has been failing for 30", "7 requests", weight="advice")
        assert "the receiver answered with 503" in line
        assert "`heliographctl webhook deliveries failing --failed`" in line and "webhook test failing" in line
        # What waits for long tells of it.
        patient.stack.sql(
            "INSERT INTO webhook_events (app, at, id, kind, body, queued_at) VALUES ('failing', 1, 'a', 'online', '{}', now() - interval '1 h')")
        assert "because: the receiver answered with 503" in patient.complaint("have been waiting for", weight="advice")
        assert not advice(patient, "the receiver of the webhook")
    patient.recovers()


def test_before_hooks_that_cannot_be_reached(patient: Patient):
    def set_hook(*arguments: str) -> None:
        patient.stack.control("hook", "set", "asking", *arguments)

    with an_app(patient, "asking"):
        set_hook("http://127.0.0.1:1/", "--on", "login", "send")
        line = patient.complaint("the before-hook of asking cannot be reached", weight="advice")
        assert "network that is not allowed" in line and "(login, send) is refused" in line and "`heliographctl hook set`" in line
        assert "set an https URL" in patient.complaint("of asking are asked by http", weight="advice")
        set_hook("https://no-such-host.invalid/", "--fail-open")
        line = patient.complaint("the before-hook of asking cannot be reached", weight="advice")
        assert "no address" in line and "goes on unasked" in line
        assert not advice(patient, "asked by http")
        # That is the gateways' machine.
        set_hook("http://127.0.0.1:1/", "--allow-loopback")
        assert not advice(patient, "before-hook")
        assert "before-hooks: of 1 apps" in patient.examine()[1]["facts"]
    patient.recovers()


def test_trunks_without_a_bridge(patient: Patient):
    with an_app(patient, "calling"):
        patient.stack.control("trunk", "set", "calling", "127.0.0.1:1", "--allow=none")
        assert any(fact.startswith("trunks: of 1 apps, 0 of which register") for fact in patient.examine()[1]["facts"])
        patient.recovers()
        patient.stack.kill("sip-bridge#1")
        try:
            line = patient.complaint("no sip-bridge process runs", "users of calling")
            assert "start one" in line
        finally:
            patient.stack.start("sip-bridge#1")
        patient.recovers()


def test_trunks_that_are_not_registered(patient: Patient):
    stack = patient.stack
    with an_app(patient, "registering"):
        # Nobody listens there.
        stack.control("trunk", "set", "registering", "127.0.0.1:1", "--allow=none", "--user=u", "--secret=s", "--register")
        line = patient.complaint("the trunk of registering at 127.0.0.1:1 is not registered", weight="advice")
        assert "has no answer, since" in line and "heliographctl trunk show registering" in line
        assert any("1 of which register, and 0 are registered" in fact for fact in patient.examine()[1]["facts"])
        # A bridge of the release before tells nothing.
        stack.kill("sip-bridge#1")
        try:
            stack.sql("DELETE FROM sip_registrations")
            assert not advice(patient, "no sip-bridge tells")
        finally:
            stack.start("sip-bridge#1")
        stack.freeze("sip-bridge#1")
        try:
            stack.sql("DELETE FROM sip_registrations")
            assert not advice(patient, "no sip-bridge tells")
            stack.sql("UPDATE sip_trunks SET updated_at = now() - interval '2 minutes' WHERE app = 'registering'")
            patient.complaint("no sip-bridge tells whether the trunks of registering are registered", weight="advice")
        finally:
            stack.thaw("sip-bridge#1")
        stack.control("trunk", "set", "registering", "--no-register")
        assert not advice(patient, "registered")
    patient.recovers()


def test_keys_that_no_gateway_takes(patient: Patient):
    stack = patient.stack
    record = next(key for key in stack.redis_keys("{control}i:*") if stack.redis("HGET", key, "kind") == "gateway")
    assert stack.redis("HGET", record, "api") == "1"
    with an_app(patient, "keyed"):
        key = create_key(stack, app="keyed")
        assert not advice(patient, "server API")
        # As a gateway without HELIOGRAPH_GATEWAY_API_PORT tells.
        stack.redis("HSET", record, "api", "0")
        try:
            assert "set HELIOGRAPH_GATEWAY_API_PORT" in patient.complaint("1 keys of the server API are valid", weight="advice")
            stack.control("key", "revoke", key["id"])
            assert not advice(patient, "server API")
        finally:
            stack.redis("HSET", record, "api", "1")
    patient.recovers()


async def test_mirrors_that_are_held_up(patient: Patient):
    url = patient.settings["HELIOGRAPH_POSTGRES_URL"]
    with subprocess.Popen(["psql", url, "-X", "-q"], stdin=subprocess.PIPE, text=True) as psql:
        psql.stdin.write("BEGIN; LOCK TABLE presence_sessions IN SHARE MODE;\n")
        psql.stdin.flush()
        eventually_blocking(lambda: _is_locked(patient.stack), "the table is locked")
        client = Client(patient.stack.open_app, unique("late"))
        await client.login(patient.stack.gateways[0])
        try:
            assert "pg_locks" in patient.complaint("presence's copies in PostgreSQL are")
        finally:
            psql.stdin.close()
            psql.wait(30)
            await client.close()
    patient.recovers()


def _is_locked(stack: Stack) -> bool:
    held = "SELECT count(*) FROM pg_locks WHERE mode = 'ShareLock' AND relation = 'presence_sessions'::regclass"
    return stack.sql(held) == [["1"]]


def test_too_few_open_files(patient: Patient):
    patient.stack.kill("gateway#1")
    subprocess.run(
        ["prlimit", "--nofile=1000:1000", ROOT / "Scripts" / "stack", "start", "gateway#1", "--dir", patient.stack.directory],
        check=True, capture_output=True, timeout=90)
    try:
        assert "LimitNOFILE" in patient.complaint("gateway", "1000 open files")
    finally:
        patient.stack.kill("gateway#1")
        patient.stack.start("gateway#1")
    patient.recovers()


def test_a_certificate_near_its_end(patient: Patient):
    def renew(days: int) -> None:
        make_certificate(patient.certificate.parent, days=days)
        os.kill(patient.stack.pids["gateway#1"], signal.SIGHUP)

    renew(days=3)
    assert "renew it" in patient.complaint("the certificate of the gateway", "ends in")
    renew(days=20)
    patient.complaint("the certificate of the gateway", "ends in", weight="advice")
    renew(days=400)
    patient.recovers()


def test_a_clock_that_is_wrong(patient: Patient, tmp_path: Path):
    (tmp_path / "clock.c").write_text(FAST_CLOCK)
    library = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"], check=True, timeout=60)
    # This machine's clock is wrong: both stores' differ from it.
    for store in ("Redis at", "PostgreSQL at"):
        line = patient.complaint(f"the clock of {store}", "behind this machine's", LD_PRELOAD=str(library))
        assert "NTP" in line and 3_590_000 < int(line.split(" at least ")[1].split()[0]) <= 3_600_000


@pytest.mark.parametrize("name, value, weight, words", [
    ("HELIOGRAPH_GATEWAY_PORT", "eighty", "wrong", "a whole number from 0 to 65534: correct the setting"),
    ("HELIOGRAPH_GATEWAY_PROT", "80", "advice", "no program knows the setting HELIOGRAPH_GATEWAY_PROT"),
])
def test_settings(patient: Patient, name: str, value: str, weight: str, words: str):
    patient.complaint(words, weight=weight, **{name: value})
    # What another program knows is no mistake.
    report = patient.examine(HELIOGRAPH_GATEWAY_PORT="80")[1]
    assert not [line for line in report["advice"] + report["wrong"] if "setting" in line]
