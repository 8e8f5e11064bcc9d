"""What users do in several steps, and how tests make sure that everything sent before has arrived."""

import time
import uuid

from signaling import Client
from waiting import before_next_try, eventually


async def insists(client: Client, function: str, **arguments) -> dict:
    """Repeats a call until it succeeds: what users do during an outage."""
    reply = await client.attempt(function, within=20, **arguments)
    deadline = time.monotonic() + 30
    while not reply.ok:
        assert time.monotonic() < deadline, f"{function} still fails: {reply.data}"
        await before_next_try(0.2)
        reply = await client.attempt(function, within=20, **arguments)
    return reply.data


async def mail_barrier(user: Client) -> None:
    """After this, the user has fetched everything that its mailbox held before: it has got a message of its own."""
    text = f"barrier-{uuid.uuid4().hex}"
    await user.tell(user.account, text)
    await eventually(lambda: text in user.texts(), "the barrier arrived")


async def barrier(sender: Client, channel: str, *receivers: Client) -> None:
    """After this, the receivers have seen everything that happened in the channel before."""
    text = f"barrier-{uuid.uuid4().hex}"
    await sender.call("channel_sendmsg", name=channel, msg=text, force=True)
    for receiver in receivers:
        await eventually(lambda r=receiver: any(e.content.get("msg") == text for e in r.events), "the barrier arrived")


async def ring(caller: Client, callee: Client, channel: str, extra: str = "") -> None:
    """Invites, and waits until both know that it rings, also when they have called each other in this channel before."""
    def told(user: Client, verb: str) -> int:
        return sum(call["channel"] == channel for call in user.calls(verb))

    invited, rung = told(callee, "invite"), told(caller, "invite_ack")
    await caller.act("invite", channel, callee.account, extra)
    await eventually(lambda: told(callee, "invite") > invited, "the invitation arrived")
    await callee.act("invite_ack", channel, caller.account)
    await eventually(lambda: told(caller, "invite_ack") > rung, "it rings")
