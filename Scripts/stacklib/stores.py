"""What Redis and PostgreSQL have in common: where their data lie, and what each of their servers is at the moment."""

import os
import shutil
from pathlib import Path

from . import postgres_store, redis_store
from .record import Member, Record
from .tools import run


def urls(record: Record) -> dict[str, str]:
    """Where a service finds the stores."""
    return {"HELIOGRAPH_REDIS_URL": redis_store.url(record), "HELIOGRAPH_POSTGRES_URL": postgres_url(record)}


def postgres_url(record: Record) -> str:
    return postgres_store.url([f"{member.address}:{member.port}" for member in record.of_kind("postgres")])


def role(member: Member) -> str | None:
    """What a server is now; None when it doesn't answer."""
    return (postgres_store if member.kind == "postgres" else redis_store).role(member)


def data_directories(record: Record) -> list[Path]:
    """The working directories of the stores' processes, which identify them; also of those that the record has lost."""
    found = [record.directory / "redis", record.directory / "postgres" / "data"]
    homes = [record.directory / "redis", record.directory / "postgres"]
    if record.postgres_data:
        homes.append(Path(record.postgres_data).parent)
    for home in homes:
        found += [path for path in home.glob("*") if path.is_dir() and path not in found]
    return found


def remove_data(record: Record) -> None:
    """Deletes the stores' data, their snapshots, the proxies' configuration and the ways to the hosts; the logs stay."""
    homes = [record.directory / name for name in ("redis", "postgres", "snapshots", "proxies", "hosts")]
    outside = Path(record.postgres_data).parent if record.postgres_data else None
    if outside and outside.name.startswith("heliograph-postgres-"):
        homes.append(outside)
    for home in homes:
        if os.path.ismount(home):
            run(["umount", str(home)])
        shutil.rmtree(home, ignore_errors=True)


def snapshots(record: Record) -> Path:
    """The folder of the copies that `snapshot` makes."""
    return record.directory / "snapshots"
