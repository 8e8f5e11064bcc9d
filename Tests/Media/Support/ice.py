"""The checks of a participant: the controlling side, with one pair, towards an ICE-lite server."""

import secrets
import time

from stun import Answer, Check

# While nothing has answered, and afterwards.
FIRST_SECONDS, NEXT_SECONDS = 0.5, 2.5
UNANSWERED_MAX = 20


class Checks:
    """Writes requests and judges answers; its owner has the socket and the time."""

    def __init__(self, ufrag: str, password: str):
        self.ufrag = secrets.token_hex(4)
        self._username = f"{ufrag}:{self.ufrag}"
        self._password = password
        self._tie_breaker = secrets.randbits(64)
        self._sent: dict[bytes, float] = {}
        self.answered = 0
        self.refusals: list[int] = []
        """The codes of the failures that came."""
        self.address: tuple[str, int] | None = None
        """What the server knows the participant by."""
        self.round_trip: float | None = None

    @property
    def pause(self) -> float:
        """The seconds until the next check."""
        return NEXT_SECONDS if self.answered else FIRST_SECONDS

    def request(self, *, is_nominating: bool = True, is_controlled: bool = False) -> bytes:
        """The next check."""
        check = Check(self._username, self._password, self._tie_breaker, is_nominating, is_controlled)
        self._sent[check.transaction] = time.monotonic()
        while len(self._sent) > UNANSWERED_MAX:
            del self._sent[next(iter(self._sent))]
        return check.encoded()

    def received(self, data: bytes) -> None:
        """Takes an answer; raises for one that no correct server sends."""
        answer = Answer.read(data, self._password)
        sent = self._sent.pop(answer.transaction, None)
        assert sent is not None, "an answer to a check that was not sent, or a second one"
        if answer.is_success:
            assert answer.address, "a success without an address"
            self.answered += 1
            self.address = answer.address
            self.round_trip = time.monotonic() - sent
        else:
            self.refusals.append(answer.code)
