#!/bin/bash
# Replaces the data of a stopped server, whose place another has taken, by a copy of the other's data. Once it starts, it follows
# the other. Usage: postgres-follow.sh STOPPED PRIMARY, with PGDATA of the stopped one.
set -euo pipefail
PGPASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
stopped=$1 primary=$2

fail() {
    echo "postgres-follow: $*" >&2
    exit 1
}

if pg_isready --quiet --timeout=3 --dbname="host=$stopped"; then fail "$stopped is running: stop it first"; fi
in_recovery=$(psql "host=$primary user=heliograph dbname=heliograph connect_timeout=3" -XAtc 'SELECT pg_is_in_recovery()') ||
    fail "$primary does not answer"
if [ "$in_recovery" != f ]; then fail "$primary was not promoted: promote it first, or start $stopped again"; fi

# The folder may be a volume, which can't be renamed. The old data stay until the copy is complete.
rm -rf "$PGDATA/.copy"
pg_basebackup --dbname="host=$primary user=heliograph" --pgdata="$PGDATA/.copy" \
    --write-recovery-conf --wal-method=stream --checkpoint=fast
find "$PGDATA" -mindepth 1 -maxdepth 1 ! -name .copy -exec rm -rf {} +
# Without this file a server does not start, so it comes last.
find "$PGDATA/.copy" -mindepth 1 -maxdepth 1 ! -name PG_VERSION -exec mv --target-directory="$PGDATA" {} +
mv "$PGDATA/.copy/PG_VERSION" "$PGDATA"
rmdir "$PGDATA/.copy"
echo "postgres-follow: $stopped follows $primary once it starts"
