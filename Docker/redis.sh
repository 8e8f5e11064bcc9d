#!/bin/sh
# Starts Redis with the password of the secret redis-password, for clients and between servers: redis.sh OPTION...
# The password is given on standard input: arguments are visible to every process of the machine.
set -eu
password=$(sed 's/[\\"]/\\&/g' /run/secrets/redis-password)
exec redis-server "$@" - <<END
requirepass "$password"
masterauth "$password"
END
