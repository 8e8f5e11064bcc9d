"""The stack's private Redis and PostgreSQL."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from .errors import StackError
from .record import Member, Record

POSTGRES_USER = "heliograph"
DATABASE = "heliograph"
INITDB_SECONDS = 120
PROBE_SECONDS = 2


def redis_url(record: Record) -> str:
    return f"redis://127.0.0.1:{record.member('redis').port}"


def postgres_url(record: Record) -> str:
    return f"postgresql://{POSTGRES_USER}@127.0.0.1:{record.member('postgres').port}/{DATABASE}"


def redis_member(record: Record, port: int) -> Member:
    directory = record.directory / "redis"
    command = [
        _tool("redis-server"), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory),
        "--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no"]
    return Member("redis", "redis", [port], command)


def create_redis(record: Record) -> None:
    (record.directory / "redis").mkdir(parents=True)


def redis_problem(member: Member) -> str | None:
    """Why Redis doesn't serve yet; None when it does."""
    try:
        with socket.create_connection(("127.0.0.1", member.port), timeout=PROBE_SECONDS) as connection:
            connection.sendall(b"PING\r\n")
            answer = connection.recv(256).decode(errors="replace").strip()
            return None if answer == "+PONG" else f"redis answers {answer!r}"
    except OSError as error:
        return f"redis: {error}"


def postgres_member(record: Record, port: int) -> Member:
    # Set by create_postgres: where the data can lie depends on who may enter the directory.
    command = [
        *_as_postgres(), _postgres_tool("postgres"), "-D", record.postgres_data, "-p", str(port),
        "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200",
        "-c", "shared_buffers=64MB"]
    return Member("postgres", "postgres", [port], command)


def choose_postgres_data(record: Record) -> None:
    """Picks the data directory: in the stack's, or in a temporary one when user postgres can't reach that."""
    base = record.directory / "postgres"
    base.mkdir(parents=True)
    if _as_postgres():
        owner = pwd.getpwnam("postgres")
        os.chown(base, owner.pw_uid, owner.pw_gid)
        if subprocess.run([*_as_postgres(), "test", "-w", str(base)], check=False).returncode != 0:
            base = Path(tempfile.mkdtemp(prefix="heliograph-postgres-"))
            os.chown(base, owner.pw_uid, owner.pw_gid)
    record.postgres_data = str(base / "data")


def create_postgres(record: Record) -> None:
    """Makes the data directory."""
    log = record.log("initdb")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            [*_as_postgres(), _postgres_tool("initdb"), "-D", record.postgres_data, "-U", POSTGRES_USER, "--auth=trust",
             "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/", timeout=INITDB_SECONDS,
            check=False)
    if done.returncode != 0:
        raise StackError(f"initdb failed, see {log}")


def unlock_postgres(record: Record) -> None:
    """Removes the lock file of a killed server, whose number a zombie or a stranger may have; nobody uses the data."""
    (Path(record.postgres_data) / "postmaster.pid").unlink(missing_ok=True)


def create_database(record: Record) -> None:
    run_psql(record, "postgres", f'CREATE DATABASE "{DATABASE}"')


def postgres_problem(member: Member) -> str | None:
    """Why PostgreSQL doesn't serve yet; None when it does."""
    done = subprocess.run(
        [_postgres_tool("pg_isready"), "-h", "127.0.0.1", "-p", str(member.port), "-U", POSTGRES_USER, "-d", "postgres",
         "-t", str(PROBE_SECONDS)],
        capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"postgres: {done.stdout.strip() or done.stderr.strip()}"


def run_psql(record: Record, database: str, statement: str) -> str:
    """Runs one statement; the answer is unaligned text without headers."""
    done = subprocess.run(
        [_postgres_tool("psql"), "-h", "127.0.0.1", "-p", str(record.member("postgres").port), "-U", POSTGRES_USER,
         "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StackError(f"psql failed: {done.stderr.strip()}")
    return done.stdout


def data_directories(record: Record) -> list[Path]:
    """Where the stores work, if they run."""
    outside = [Path(record.postgres_data)] if record.postgres_data else []
    return [record.directory / "redis", record.directory / "postgres" / "data", *outside]


def remove_data(record: Record) -> None:
    """Deletes what the stores kept, logs excepted."""
    shutil.rmtree(record.directory / "redis", ignore_errors=True)
    shutil.rmtree(record.directory / "postgres", ignore_errors=True)
    outside = Path(record.postgres_data).parent if record.postgres_data else None
    if outside and outside.name.startswith("heliograph-postgres-"):
        shutil.rmtree(outside, ignore_errors=True)


def _as_postgres() -> list[str]:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        raise StackError("PostgreSQL doesn't run as root, and there is no user postgres") from None
    return [_tool("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups"]


def _tool(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise StackError(f"{name} is not installed (run Scripts/install-dependencies)")
    return found


def _postgres_tool(name: str) -> str:
    """A program of the newest PostgreSQL here; Debian keeps servers off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for directory in versions:
        if os.access(directory / name, os.X_OK):
            return str(directory / name)
    return _tool(name)
