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
    """Invites, and waits until both know that it rings."""
    await caller.act("invite", channel, callee.account, extra)
    await eventually(lambda: any(c["channel"] == channel for c in callee.calls("invite")), "the invitation arrived")
    await callee.act("invite_ack", channel, caller.account)
    await eventually(lambda: any(c["channel"] == channel for c in caller.calls("invite_ack")), "it rings")
