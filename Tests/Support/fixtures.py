"""Fixtures of all Python tests: one cluster for tests that break nothing, clusters of their own for the others."""

import asyncio
import inspect
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from apps import App
from secrecy import check_logs
from signaling import Client
from stack_control import Stack, unique

TEST_SECONDS = 240
# A sanitizer writes its reports when a process ends by itself.
IS_SANITIZED = not {"ASAN_OPTIONS", "TSAN_OPTIONS"}.isdisjoint(os.environ)
# While a sync of the disk is under way, Redis with `everysec` answers without writing for up to 2 s. On a machine as busy as one
# that runs these tests, SIGKILL would then lose what it has acknowledged, which is what tests that kill Redis count. `no` writes at once
# and leaves the disk to the system; that matters only when the power fails.
os.environ.setdefault("HELIOGRAPH_REDIS_FSYNC", "no")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs `async def` tests, each in an event loop of its own and with a deadline."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def bounded() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True


@contextmanager
def running(request: pytest.FixtureRequest, *options: str, **counts: int) -> Iterator[Stack]:
    """A cluster for the time of a fixture, with the options of `Stack.up`.

    Its logs are searched for secrets, and kept when they hold some, when it did not start, or when a test has failed meanwhile.
    """
    stack, failures_before, failed = Stack(), request.session.testsfailed, True
    try:
        with stack.up(*options, **counts).clients_host():
            yield stack
        failed = request.session.testsfailed > failures_before
    finally:
        stack.down(at_once=not IS_SANITIZED)
        logs = stack.directory / "logs"
        if failed:
            print(f"\nlogs of the stack: {logs}", file=sys.stderr)
        # A stack that did not start has no logs.
        if logs.is_dir():
            check_logs(stack.directory)
        if not failed:
            shutil.rmtree(stack.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Two gateways and one of each service, for tests that kill nothing."""
    with running(request, gateways=2) as stack:
        yield stack


@pytest.fixture
def make_stack(request: pytest.FixtureRequest) -> Iterator[Callable[..., Stack]]:
    """Makes clusters of the test's own, with the options of `Stack.up`; all of them end with the test."""
    with ExitStack() as stacks:
        yield lambda *options, **counts: stacks.enter_context(running(request, *options, **counts))


class People:
    """`async with People(stack) as cast:` makes clients whose names no other test uses, and closes them at the end.

    Closing fails when a client was sent what no correct server sends, unless the test has failed already.
    """

    def __init__(self, stack: Stack):
        self.stack = stack
        self.clients: list[Client] = []
        self._turn = itertools.cycle(stack.gateways)

    async def __aenter__(self) -> "People":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for client in self.clients:
            if kind is not None:
                client.violations.clear()
            await client.close()

    def make(self, name: str, app: App | None = None, **options) -> Client:
        """A client that is not connected yet; the name is made unique."""
        return self.exactly(unique(name), app, **options)

    def exactly(self, account: str, app: App | None = None, **options) -> Client:
        """A client with exactly this account."""
        client = Client(app or self.stack.open_app, account, **options)
        self.clients.append(client)
        return client

    async def login(self, *names: str, app: App | None = None, gateway: int | None = None) -> list[Client]:
        """Logs in one client per name, on each gateway in turn unless one is given."""
        clients = [self.make(name, app) for name in names]
        for client in clients:
            await client.login(next(self._turn) if gateway is None else self.stack.gateways[gateway])
        return clients

    async def members(self, channel: str, *names: str, gateway: int | None = None) -> list[Client]:
        """Logs in one client per name, like `login`; they join the channel in this order."""
        clients = await self.login(*names, gateway=gateway)
        for client in clients:
            await client.join(channel)
        return clients


@pytest.fixture
def people() -> type[People]:
    """`async with people(stack) as cast: alice, bob = await cast.login("alice", "bob")`."""
    return People
