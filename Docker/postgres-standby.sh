#!/bin/bash
# PostgreSQL that follows the server named by the argument; at its first start it copies that server's data.
set -euo pipefail
PGPASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
primary=$1

if [ ! -d "$PGDATA" ]; then
    rm -rf "$PGDATA.copy"
    pg_basebackup --host="$primary" --username=heliograph --pgdata="$PGDATA.copy" \
        --write-recovery-conf --wal-method=stream --checkpoint=fast
    mv "$PGDATA.copy" "$PGDATA"
fi
exec postgres -c hba_file=/etc/postgresql/pg_hba.conf -c wal_keep_size=1GB
