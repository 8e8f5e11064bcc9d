"""What an app's server is told of the users by its webhook while the processes are replaced: everything, in order."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rollouts import Releases, control
from stack_control import Stack
from waiting import eventually, let_pass
from webhook_receiver import SECRET, Receiver

BEGINS, ENDS = ("online", "join"), ("offline", "leave")
# Events come about two seconds after they happened, and a process that was killed keeps its place for some more.
TOLD_SECONDS = 60


def contradictions(events: list[dict]) -> tuple[list[str], set[tuple]]:
    """What cannot have happened as it was told, because something in between is missing; and who is online or in a channel in the end."""
    seen: set[str] = set()
    present: set[tuple] = set()
    found = []
    for event in events:
        if event["id"] in seen or event["kind"] not in BEGINS + ENDS:
            continue
        seen.add(event["id"])
        about, begins = (event["account"], event.get("channel")), event["kind"] in BEGINS
        if begins == (about in present):
            found.append(f"{event['kind']} of {about} twice, at {event['at']}")
        present = present | {about} if begins else present - {about}
    return found, present


@asynccontextmanager
async def told(stack: Stack, releases: Releases) -> AsyncIterator[None]:
    """For the body, the app of the users has a webhook, if the old release has webhooks; afterwards nothing must be missing."""
    if not releases.has_webhooks:
        yield
        return
    with Receiver() as receiver:
        control(stack, releases.old, "webhook", "set", stack.open_app.id, receiver.url(), f"--secret={SECRET}", "--allow-loopback")
        await let_pass(1.2, "services look for new webhooks once a second")
        yield
        await eventually(lambda: receiver.events and not contradictions(receiver.events)[1], "everybody's end is told", TOLD_SECONDS)
        found, _ = contradictions(receiver.events)
        assert not found, f"the receiver was told: {found[:20]}"
        receiver.check()
        assert stack.sql("SELECT count(*) FROM webhook_dead") == [["0"]], "nothing was given up"
