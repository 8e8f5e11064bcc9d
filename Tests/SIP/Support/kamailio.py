"""Kamailio as the provider of a trunk: registrar and proxy with digest authentication, configured by kamailio.cfg."""

import re
from pathlib import Path

from peers import LOOPBACK, Peer, Peers, free_port

CONFIGURATION = Path(__file__).with_name("kamailio.cfg")
USER, SECRET, REALM = "trunk", "swordfish", "pbx.example"
# The User-Agent of its telephone network, by which kamailio.cfg recognises it.
TELEPHONE_NETWORK = "User-Agent: telephone network"
# Makes Kamailio keep the registered contact in the request line, so that the number is in To only.
CONTACT_ONLY = "Subject: contact only"


class Kamailio(Peer):
    """One instance; calls that are authenticated go to `phone_port`."""

    def __init__(
        self, peers: Peers, algorithm: str, phone_port: int, *, phone_transport: str = "udp", nonce_seconds: int = 300,
    ):
        directory = peers.room("kamailio")
        port = free_port()
        phone = f"sip:{LOOPBACK}:{phone_port};transport={phone_transport}"
        defines = {
            "ALGORITHM": f'"{algorithm}"', "SECRET": f'"{SECRET}"', "PHONE_URI": f'"{phone}"',
            "NONCE_SECONDS": str(nonce_seconds)}
        command = [
            "kamailio", "-DD", "-E", "-f", str(CONFIGURATION), "-Y", str(directory), "-m", "64", "-M", "8",
            "-l", f"udp:{LOOPBACK}:{port}", "-l", f"tcp:{LOOPBACK}:{port}"]
        for name, value in defines.items():
            command += ["-A", f"{name}={value}"]
        super().__init__("kamailio", command, directory, port)

    @property
    def registrations(self) -> list[dict[str, str]]:
        """The REGISTERs that it accepted: user, algorithm, expires, contact."""
        return self._told("register")

    @property
    def calls(self) -> list[dict[str, str]]:
        """The authenticated INVITEs: user, algorithm, from, to."""
        return self._told("call")

    def _told(self, what: str) -> list[dict[str, str]]:
        lines = re.findall(rf"test: {what} (.*)", self.output)
        return [dict(pair.split("=", 1) for pair in line.split(" ") if "=" in pair) for line in lines]
