"""The scene of a test: an app of its own with a trunk and numbers, its users, and telephones on the other side."""

import itertools
import json
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from acts import mail_barrier
from apps import App
from fixtures import People
from peers import LOOPBACK, Peers, free_port
from rtp import RTPEndpoint
from scenarios import PHONE, Called, Caller, scenario, sdp
from signaling import Client
from sipp import Sipp
from stack_control import Stack, unique
from waiting import eventually, let_pass
from web import metrics

# Bridges read changed trunks every second.
TRUNK_SECONDS = 1.3
# A telephone number that users dial.
NUMBER = "+493012345678"


@dataclass
class Scene:
    """One app whose trunk is `port` of this machine: phones that are called listen there."""

    stack: Stack
    peers: Peers
    cast: People
    rtp: RTPEndpoint
    app: App
    port: int

    def __post_init__(self) -> None:
        self._numbers = itertools.count(random.randint(10**7, 10**8))

    @property
    def bridge(self) -> tuple[str, int]:
        """Where the sip-bridge listens."""
        sip = self.stack.endpoints["sip"]
        return sip["host"], sip["port"]

    def trunk(self, *, host: str = LOOPBACK, port: int | None = None, **settings: object) -> None:
        """Sets the app's trunk, with heliographctl's options: `trunk(dtmf="info", register=True)`.

        Its users may call and show every number, unless it is told otherwise. What else is not named stays as it was.
        """
        settings = {"allow": "any", "caller_id": "any", **settings}
        options = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in settings.items()]
        self.stack.control("trunk", "set", self.app.id, f"{host}:{port or self.port}", *options)

    async def move_trunk(self) -> None:
        """Moves the trunk to another port and waits until the bridges know; later calls go there."""
        self.port = free_port()
        self.trunk()
        await self.settle()

    async def move_trunk_with(self, **settings: object) -> None:
        """The same, with other settings."""
        self.port = free_port()
        self.trunk(**settings)
        await self.settle()

    async def settle(self) -> None:
        """Waits until the bridges know the trunk as it is now."""
        await let_pass(TRUNK_SECONDS, "bridges read the trunks so often, and tell nobody")

    def number(self, account: str) -> str:
        """A new number of this account."""
        number = f"+4930{next(self._numbers)}"
        self.stack.control("number", "set", f"--app={self.app.id}", f"--account={account}", "--", number)
        return number

    async def users(self, *names: str) -> list[Client]:
        """Logs in one user per name."""
        return await self.cast.login(*names, app=self.app)

    async def callee(self, own: str = PHONE, host: str = "[remote_ip]") -> tuple[Client, Caller]:
        """A user with a number, logged in, and the steps of a phone `own` that calls this number at `host`."""
        bob, = await self.users("bob")
        return bob, Caller(self.number(bob.account), own, host)

    async def phone(self, *steps: str, **options: object) -> Sipp:
        """A phone that waits for calls at the trunk's address."""
        return await self.peers.start(Sipp(self.peers, scenario(*steps), port=self.port, **options))

    async def caller(self, *steps: str, target: tuple[str, int] | None = None, **options: object) -> Sipp:
        """A phone that calls at once: the bridge, unless another target is named."""
        return await self.peers.start(Sipp(self.peers, scenario(*steps), target=target or self.bridge, **options))


@asynccontextmanager
async def scene(stack: Stack, *, app: App | None = None, port: int | None = None, **trunk: object) -> AsyncIterator[Scene]:
    """`async with scene(stack, dtmf="info") as play:`, with an app and a trunk of its own.

    `trunk=False` leaves the app without a trunk. An `app` that is given keeps the trunk that it has.
    """
    async with Peers() as peers, RTPEndpoint() as rtp, People(stack) as cast:
        has_trunk = trunk.pop("trunk", app is None)
        play = Scene(stack, peers, cast, rtp, app or stack.create_app(uuid.uuid4().hex), port or free_port())
        if has_trunk:
            play.trunk(**trunk)
        yield play


def bridge_metrics(stack: Stack) -> dict[str, float]:
    """The metrics of the first bridge: name with labels -> value."""
    bridge = next(member for member in stack.endpoints["services"] if member["name"] == "sip-bridge#1")
    return metrics(bridge["http"])


# What users see

async def dial(user: Client, number: str, extra: object = "") -> str:
    """Invites a phone; returns the channel of the call."""
    channel = unique("call")
    await user.act("invite", channel, number, extra if isinstance(extra, str) else json.dumps(extra))
    return channel


async def saw(user: Client, verb: str, count: int = 1, seconds: float = 10) -> dict:
    """Waits until a user has got `count` call events `voip_VERB`; returns the content of the last of them."""
    await eventually(
        lambda: len(user.calls(verb)) >= count,
        f"{user.account} sees voip_{verb}; saw {[(m.type, m.call['extra']) for m in user.messages if m.type[:4] == 'voip']}",
        seconds)
    return user.calls(verb)[count - 1]


async def answered_call(play: Scene, *between: str, body: str | None = None) -> tuple[Client, Sipp, str]:
    """A user calls a phone, which answers with `body` (default: the scene's media port), does `between` and waits for the end.

    Returns the user, the phone and the channel, once the user knows of the answer.
    """
    alice, = await play.users("alice")
    phone = await play.phone(
        Called.invited(), Called.answer(180), Called.picks_up(body or sdp(play.rtp.port)), *between, Called.is_hung_up())
    channel = await dial(alice, NUMBER)
    await saw(alice, "invite_accept")
    return alice, phone, channel


async def rings_at(user: Client) -> tuple[str, str]:
    """Waits for the first invitation and acknowledges it; returns its channel and peer."""
    invite = await saw(user, "invite")
    await user.act("invite_ack", invite["channel"], invite["peer"])
    return invite["channel"], invite["peer"]


async def accepts(user: Client) -> tuple[str, str]:
    """Waits for the first invitation, acknowledges and accepts it; returns its channel and peer."""
    channel, peer = await rings_at(user)
    await user.act("invite_accept", channel, peer)
    return channel, peer


async def refuses(user: Client) -> None:
    """Waits for the first invitation, acknowledges and refuses it."""
    await user.act("invite_refuse", *await rings_at(user))


def words(call: dict) -> dict:
    """The JSON of an entry's `extra`."""
    return json.loads(call["extra"])


def digits(user: Client) -> str:
    """The digits that this user received so far."""
    return "".join(
        words(call)["msgdata"] for call in user.calls("invite_msg") if words(call).get("msgtype") == "dtmf")


async def press(user: Client, channel: str, peer: str, text: str) -> None:
    """Sends digits to the phone, as the clients' channelInviteDTMF does."""
    await user.act("invite_msg", channel, peer, json.dumps({"msgtype": "dtmf", "msgdata": text}))


async def heard(user: Client, text: str) -> None:
    """Waits for digits, and then for a barrier, so that a digit that arrives twice is noticed."""
    await eventually(lambda: len(digits(user)) >= len(text), f"{user.account} gets {text!r}, has {digits(user)!r}")
    await mail_barrier(user)
    assert digits(user) == text


COLUMNS = (
    "caller", "callee", "direction", "state", "started_at", "acknowledged_at", "accepted_at", "ended_at", "end_code",
    "number", "sip_call_id", "sip_status", "sip_reason")


async def finished_row(play: Scene, user: Client) -> dict[str, str]:
    """The one row of the call log with this user, once the call is over."""
    found: list[list[str]] = []

    def there() -> bool:
        found[:] = play.stack.sql(
            f"select {', '.join(COLUMNS)} from call_log "
            f"where app = '{play.app.id}' and '{user.account}' in (caller, callee) and ended_at is not null")
        return bool(found)

    await eventually(there, "the call log has the call's end")
    assert len(found) == 1
    return dict(zip(COLUMNS, found[0]))
