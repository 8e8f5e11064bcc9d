"""Requests to the server API of a stack's gateways."""

import json
from dataclasses import dataclass, field
from urllib.parse import quote

import requests
from secrecy import SPOKEN
from stack_control import Stack

SECONDS = 20


@dataclass
class Answer:
    """What the API answered."""

    status: int
    body: dict
    headers: dict = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The code of a problem."""
        return self.body["code"]


class ServerAPI:
    """One gateway's server API, used with one key."""

    def __init__(self, stack: Stack, key: str, gateway: int = 0):
        self.url = stack.endpoints["api"][gateway]
        self.key = key
        self.session = requests.Session()
        self.session.trust_env = False

    def ask(self, method: str, *path: str, body: object = None, headers: dict | None = None, query: str = "") -> Answer:
        """Requests `/v1/PATH...`; each part of the path is escaped."""
        sent = {"Authorization": f"Bearer {self.key}"} | (headers or {})
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
            if not isinstance(body, bytes):
                SPOKEN.body(body)
        target = "/v1/" + "/".join(quote(part, safe="") for part in path) + query
        got = self.session.request(method, self.url + target, data=data, headers=sent, timeout=SECONDS)
        return Answer(got.status_code, got.json() if got.content else {}, dict(got.headers))

    @staticmethod
    def escape(text: str) -> str:
        """A text as the value of a parameter."""
        return quote(text, safe="")

    def get(self, *path: str, **more) -> Answer:
        return self.ask("GET", *path, **more)

    def post(self, *path: str, **more) -> Answer:
        return self.ask("POST", *path, **more)

    def put(self, *path: str, **more) -> Answer:
        return self.ask("PUT", *path, **more)

    def delete(self, *path: str, **more) -> Answer:
        return self.ask("DELETE", *path, **more)


def create_key(stack: Stack, *, app: str | None = None, scopes: tuple[str, ...] = ("read", "send", "admin"), rate: int = 1_000_000) -> dict:
    """Makes a key, of the whole cluster unless an app is given; what `heliographctl key create` prints."""
    place = ["--cluster"] if app is None else [f"--app={app}"]
    made = json.loads(stack.control("key", "create", *place, "--scopes", *scopes, f"--rate={rate}", "--json"))
    SPOKEN.token(made["key"].rsplit("_", 1)[-1])
    return made
