"""Which keys the commands of Redis servers name, from MONITOR."""

import re
import socket
import time
from collections import Counter
from collections.abc import Iterator

WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Commands that name no key.
KEYLESS = {
    "ASKING", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "EXEC", "FUNCTION", "HELLO", "INFO", "MONITOR", "MULTI", "PING", "PSYNC",
    "REPLCONF", "ROLE", "TIME", "WAIT"}


def shares(ports: list[int], seconds: float) -> dict[str, float]:
    """Of all commands that these servers get from their clients in that time: the share that names each key, by key."""
    total, named = 0, Counter()
    for port in ports:
        for keys in _monitored(port, seconds / len(ports)):
            total += 1
            named.update(keys)
    return {key: count / max(1, total) for key, count in named.items()}


def keys_of(words: list[str]) -> set[str]:
    """The keys, streams and topics that a command names."""
    command = words[0].upper()
    if command in KEYLESS or len(words) < 2:
        return set()
    if command in ("FCALL", "FCALL_RO"):
        keys = set(words[3:3 + int(words[2])])
        # A call in a cluster names a second key, which never exists.
        return {key for key in keys if key.removesuffix("!") == key or key[:-1] not in keys}
    if command in ("XREAD", "XREADGROUP"):
        upper = [word.upper() for word in words]
        named = words[upper.index("STREAMS") + 1:]
        return set(named[:len(named) // 2])
    # The first word of some is a subcommand.
    return {words[2 if command in ("XINFO", "XGROUP", "OBJECT") else 1]} if len(words) > 2 else {words[1]}


def _monitored(port: int, seconds: float) -> Iterator[set[str]]:
    """The keys of each command that a server gets in that time; not of those that functions carry out."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"MONITOR\r\n")
        with connection.makefile("rb") as lines:
            lines.readline()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                try:
                    line = lines.readline().decode(errors="replace")
                except TimeoutError:
                    return
                origin, _, rest = line.partition("] ")
                if not origin.endswith(" lua"):
                    if words := WORD.findall(rest):
                        yield keys_of(words)
