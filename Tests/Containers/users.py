"""Clients of a stack in containers: the old-wire client of Tests/Support, through HAProxy."""

import asyncio
import time

from apps import App
from project import HOST, Failed, Project
from signaling import Client
from waiting import eventually, eventually_blocking
from web import discover

APP = App("containers")
PLAIN, TLS = 8080, 8081


def url() -> str:
    """Where discovery sends a client."""
    host, port = discover(f"http://{HOST}:{PLAIN}", vid=APP.id)["web"][0]
    assert (host, port) == (HOST, PLAIN)
    return f"ws://{host}:{port}"


async def talk(first: Client, second: Client) -> None:
    """Each has a message of the other's within seconds."""
    for sender, receiver in ((first, second), (second, first)):
        text = f"{sender.account} {time.monotonic_ns()}"
        await sender.tell(receiver.account, text)
        await eventually(lambda r=receiver, t=text: t in r.texts(), f"{receiver.account} has the message")


async def login(account: str, address: str | None = None) -> Client:
    return await Client(APP, account).login(address or url())


async def come_back(client: Client) -> None:
    """Waits for the end of a client's connection, and resumes its session as real clients do."""
    await asyncio.wait_for(client.closed.wait(), 60)
    async def resumed() -> bool:
        try:
            await client.resume(url())
        except (OSError, asyncio.TimeoutError):
            return False
        return True
    await eventually(resumed, "the session goes on at another gateway", 30)


def start(project: Project) -> None:
    """Waits until HAProxy has gateways, and makes the app where it is missing."""
    try:
        project.control("app", "create", f"--id={APP.id}", "--open")
    except Failed as refusal:
        assert "taken" in str(refusal) or "exists" in str(refusal), refusal
    eventually_blocking(answers, "discovery answers", 60)


def answers() -> bool:
    try:
        return bool(discover(f"http://{HOST}:{PLAIN}", vid=APP.id)["web"])
    except OSError:
        return False
