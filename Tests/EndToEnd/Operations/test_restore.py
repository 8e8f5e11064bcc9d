"""What `heliographctl restore` leaves alone, that it does all or nothing, and what it asks for before old access comes back."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually_blocking

pytestmark = pytest.mark.single_redis("restores into one database of a Redis that has several; a cluster has one")

ACCEPTED = "--as-of-backup"
WEBHOOK_SECRET = "restored-webhook-secret"


class Place:
    """A database of its own on the stack's PostgreSQL, and one on its Redis, which no process uses."""

    def __init__(self, stack: Stack, number: int):
        self.stack = stack
        self.number = number
        self.name = unique("place").replace("-", "_")
        self.postgres = stack.endpoints["postgres"]["url"].rsplit("/", 1)[0] + f"/{self.name}"
        self.base = stack.endpoints["redis"]["url"].rstrip("/")
        stack.sql(f"CREATE DATABASE {self.name}")

    def remove(self) -> None:
        self.redis("FLUSHDB")
        self.stack.sql(f"DROP DATABASE {self.name} WITH (FORCE)")

    def ctl(self, *arguments: str, code: int = 0, **variables: str) -> str:
        """What heliographctl prints; its error when it is to fail."""
        stores = {"HELIOGRAPH_POSTGRES_URL": self.postgres, "HELIOGRAPH_REDIS_URL": f"{self.base}/{self.number}"}
        done = run_program(str(BINARIES / "heliographctl"), *arguments, **(stores | variables))
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def sql(self, *statements: str) -> str:
        commands = [word for statement in statements for word in ("-c", statement)]
        done = subprocess.run(["psql", self.postgres, "-qXAt", *commands], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def redis(self, *words: str, number: int | None = None) -> str:
        return self.stack.redis("-n", str(self.number if number is None else number), *words)

    @property
    def apps(self) -> str:
        return self.sql("SELECT string_agg(id, ',' ORDER BY id) FROM apps")


@pytest.fixture
def place(stack: Stack) -> Iterator[Place]:
    """An empty database and an empty Redis."""
    place = Place(stack, 9)
    try:
        yield place
    finally:
        place.remove()


@pytest.fixture(scope="module")
def saved(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A backup with an app `kept`, a key, a ban, revoked tokens and a webhook with three events that wait."""
    source = Place(stack, 10)
    directory = tmp_path_factory.mktemp("restore") / "saved"
    try:
        source.ctl("migrate")
        source.ctl("app", "create", "--id=kept", "--open")
        source.ctl("key", "create", "--app=kept")
        source.ctl("webhook", "set", "kept", "https://hooks.example.com/x", f"--secret={WEBHOOK_SECRET}")
        source.sql(
            "INSERT INTO users (app, account, uid) VALUES ('kept', 'ann', nextval('user_uids'))",
            "INSERT INTO user_bans (app, account, until, version, tokens_until) "
            "VALUES ('kept', 'bea', now() + interval '1 day', 1, now() + interval '1 day')",
            "INSERT INTO webhook_events (app, at, id, kind, body) SELECT 'kept', n, n::text, 'online', '{}' FROM generate_series(1, 3) n")
        source.ctl("backup", str(directory))
        yield directory
    finally:
        source.remove()


def used(place: Place) -> None:
    """Gives a place tables and an app `before`."""
    place.ctl("migrate")
    place.ctl("app", "create", "--id=before", "--open")


def test_other_databases_of_redis_stay(place: Place, saved: Path):
    place.redis("SET", "theirs", "1", number=0)
    place.redis("SET", "theirs", "1", number=7)
    place.redis("SET", "{a:kept}:own", "1")
    try:
        place.ctl("restore", str(saved), "--replace", ACCEPTED)
        assert place.redis("DBSIZE") == "0"
        assert (place.redis("GET", "theirs", number=0), place.redis("GET", "theirs", number=7)) == ("1", "1")
    finally:
        place.redis("DEL", "theirs", number=0)
        place.redis("DEL", "theirs", number=7)


def test_a_redis_with_keys_of_others_is_refused(place: Place, saved: Path):
    place.redis("SET", "theirs", "1")
    for own in ("{control}layout", "cmd:presence", "mirror:channel-state", "round:upkeep"):
        place.redis("SET", own, "1")
    error = place.ctl("restore", str(saved), "--replace", ACCEPTED, code=1)
    assert "keys that are not Heliograph's, such as theirs" in error
    assert place.redis("GET", "theirs") == "1" and place.sql("SELECT to_regclass('apps')") == ""
    place.redis("DEL", "theirs")
    place.ctl("restore", str(saved), "--replace", ACCEPTED)
    assert place.redis("DBSIZE") == "0"


@pytest.mark.parametrize("theirs, name", [
    ("CREATE TABLE theirs (id bigint)", "table theirs"),
    ("CREATE VIEW theirs AS SELECT 1 AS one", "view theirs"),
    ("CREATE SEQUENCE theirs", "sequence theirs"),
    ("CREATE FUNCTION theirs(n integer) RETURNS integer LANGUAGE sql AS 'SELECT n'", "function theirs(integer)"),
    ("CREATE TYPE theirs AS ENUM ('a')", "type theirs"),
    ("CREATE SCHEMA extra; CREATE VIEW extra.theirs AS SELECT account FROM users", "view extra.theirs"),
    ("CREATE SCHEMA extra; CREATE TABLE extra.theirs (app text REFERENCES apps)", "table extra.theirs"),
])
def test_what_others_have_among_the_tables_is_refused(place: Place, saved: Path, theirs: str, name: str):
    used(place)
    place.sql(theirs)
    # Without apps too, when no --replace is needed.
    for statement in ("SELECT 1", "DELETE FROM apps"):
        place.sql(statement)
        error = place.ctl("restore", str(saved), "--replace", ACCEPTED, code=1)
        assert "not Heliograph's" in error and name in error
    assert place.sql("SELECT count(*) > 0 FROM schema_migrations") == "t"


def test_extensions_and_other_schemas_stay(place: Place, saved: Path, tmp_path: Path):
    used(place)
    place.sql("CREATE EXTENSION pg_stat_statements", "CREATE EXTENSION citext", "CREATE SCHEMA extra", "CREATE TABLE extra.theirs (id int)")
    again = tmp_path / "again"
    place.ctl("backup", str(again))
    for backup, apps in ((saved, "kept"), (again, "before")):
        place.ctl("restore", str(backup), "--replace", ACCEPTED)
        assert place.apps == apps
    assert place.sql("SELECT string_agg(extname, ',' ORDER BY extname) FROM pg_extension") == "citext,pg_stat_statements,plpgsql"
    assert place.sql("SELECT to_regclass('extra.theirs')") == "extra.theirs"


def test_a_dump_of_the_whole_database_is_restored_without_the_rest(place: Place, saved: Path, tmp_path: Path):
    """Backups of older releases have other schemas too."""
    used(place)
    old = tmp_path / "old"
    place.sql("CREATE SCHEMA extra", "CREATE TABLE extra.theirs (id int)", "CREATE FUNCTION theirs() RETURNS int LANGUAGE sql AS 'SELECT 1'",
              "COMMENT ON FUNCTION theirs() IS 'what it does'")
    dump_everything(place, saved, old)
    place.sql("DROP FUNCTION theirs")
    place.ctl("app", "create", "--id=later", "--open")
    place.ctl("restore", str(old), "--replace", ACCEPTED)
    assert place.apps == "before" and place.sql("SELECT to_regproc('theirs')") == ""
    # A table of others cannot be told from its indexes there: such a backup changes nothing.
    place.sql("CREATE TABLE theirs (id bigint PRIMARY KEY)")
    shutil.rmtree(old)
    dump_everything(place, saved, old)
    place.sql("DROP TABLE theirs")
    assert "the backup has tables that are not Heliograph's: theirs" in place.ctl("restore", str(old), "--replace", ACCEPTED, code=1)
    assert place.apps == "before"


def dump_everything(place: Place, saved: Path, directory: Path) -> None:
    """Makes a backup with a dump of all that the database has."""
    shutil.copytree(saved, directory)
    subprocess.run(["pg_dump", "--format=custom", f"--file={directory / 'postgres.dump'}", place.postgres], check=True, timeout=60)
    lines = [line for line in (directory / "manifest").read_text().splitlines() if not line.startswith("dump_bytes ")]
    lines.append(f"dump_bytes {(directory / 'postgres.dump').stat().st_size}")
    (directory / "manifest").write_text("\n".join(lines) + "\n")


def test_a_backup_leaves_tables_of_others_out(place: Place, tmp_path: Path):
    used(place)
    place.sql("CREATE TABLE theirs (id bigint PRIMARY KEY)")
    report = json.loads(place.ctl("backup", str(tmp_path / "backup"), "--json"))
    assert report["leftOut"] == ["public.theirs"]
    place.sql("DROP TABLE theirs")
    place.ctl("restore", str(tmp_path / "backup"), "--replace", ACCEPTED)
    assert (place.apps, place.sql("SELECT to_regclass('theirs')")) == ("before", "")


def test_a_restore_that_fails_changes_nothing(place: Place, saved: Path):
    used(place)
    place.redis("SET", "{a:before}:own", "1")
    # Fails when everything is dropped and most is made anew.
    place.sql(
        "CREATE SCHEMA extra", "CREATE FUNCTION extra.refuse() RETURNS event_trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF to_regclass('public.webhook_dead') IS NOT NULL THEN RAISE EXCEPTION 'no more indexes'; END IF; END $$",
        "CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION extra.refuse()")
    before = place.sql("SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1")
    error = place.ctl("restore", str(saved), "--replace", ACCEPTED, code=1)
    assert "no more indexes" in error and "the database and Redis are as before" in error
    assert place.sql("SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1") == before
    assert (place.apps, place.redis("DBSIZE")) == ("before", "1")


def test_a_pg_restore_that_dies_changes_nothing(place: Place, saved: Path, tmp_path: Path):
    """Whatever it has written until then: rows of a table, in this case."""
    used(place)
    real = shutil.which("pg_restore")
    script = tmp_path / "pg_restore"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--use-list*) {real} "$@" | sed "/^COPY public.webhook_events/q"; kill -9 $$;; *) exec {real} "$@";; esac\n')
    script.chmod(0o755)
    error = place.ctl("restore", str(saved), "--replace", ACCEPTED, code=1, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert "the database and Redis are as before" in error and place.apps == "before"


@pytest.mark.parametrize("options", [(), ("--without-mail",)])
def test_processes_that_run_are_found(place: Place, saved: Path, options: tuple[str, ...]):
    used(place)
    # The stack's processes, which Redis knows.
    found = place.stack.endpoints
    error = place.ctl(
        "restore", str(saved), "--replace", ACCEPTED, *options, code=1, HELIOGRAPH_REDIS_URL=found["redis"]["url"])
    assert "processes are running" in error
    # One whose Redis is another, or that Redis has lost.
    with subprocess.Popen(
        ["psql", place.postgres, "-qX"], stdin=subprocess.PIPE, env=os.environ | {"PGAPPNAME": "heliograph"}) as process:
        eventually_blocking(
            lambda: place.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'heliograph' AND datname = current_database()")
            == "1", "a session is open")
        error = place.ctl("restore", str(saved), "--replace", ACCEPTED, *options, code=1)
        assert "processes of Heliograph use the database" in error
        process.stdin.close()
        process.wait(30)
    assert place.apps == "before"
    place.ctl("restore", str(saved), "--replace", ACCEPTED, *options)
    assert place.apps == "kept"


def test_old_access_comes_back_only_when_that_is_accepted(place: Place, saved: Path):
    error = place.ctl("restore", str(saved), code=1)
    for words in ("API keys and tokens that were revoked since work again", "bans that were lifted hold again",
                  "webhook events that waited are sent again (--without-webhooks leaves them out)", "--as-of-backup accepts that"):
        assert words in error
    assert place.sql("SELECT to_regclass('apps')") == ""
    report = json.loads(place.ctl("restore", str(saved), ACCEPTED, "--json"))
    counts = {name: report[name] for name in ("apiKeys", "bans", "revokedTokens", "webhookEvents")}
    assert counts == {"apiKeys": 1, "bans": 1, "revokedTokens": 1, "webhookEvents": 3}
    assert "--without-webhooks" not in place.ctl("restore", str(saved), "--replace", "--without-webhooks", code=1)
    text = place.ctl("restore", str(saved), "--replace", "--without-webhooks", ACCEPTED)
    assert "webhook events: 0 are sent" in text and "API keys: 1; those that were revoked since work again" in text
    assert place.sql("SELECT count(*) FROM webhook_events") == "0" and place.sql("SELECT app FROM webhooks") == "kept"


def test_no_number_is_given_to_two_users(place: Place, saved: Path):
    """Redis knows the numbers of users who came after the backup."""
    place.redis("HSET", "{x}a:kept:u:late:box", "uid", "2")
    error = place.ctl("restore", str(saved), "--without-mail", ACCEPTED, code=1)
    assert "Redis has 1 keys: --replace deletes them" in error and place.sql("SELECT to_regclass('apps')") == ""
    place.ctl("restore", str(saved), "--without-mail", "--replace", ACCEPTED)
    assert place.redis("DBSIZE") == "0"
    # The next number is one that no user has, neither in the database nor in Redis.
    assert place.sql("SELECT uid FROM user_uids_for(ARRAY['kept'], ARRAY['new'])") == "2"
