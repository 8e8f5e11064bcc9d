"""The apps of a cluster under test, and the tokens that their clients log in with."""

import hashlib
import time
from dataclasses import dataclass

from secrecy import SPOKEN

NO_TOKEN = "_no_need_token"


@dataclass(frozen=True)
class App:
    """An app of the cluster under test."""

    id: str
    certificate: str = ""
    token_required: bool = False

    def __post_init__(self):
        SPOKEN.name(self.id)

    def token(self, account: str, *, expires_in: float = 3600) -> str:
        """The token that a client of this app logs in with."""
        if not self.token_required:
            return NO_TOKEN
        SPOKEN.certificate(self.certificate)
        return make_token(self.id, self.certificate, account, int(time.time() + expires_in))


def make_token(app: str, certificate: str, account: str, expiry: int) -> str:
    """A signaling token; `expiry` in Unix seconds."""
    digest = hashlib.md5(f"{account}{app}{certificate}{expiry}".encode()).hexdigest()
    return f"1:{app}:{expiry}:{digest}"
