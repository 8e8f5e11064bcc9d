"""A receiver that fails for long while users come and go: afterwards it has everything, in order for each user.

`make test` lets it fail for seconds with short pauses between the requests, `make test-webhooks-long` for ten minutes with the pauses that
operators have.
"""

import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass

import fixtures
import pytest
from apps import App
from fixtures import People
from stack_control import Stack, unique
from waiting import eventually, let_pass, spaced
from webhook_receiver import SECRET, Receiver

SHORT_SECONDS = 6
OUTAGE_SECONDS = float(os.environ.get("HELIOGRAPH_WEBHOOK_OUTAGE_SECONDS") or SHORT_SECONDS)
IS_LONG = OUTAGE_SECONDS > SHORT_SECONDS
# Several failures within the short form; the long one has the defaults.
QUICK = {
    "HELIOGRAPH_WEBHOOKS_TIMEOUT": "1s", "HELIOGRAPH_WEBHOOKS_RETRY_FIRST": "100ms", "HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "500ms",
}
# The pause between two requests is 5 minutes at most, with jitter; then all that waits follows in a row.
BACK_SECONDS = 420 if IS_LONG else 20
VISITS_PER_SECOND = 2
USERS = 8
VISIT = ["online", "join", "leave", "offline"]


@dataclass
class Outage:
    """What was seen of one."""

    failing_seconds: float
    requests_failed: int
    visits: int
    waiting: int
    first_event_after_seconds: float
    last_event_after_seconds: float
    requests_taken: int
    events: int
    events_twice: int


async def visit(cast: People, app: App, account: str, gateway: str) -> None:
    """One user comes, joins a channel, leaves it and goes."""
    user, channel = cast.exactly(account, app), f"room-{account}"
    await user.login(gateway)
    await user.join(channel)
    await user.leave(channel)
    await user.logout()


def hook_of(stack: Stack, app: App) -> dict:
    return json.loads(stack.control("webhook", "show", app.id, "--json"))


@pytest.fixture
def outages(make_stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A cluster with one webhooks process, and time for the outage."""
    monkeypatch.setattr(fixtures, "TEST_SECONDS", fixtures.TEST_SECONDS + OUTAGE_SECONDS + BACK_SECONDS)
    for name, value in ({} if IS_LONG else QUICK).items():
        monkeypatch.setenv(name, value)
    return make_stack(gateways=1, sip_bridge=0, webhooks=1)


async def come_and_go(cast: People, stack: Stack, app: App, receiver: Receiver) -> Counter[str]:
    """Users come and go for as long as the receiver fails, in each way for a part of the time; how often each of them."""
    accounts = [unique(f"user{number}") for number in range(USERS)]
    count = int(OUTAGE_SECONDS * VISITS_PER_SECOND)
    visits: Counter[str] = Counter()
    async for number in spaced(count, VISITS_PER_SECOND):
        receiver.mode = Receiver.MODES[number * len(Receiver.MODES) // count]
        account = accounts[number % USERS]
        await visit(cast, app, account, stack.gateways[0])
        visits[account] += 1
    return visits


async def everything_arrives(receiver: Receiver, visits: Counter[str]) -> tuple[float, float]:
    """Waits until every event of these visits has arrived; after how many seconds the first and the last one did."""
    began = time.monotonic()
    await eventually(lambda: receiver.events, "the first request is taken", BACK_SECONDS)
    first = time.monotonic() - began
    await eventually(
        lambda: all(len(receiver.story(account)) >= len(VISIT) * count for account, count in visits.items()), "everything arrived", BACK_SECONDS)
    return first, time.monotonic() - began


async def test_after_a_long_outage_everything_arrives_in_order_per_user(outages: Stack, people, receiver: Receiver):
    app = outages.create_app(unique("app"))
    outages.control("webhook", "set", app.id, receiver.url(), f"--secret={SECRET}", "--allow-loopback")
    await let_pass(1.2, "services look for new webhooks once a second")
    began = time.monotonic()
    async with people(outages) as cast:
        visits = await come_and_go(cast, outages, app, receiver)
    await eventually(lambda: receiver.attempts >= 3, "it was tried again and again")
    hook = hook_of(outages, app)
    assert not receiver.events and hook["failures"] >= 2
    failing, failed = time.monotonic() - began, receiver.attempts
    receiver.mode = "ok"
    receiver.released.set()
    first, last = await everything_arrives(receiver, visits)
    for account, count in visits.items():
        assert receiver.story(account) == VISIT * count, account
    receiver.check()
    await eventually(lambda: hook_of(outages, app)["waiting"] == 0, "nothing waits")
    assert hook_of(outages, app)["lastError"] is None
    assert outages.sql(f"SELECT count(*) FROM webhook_dead WHERE app = '{app.id}'") == [["0"]], "nothing was given up"
    ids = Counter(event["id"] for event in receiver.events)
    print(json.dumps(asdict(Outage(
        round(failing, 1), failed, visits.total(), hook["waiting"], round(first, 1), round(last, 1), len(receiver.requests), len(ids),
        ids.total() - len(ids)))))
