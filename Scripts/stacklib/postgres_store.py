"""The stack's private PostgreSQL: one server, or a primary with a streaming standby."""

import errno
import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import hosts, networks, processes
from .errors import StackError
from .record import Member, Record
from .tools import RUN_SECONDS, run, tool

POSTGRES_USER = "heliograph"
DATABASE = "heliograph"
INITDB_OPTIONS = ["-U", POSTGRES_USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
INITDB_SECONDS = 120
PROBE_SECONDS = 2
ORPHAN_SECONDS = 10
PROMOTION_SECONDS = 30
# What a standby may miss while it is down, in MiB of the write-ahead log.
KEPT_LOG = 128
STANDBY_SIGNAL = "standby.signal"


def add_members(record: Record, standby: bool, ports: list[int]) -> None:
    """Puts the servers into the record, with their data where `choose_data` has decided."""
    for number, port in enumerate(ports, 1):
        name = f"postgres#{number}" if standby else "postgres"
        member = Member(name, "postgres", [port], [], **hosts.place(record, name))
        member.command = [
            *_as_postgres(), _program("postgres"), "-D", str(data(record, member)), "-p", str(port),
            "-c", f"listen_addresses={member.address}", "-c", "unix_socket_directories=", "-c", "max_connections=200",
            "-c", "shared_buffers=64MB"]
        if standby:
            member.command += ["-c", f"wal_keep_size={KEPT_LOG}MB"]
        record.members.append(member)


def url(addresses: list[str]) -> str:
    """Where services find whichever of the servers at these addresses, `HOST:PORT` each, takes writes."""
    return f"postgresql://{POSTGRES_USER}@{','.join(addresses)}/{DATABASE}" \
        + ("?target_session_attrs=read-write" if len(addresses) > 1 else "")


def data(record: Record, member: Member) -> Path:
    """The folder of a server's data."""
    first = Path(record.postgres_data)
    return first if member.name in ("postgres", "postgres#1") else first.with_name("standby")


def choose_data(record: Record, megabytes: int | None = None) -> None:
    """Decides where the data lie: in the stack's directory, or in a temporary one if the user postgres can't write there.

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
        run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "heliograph-postgres", str(base)])
        _give_to_postgres(base)
    record.postgres_data = str(base / "data")


def create(record: Record) -> None:
    """Makes a database cluster with an empty database.

    That takes `initdb` a second of CPU time: the first stack of a checkout keeps a copy in .build, which the later ones copy.
    """
    template, home = _template(), Path(record.postgres_data)
    if template.is_dir():
        run(["cp", "-a", str(template), str(home)])
    else:
        _initialize(record)
        _keep(home, template)
    if record.hosts is not None:
        with (home / "pg_hba.conf").open("a") as rules:
            print(*(f"host {databases} all {hosts.NETWORK_AND_BITS} trust" for databases in ("all", "replication")), sep="\n", file=rules)


def _template() -> Path:
    """Where the copy is that this version of PostgreSQL and this user have made."""
    made_by = "\n".join([run([_program("postgres"), "--version"]), str(os.getuid()), *INITDB_OPTIONS, DATABASE])
    return Path(__file__).resolve().parents[2] / ".build" / "postgres-templates" / hashlib.sha256(made_by.encode()).hexdigest()[:16]


def _initialize(record: Record) -> None:
    log = record.log("initdb")
    log.parent.mkdir(parents=True, exist_ok=True)
    for words, said in (
        (["initdb", "-D", record.postgres_data, *INITDB_OPTIONS], ""),
        # A server for one user, which ends with its input.
        (["postgres", "--single", "-F", "-D", record.postgres_data, "postgres"], f'CREATE DATABASE "{DATABASE}"\n'),
    ):
        with log.open("ab") as output:
            done = subprocess.run(
                [*_as_postgres(), _program(words[0]), *words[1:]], input=said, text=True, stdout=output, stderr=subprocess.STDOUT, cwd="/",
                timeout=INITDB_SECONDS, check=False)
        if done.returncode != 0:
            raise StackError(f"{words[0]} failed, see {log}")


def _keep(home: Path, template: Path) -> None:
    """Makes the template, unless another stack has made it meanwhile, or the checkout is somebody else's."""
    try:
        template.parent.mkdir(parents=True, exist_ok=True)
        unfinished = tempfile.TemporaryDirectory(dir=template.parent)
    except PermissionError:
        return
    with unfinished as folder:
        copy = Path(folder) / "data"
        run(["cp", "-a", str(home), str(copy)])
        try:
            copy.rename(template)
        except OSError:
            if not template.is_dir():
                raise


def follow(record: Record, member: Member, primary: Member) -> None:
    """Makes the data of a stopped server a copy of the running primary's, which it follows once it starts."""
    home = data(record, member)
    shutil.rmtree(home, ignore_errors=True)
    with networks.entered(member.network):
        run([*_as_postgres(), _program("pg_basebackup"), "-h", primary.address, "-p", str(primary.port), "-U", POSTGRES_USER,
             "-D", str(home), "-R", "-X", "stream", "-c", "fast", "--no-sync"])


def prepare_start(record: Record, member: Member) -> None:
    """What must be done before a server that was killed can start again.

    One that was the primary follows the server that has taken its place: two primaries would be two truths.
    """
    home = data(record, member)
    # The server's children outlive it for a moment, and a new server refuses to start while they exist.
    for orphan in processes.leftovers(None, [home]):
        orphan.wait_gone(ORPHAN_SECONDS)
    primary = next((other for other in record.of_kind("postgres") if other is not member and role(other) == "primary"), None)
    if primary and not (home / STANDBY_SIGNAL).exists():
        follow(record, member, primary)
    # It does not start while the process id in this file exists, and a zombie or another program may have it by now.
    (home / "postmaster.pid").unlink(missing_ok=True)


def promote(member: Member) -> None:
    """Makes a standby the primary, and waits until it takes writes."""
    if role(member) != "standby":
        raise StackError(f"{member.name} is no standby that answers")
    _psql(member, "SELECT pg_promote(false)")
    deadline = time.monotonic() + PROMOTION_SECONDS
    while role(member) != "primary":
        if time.monotonic() > deadline:
            raise StackError(f"{member.name} is no primary {PROMOTION_SECONDS} s after its promotion")
        time.sleep(0.05)


def problem(member: Member) -> str | None:
    """Why PostgreSQL doesn't serve yet; None when it does."""
    with networks.entered(member.network):
        done = subprocess.run(
            [_program("pg_isready"), "-h", member.address, "-p", str(member.port), "-U", POSTGRES_USER, "-d", "postgres",
             "-t", str(PROBE_SECONDS)],
            capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"postgres: {done.stdout.strip() or done.stderr.strip()}"


def role(member: Member) -> str | None:
    """`primary` or `standby`; None for a server that doesn't answer."""
    if not member.is_running or member.identity.is_frozen():
        return None
    try:
        return "standby" if _psql(member, "SELECT pg_is_in_recovery()", PROBE_SECONDS).strip() == "t" else "primary"
    except StackError:
        return None


def _psql(member: Member, statement: str, seconds: float = RUN_SECONDS) -> str:
    """Runs one statement; the answer is unaligned text without headers."""
    with networks.entered(member.network):
        return run([
            _program("psql"), "-h", member.address, "-p", str(member.port), "-U", POSTGRES_USER, "-d", "postgres", "-X", "-q", "-A",
            "-t", "-v", "ON_ERROR_STOP=1", "-c", statement], seconds)


def copy(record: Record, target: Path) -> None:
    """Makes a base backup of the running server."""
    member = record.member("postgres")
    with networks.entered(member.network):
        run([_program("pg_basebackup"), "-h", member.address, "-p", str(member.port), "-U", POSTGRES_USER,
             "-D", str(target), "-X", "stream", "-c", "fast", "--no-sync"])


def put(record: Record, source: Path) -> None:
    """Replaces the data of the stopped server by the copy in `source`."""
    home = Path(record.postgres_data)
    for orphan in processes.leftovers(None, [home]):
        orphan.wait_gone(ORPHAN_SECONDS)
    shutil.rmtree(home)
    shutil.copytree(source, home)
    for path in [home, *home.rglob("*")]:
        _give_to_postgres(path)


def fill(record: Record) -> None:
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


def unfill(record: Record) -> None:
    """Deletes that file."""
    _ballast(record).unlink(missing_ok=True)


def _ballast(record: Record) -> Path:
    return Path(record.postgres_data).parent / "ballast"


def _give_to_postgres(path: Path) -> None:
    if _as_postgres():
        owner = pwd.getpwnam("postgres")
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)


def _as_postgres() -> list[str]:
    """The prefix of PostgreSQL's commands that runs them as user postgres; empty unless this is root, as which they refuse to run."""
    if os.getuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        raise StackError("PostgreSQL doesn't run as root, and there is no user postgres") from None
    return [tool("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups"]


def _program(name: str) -> str:
    """The path of a program of the newest PostgreSQL that is installed; Debian keeps these off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for directory in versions:
        if os.access(directory / name, os.X_OK):
            return str(directory / name)
    return tool(name)
