"""What a cluster sends to a client: answers to its calls, mailbox entries and channel events."""

import json
from dataclasses import dataclass, field


class LoginRefused(Exception):
    """`login_ret` with an error."""

    def __init__(self, error: str, data: dict):
        super().__init__(error)
        self.error = error
        self.data = data


class CallFailed(Exception):
    """`call2-ret` with an error."""

    def __init__(self, function: str, error: str, data: dict):
        super().__init__(f"{function}: {error} {data}")
        self.error = error
        self.data = data


@dataclass(frozen=True)
class Reply:
    """A `call2-ret`, and how long it took."""

    error: str
    data: dict
    seconds: float

    @property
    def ok(self) -> bool:
        return self.error == "" and self.data.get("result") == "ok"


@dataclass(frozen=True)
class Message:
    """A mailbox entry."""

    version: int
    source: str
    type: str
    content: str

    @property
    def call(self) -> dict:
        """The content of a `voip_...` entry."""
        return json.loads(self.content)


@dataclass(frozen=True)
class Event:
    """A channel event."""

    id: int
    type: str
    content: dict = field(hash=False)

    @property
    def account(self) -> str:
        return self.content["account"]
