"""Sends garbage to a UDP port, paced: `flood.py HOST PORT COUNT PER_SECOND`. A process of its own, so that it takes no time of a test's.

A third each begins as STUN, DTLS and RTP do. Prints how many datagrams were sent.
"""

import os
import random
import socket
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "Support"))

from waiting import before_next_try_blocking  # noqa: E402

SIZES = (1, 12, 20, 60, 200, 1200, 1500)
VARIANTS = 512
AT_ONCE = 100


def garbage(rng: random.Random) -> bytes:
    """One datagram."""
    first = rng.choice((rng.randrange(4), rng.randrange(20, 64), rng.randrange(128, 192)))
    return bytes([first]) + os.urandom(rng.choice(SIZES) - 1)


def main() -> None:
    host, port, count, per_second = sys.argv[1], *map(int, sys.argv[2:])
    rng = random.Random(1)
    datagrams = [garbage(rng) for _ in range(VARIANTS)]
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    began = time.monotonic()
    for number in range(count):
        if number % AT_ONCE == 0:
            before_next_try_blocking(max(0, began + number / per_second - time.monotonic()))
        sender.sendto(datagrams[number % VARIANTS], (host, port))
    print(count)


main()
