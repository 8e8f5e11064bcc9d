#!/bin/sh
# Applies the migrations of the database and, until the first key of the server API has been made, says how to begin: migrate.sh ADDRESS:PORT,
# which is where the server API is published.
set -eu
heliographctl migrate --wait 60
keys=$(heliographctl key list)
if [ "$keys" != "no keys" ]; then exit 0; fi
place=$1
case $place in
    0.0.0.0:*) place=127.0.0.1:${place##*:} ;;
esac
cat <<END

Heliograph is empty. Make an app, and a key with which to look at it in the console:

    docker compose run --rm migrate heliographctl app create --id demo --open
    docker compose run --rm migrate heliographctl key create --cluster --scopes read send admin --note console

The console is at http://$place/console/, on this machine.

END
