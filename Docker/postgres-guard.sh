#!/bin/bash
# Runs a command that starts PostgreSQL, unless that would make a second primary: postgres-guard.sh OTHER COMMAND...
set -euo pipefail
PGPASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
other=$1
shift

if [ -f "$PGDATA/PG_VERSION" ] && [ ! -f "$PGDATA/standby.signal" ]; then
    in_recovery=$(psql "host=$other user=heliograph dbname=heliograph connect_timeout=3" -XAtc 'SELECT pg_is_in_recovery()') || true
    if [ "$in_recovery" = f ]; then
        echo "postgres-guard: $other is the primary: let this server follow it first (postgres-follow.sh)" >&2
        exit 1
    fi
fi
exec "$@"
