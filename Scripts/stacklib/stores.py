"""The stack's private Redis and PostgreSQL."""

import errno
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from . import processes
from .errors import StackError
from .record import Member, Record

POSTGRES_USER = "heliograph"
DATABASE = "heliograph"
INITDB_SECONDS = 120
PROBE_SECONDS = 2
ORPHAN_SECONDS = 10
APPEND_ONLY = "appendonlydir"
COPY_ATTEMPTS = 10
# The memory that `fill` leaves Redis: enough to answer commands, too little to store data.
ROOM_BYTES = 65_536


def redis_url(port: int) -> str:
    return f"redis://127.0.0.1:{port}"


def postgres_url(port: int) -> str:
    return f"postgresql://{POSTGRES_USER}@127.0.0.1:{port}/{DATABASE}"


def redis_member(record: Record, port: int) -> Member:
    """Redis, which writes its append-only file to the disk once a second, or as `HELIOGRAPH_REDIS_FSYNC` says."""
    directory = record.directory / "redis"
    fsync = os.environ.get("HELIOGRAPH_REDIS_FSYNC") or "everysec"
    if fsync not in ("everysec", "always", "no"):
        raise StackError(f"HELIOGRAPH_REDIS_FSYNC is {fsync!r}: must be everysec, always or no")
    command = [
        tool("redis-server"), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory),
        "--appendonly", "yes", "--appendfsync", fsync, "--save", "", "--daemonize", "no"]
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
    """PostgreSQL, with its data where `choose_postgres_data` has decided."""
    command = [
        *_as_postgres(), _postgres_tool("postgres"), "-D", record.postgres_data, "-p", str(port),
        "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200",
        "-c", "shared_buffers=64MB"]
    return Member("postgres", "postgres", [port], command)


def choose_postgres_data(record: Record, megabytes: int | None = None) -> None:
    """Decides where PostgreSQL's data lie: in the stack's directory, or in a temporary one if the user postgres can't write there.

    With `megabytes`, a file system of that size in memory is mounted there (needs root).
    """
    base = record.directory / "postgres"
    base.mkdir(parents=True)
    if _as_postgres():
        _give_to_postgres(base)
        if subprocess.run([*_as_postgres(), "test", "-w", str(base)], check=False).returncode != 0:
            base = Path(tempfile.mkdtemp(prefix="heliograph-postgres-"))
            _give_to_postgres(base)
    if megabytes is not None:
        _run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "heliograph-postgres", str(base)])
        _give_to_postgres(base)
    record.postgres_data = str(base / "data")


def create_postgres(record: Record) -> None:
    """Makes an empty database cluster with `initdb`."""
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
    """Removes the lock file of a killed server.

    The server does not start while the process id in that file exists, and a zombie or another program may have it by now.
    """
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
    """The working directories of the stores' processes, which identify them."""
    outside = [Path(record.postgres_data)] if record.postgres_data else []
    return [record.directory / "redis", record.directory / "postgres" / "data", *outside]


def remove_data(record: Record) -> None:
    """Deletes the stores' data, their snapshots and the proxies' configuration; the logs stay."""
    homes = [record.directory / name for name in ("redis", "postgres", "snapshots", "proxies")]
    outside = Path(record.postgres_data).parent if record.postgres_data else None
    if outside and outside.name.startswith("heliograph-postgres-"):
        homes.append(outside)
    for home in homes:
        if os.path.ismount(home):
            _run(["umount", str(home)])
        shutil.rmtree(home, ignore_errors=True)


def snapshots(record: Record) -> Path:
    """The folder of the copies that `snapshot` makes."""
    return record.directory / "snapshots"


def copy_redis(record: Record, target: Path) -> None:
    """Copies the append-only files of the running server. Redis ignores a command that is cut off at their end when it loads them."""
    files = record.directory / "redis" / APPEND_ONLY
    manifest = files / "appendonly.aof.manifest"
    for _ in range(COPY_ATTEMPTS):
        before = manifest.read_bytes()
        shutil.rmtree(target, ignore_errors=True)
        try:
            shutil.copytree(files, target)
        except shutil.Error:
            continue
        if manifest.read_bytes() == before:
            return
    raise StackError("Redis rewrites its append-only file over and over")


def put_redis(record: Record, source: Path | None) -> None:
    """Replaces the data of the stopped server by the copy in `source`; without one, by nothing."""
    home = record.directory / "redis"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    if source:
        shutil.copytree(source, home / APPEND_ONLY)


def copy_postgres(record: Record, target: Path) -> None:
    """Makes a base backup of the running server."""
    _run([_postgres_tool("pg_basebackup"), "-h", "127.0.0.1", "-p", str(record.member("postgres").port), "-U", POSTGRES_USER,
          "-D", str(target), "-X", "stream", "-c", "fast", "--no-sync"])


def put_postgres(record: Record, source: Path) -> None:
    """Replaces the data of the stopped server by the copy in `source`."""
    home = Path(record.postgres_data)
    for orphan in processes.leftovers(None, [home]):
        orphan.wait_gone(ORPHAN_SECONDS)
    shutil.rmtree(home)
    shutil.copytree(source, home)
    for path in [home, *home.rglob("*")]:
        _give_to_postgres(path)


def fill_redis(record: Record) -> None:
    """Sets `maxmemory` to just above the memory in use."""
    used = next(line for line in redis_command(record, "INFO", "memory").splitlines() if line.startswith("used_memory:"))
    redis_command(record, "CONFIG", "SET", "maxmemory", str(int(used.partition(":")[2]) + ROOM_BYTES))


def unfill_redis(record: Record) -> None:
    """Removes the bound."""
    redis_command(record, "CONFIG", "SET", "maxmemory", "0")


def fill_postgres(record: Record) -> None:
    """Fills the disk of `up --postgres-disk` with a file of zeros."""
    ballast = _ballast(record)
    if not os.path.ismount(ballast.parent):
        raise StackError("PostgreSQL has no disk of its own: start the stack with `up --postgres-disk MB`")
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 65_536):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def unfill_postgres(record: Record) -> None:
    """Deletes that file."""
    _ballast(record).unlink(missing_ok=True)


def redis_command(record: Record, *words: str) -> str:
    """Runs one command; the answer as redis-cli prints it."""
    return _run([tool("redis-cli"), "-p", str(record.member("redis").port), "-e", *words])


def _ballast(record: Record) -> Path:
    return Path(record.postgres_data).parent / "ballast"


def _give_to_postgres(path: Path) -> None:
    if _as_postgres():
        owner = pwd.getpwnam("postgres")
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False)
    if done.returncode != 0:
        raise StackError(f"{os.path.basename(command[0])} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _as_postgres() -> list[str]:
    """The prefix of PostgreSQL's commands that runs them as user postgres; empty unless this is root, as which they refuse to run."""
    if os.getuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        raise StackError("PostgreSQL doesn't run as root, and there is no user postgres") from None
    return [tool("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups"]


def tool(name: str) -> str:
    """The path of an installed program."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise StackError(f"{name} is not installed (run Scripts/install-dependencies)")
    return found


def _postgres_tool(name: str) -> str:
    """The path of a program of the newest PostgreSQL that is installed; Debian keeps these off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for directory in versions:
        if os.access(directory / name, os.X_OK):
            return str(directory / name)
    return tool(name)
