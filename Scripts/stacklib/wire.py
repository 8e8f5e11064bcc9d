#!/usr/bin/env python3
"""The network of a stack with `--hosts`: one namespace for each host, and a delay, a loss and a cut for each ordered pair of them.

Each namespace has one tun device, whose packets this program reads and writes to the receiver's device, or drops. It makes the
namespaces and is all that holds them: when it and the processes inside have ended, nothing is left of them. `LINKS/HOST` leads to
a namespace, also for `nsenter --net=LINKS/HOST COMMAND`.

It is told what to do through a Unix socket, in lines that are each answered by `ok` or by what is wrong:

    cut A B             from now on, no packet of A reaches B, not even one that is under way
    delay A B MS        packets of A reach B later
    loss A B PERCENT    so many packets of A don't reach B, chosen at random
    heal A B            none of these from A to B
"""

import argparse
import heapq
import os
import random
import selectors
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stacklib import networks  # noqa: E402

# More than an Ethernet packet, the devices' bound.
LARGEST = 2048
# Packets read from one device before the others have their turn.
TURN = 64
# The place of the receiver's address in a packet of IPv4.
RECEIVER = slice(16, 20)


@dataclass
class Way:
    """What happens to the packets from one host to another."""

    cut: bool = False
    delay: float = 0
    """Seconds."""
    loss: float = 0
    """0...1."""


UNDISTURBED = Way()


class Wire:
    """The hosts, what happens between them, and the packets under way."""

    def __init__(self, hosts: dict[str, str], links: Path, seed: int):
        self._links = links
        self._random = random.Random(seed)
        self._selector = selectors.DefaultSelector()
        self._addresses = {name: socket.inet_aton(address) for name, address in hosts.items()}
        self._devices: dict[bytes, int] = {}
        # By the addresses of sender and receiver; a pair without an entry is not disturbed.
        self._ways: dict[tuple[bytes, bytes], Way] = {}
        # When each is due, a number that keeps their order, sender and receiver, the packet.
        self._under_way: list[tuple[float, int, tuple[bytes, bytes], bytes]] = []
        self._sent = 0
        for name, address in hosts.items():
            self._add(name, address)

    def _add(self, name: str, address: str) -> None:
        namespace, device = networks.make(address)
        (self._links / name).symlink_to(f"/proc/{os.getpid()}/fd/{namespace}")
        packed = self._addresses[name]
        self._devices[packed] = device
        self._selector.register(device, selectors.EVENT_READ, lambda: self._read(packed, device))

    def run(self) -> None:
        """Passes packets and obeys commands, without end."""
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(self._links / networks.CONTROL))
        server.listen()
        self._selector.register(server, selectors.EVENT_READ, lambda: self._accept(server))
        while True:
            wait = max(0, self._under_way[0][0] - time.monotonic()) if self._under_way else None
            for key, _ in self._selector.select(wait):
                key.data()
            now = time.monotonic()
            while self._under_way and self._under_way[0][0] <= now:
                _, _, pair, packet = heapq.heappop(self._under_way)
                if not self._ways.get(pair, UNDISTURBED).cut:
                    deliver(self._devices[pair[1]], packet)

    def _read(self, sender: bytes, device: int) -> None:
        for _ in range(TURN):
            try:
                packet = os.read(device, LARGEST)
            except BlockingIOError:
                return
            receiver = packet[RECEIVER]
            target = self._devices.get(receiver)
            # Not IPv4, or to nobody.
            if target is None or packet[0] >> 4 != 4:
                continue
            pair = sender, receiver
            way = self._ways.get(pair)
            if way is None:
                deliver(target, packet)
            elif not way.cut and not (way.loss and self._random.random() < way.loss):
                self._sent += 1
                heapq.heappush(self._under_way, (time.monotonic() + way.delay, self._sent, pair, packet))

    def _accept(self, server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            # Packets wait meanwhile; who connects writes everything at once.
            connection.settimeout(1)
            try:
                lines = b"".join(iter(lambda: connection.recv(65536), b"")).decode().splitlines()
                answers = [self._obey(line.split()) for line in lines]
                connection.sendall("".join(answer + "\n" for answer in answers).encode())
                print(*lines, sep="\n", flush=True)
            except (OSError, ValueError) as error:
                print(f"commands cut short: {error}", flush=True)

    def _obey(self, words: list[str]) -> str:
        try:
            verb, sender, receiver, *value = words
            pair = self._addresses[sender], self._addresses[receiver]
            way = self._ways.get(pair, Way())
            match verb, value:
                case "cut", []:
                    way.cut = True
                case "delay", [milliseconds]:
                    way.delay = float(milliseconds) / 1000
                case "loss", [percent]:
                    way.loss = float(percent) / 100
                case "heal", []:
                    way = Way()
                case _:
                    return f"unknown command {verb}"
        except (ValueError, KeyError) as error:
            return f"{type(error).__name__}: {error}"
        self._ways.pop(pair, None)
        if way != Way():
            self._ways[pair] = way
        return "ok"


def deliver(device: int, packet: bytes) -> None:
    try:
        os.write(device, packet)
    except OSError:
        # Networks lose packets when a receiver's queue is full.
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("links", type=Path, help="a folder for the ways to the namespaces and the control socket")
    parser.add_argument("hosts", nargs="+", metavar="HOST=ADDRESS")
    parser.add_argument("--seed", type=int, required=True, help="decides which packets are lost")
    arguments = parser.parse_args()
    # The path of a Unix socket must be short.
    os.chdir(arguments.links)
    print(f"seed {arguments.seed}", flush=True)
    Wire(dict(text.split("=") for text in arguments.hosts), Path(), arguments.seed).run()


if __name__ == "__main__":
    main()
