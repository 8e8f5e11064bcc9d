"""The mailbox as old clients poll it: notifies, pages and marks, each rule that one of them depends on."""

import asyncio
import json
import re

from acts import mail_barrier
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass, spaced


def notified(frames: list[list]) -> list[int]:
    """Versions of the `notify msg` frames."""
    return [frame[1][1] for frame in frames if frame[0] == "notify" and frame[1][0] == "msg"]


def pages(client: Client) -> list[tuple[int, dict]]:
    """The mailbox answers, each with its place among the frames."""
    found = []
    for place, frame in enumerate(client.frames):
        if frame[0] == "call2-ret":
            data = json.loads(frame[1][2])
            if "msgs" in data:
                found.append((place, data))
    return found


async def send_some(sender: Client, receiver: str, number: int, pace: float = 50) -> None:
    """Numbered messages at a pace below the session's limit."""
    async for count in spaced(number, pace):
        await sender.tell(receiver, str(count))


async def poll(client: Client, number: int, mark: int = 0) -> dict:
    """The mailbox's answer, once `number` messages wait: a sender may have its answer before the message is in the mailbox."""
    answer: dict = {}

    async def all_wait() -> bool:
        answer.update(await client.call("user_getmsg", ver_clear=mark, max=30))
        return len(answer["msgs"]) >= number

    await eventually(all_wait, f"{number} messages wait for {client.account}")
    assert len(answer["msgs"]) == number
    return answer


async def test_entries(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for content in ("", " ", "a  b ", "line\nline"):
            await alice.tell(bob.account, content)
        await eventually(lambda: len(bob.texts()) == 4, "all entries")
        entries = [entry for _, page in pages(bob) for entry in page["msgs"]]
        for (version, line), content in zip(entries, ("", " ", "a  b ", "line\nline"), strict=True):
            assert type(version) is int
            # The sixth space is there even when the content is empty.
            fields = re.fullmatch(r"msg-v2 (\S+) (\S+) (\S+) (\S+) (\S+) (.*)", line, re.DOTALL)
            assert fields and (fields[1], fields[4], fields[6]) == (alice.account, "instant", content)


async def test_flag_tells_the_seconds_that_a_message_waits(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for flag in ("v1:E:3600", "v1:E:2592000", "v1:E:7"):
            await alice.call("user_sendmsg", peer=bob.account, flag=flag, t="instant", content="x")
        await eventually(lambda: len(bob.texts()) == 3, "all entries")
        assert [line.split(" ")[3] for _, page in pages(bob) for _, line in page["msgs"]] \
            == ["v1:E:3600", "v1:E:2592000", "v1:E:7"]


async def test_versions_rise_over_logins(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob", polls=False)
        versions = []
        for round_ in range(4):
            await alice.tell(bob.account, "while away")
            await bob.login(stack.gateways[round_ % 2])
            await alice.tell(bob.account, "while there")
            answer = await poll(bob, 2, versions[-1] if versions else 0)
            versions += [version for version, _ in answer["msgs"]]
            await bob.call("user_getmsg", ver_clear=versions[-1], max=30)
            await bob.logout()
        assert len(versions) == 8 and versions == sorted(set(versions))


async def test_news_is_told_by_numbers_alone(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = await cast.make("bob", polls=False).login(stack.gateways[1])
        # Entries that come before the answer to the first poll may share one notify.
        await bob.call("user_getmsg", ver_clear=0, max=30)
        for count in range(3):
            await alice.tell(bob.account, str(count))
        await eventually(lambda: len(notified(bob.frames)) == 3, "three notifies, though nobody polls")
        # No pushes, no msg-v3, no text form: each of them makes some old client crash, or stop polling.
        assert {frame[0] for frame in bob.frames} == {"login_ret", "call2-ret", "notify"}
        assert all(frame[1][0] == "msg" and len(frame[1]) == 2 and type(frame[1][1]) is int
                   for frame in bob.frames if frame[0] == "notify")
        versions = notified(bob.frames)
        assert len(versions) == 3 and versions == sorted(set(versions))


async def test_answers_never_clear_their_own_messages(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = await cast.make("bob", polls=False).login(stack.gateways[1])
        empty = await bob.call("user_getmsg", ver_clear=0, max=30)
        assert type(empty["ver_clear"]) is int and empty["msgs"] == []
        for count in range(4):
            await alice.tell(bob.account, str(count))
        first = await poll(bob, 4)
        versions = [version for version, _ in first["msgs"]]
        assert first["ver_clear"] < versions[0]
        # As long as they are not acknowledged, the same messages come again.
        assert await bob.call("user_getmsg", ver_clear=0, max=30) == first
        # When half of them are acknowledged, the answer's mark is the last of these, and only later messages come.
        half = await bob.call("user_getmsg", ver_clear=versions[1], max=30)
        assert half["ver_clear"] == versions[1] and half["msgs"] == first["msgs"][2:]
        # A lower mark changes nothing.
        for lower in (0, versions[0], versions[1]):
            assert await bob.call("user_getmsg", ver_clear=lower, max=30) == half
        done = await bob.call("user_getmsg", ver_clear=versions[3], max=30)
        assert done["ver_clear"] == versions[3] and done["msgs"] == []
        assert (await bob.call("user_getmsg", ver_clear=0, max=30))["ver_clear"] == versions[3]


async def test_an_answer_has_every_message_that_was_told_of_before_it(stack: Stack, people):
    """Rule (a): every client ignores a notify that comes while its poll is outstanding."""
    async with people(stack) as cast:
        alice, carol, bob = await cast.login("alice", "carol", "bob")
        # Both gateways write to the same mailbox while the receiver polls all the time.
        await asyncio.gather(send_some(alice, bob.account, 150), send_some(carol, bob.account, 150))
        await eventually(lambda: len(bob.texts()) == 300, "all messages")
        for sender in (alice, carol):
            assert bob.texts(sender.account) == [str(count) for count in range(150)]
        seen = 0
        for place, page in pages(bob):
            told = max(notified(bob.frames[:place]), default=0)
            seen = max([seen, *[version for version, _ in page["msgs"]]])
            assert seen >= told or len(page["msgs"]) == 30, f"a notify named {told}, but the answer after it went up to {seen} only"


async def test_a_full_answer_is_followed_by_a_notify(stack: Stack, people):
    """Rule (b): otherwise the Python client waits for ever."""
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob", polls=False)
        for count in range(5):
            await alice.tell(bob.account, str(count))
        await bob.login(stack.gateways[1])
        mark, texts = 0, []
        for expected in (2, 2, 1):
            answer = await bob.call("user_getmsg", ver_clear=mark, max=2)
            assert len(answer["msgs"]) == expected
            texts += [line.split(" ", 6)[6] for _, line in answer["msgs"]]
            mark = answer["msgs"][-1][0]
            await bob.ping(mark % 1000)
            place, _ = pages(bob)[-1]
            # A notify between the answer and the pong was sent along with the answer.
            assert len(notified(bob.frames[place:])) == (1 if len(texts) < 5 else 0)
            assert bob.frames[place + 1][0] == ("notify" if len(texts) < 5 else "pong")
        assert texts == [str(count) for count in range(5)]


async def test_what_was_not_acknowledged_comes_at_the_next_login(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        first = await cast.make("bob", polls=False).login(stack.gateways[1])
        for count in range(3):
            await alice.tell(first.account, str(count))
        answer = await poll(first, 3)
        await first.call("user_getmsg", ver_clear=answer["msgs"][0][0], max=30)
        # A kick, not a logout: nothing more is acknowledged.
        second = await cast.exactly(first.account).login(stack.gateways[0])
        await eventually(lambda: len(second.texts()) == 2, "what was not acknowledged")
        assert second.texts() == ["1", "2"]
        assert [message.version for message in second.messages] == [version for version, _ in answer["msgs"][1:]]


async def test_an_expired_message_is_not_given_to_one_who_is_there(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = await cast.make("bob", polls=False).login(stack.gateways[1])
        # After the first poll, each entry has a notify of its own.
        await bob.call("user_getmsg", ver_clear=0, max=30)
        for flag, content in (("v1:E:1", "short"), ("v1:E:60", "long"), ("v1:E:1", "short")):
            await alice.call("user_sendmsg", peer=bob.account, flag=flag, t="instant", content=content)
        await eventually(lambda: len(notified(bob.frames)) == 3, "a notify for each of the three")
        await let_pass(1.5, "the short messages' second is over")
        answer = await bob.call("user_getmsg", ver_clear=0, max=30)
        assert [line.split(" ", 6)[6] for _, line in answer["msgs"]] == ["long"]


async def test_pushes_for_those_who_ask(stack: Stack, people):
    """Push mode: entries instead of notifies, each once, in order; a poll only acknowledges."""
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob", polls=False)
        await alice.tell(bob.account, "0")
        await bob.connect(stack.gateways[1])
        await bob.send("login", {
            "vid": bob.app.id, "account": bob.account, "uid": 0, "token": bob.token, "device": "test", "ip": "", "push": 1})
        _, text = await bob._answer("login_ret")
        assert json.loads(text)["push"] == 1
        for count in range(1, 40):
            await alice.tell(bob.account, str(count))

        def pushed() -> list[list]:
            return [json.loads(frame[1][1]) for frame in bob.frames if frame[0] == "notify" and frame[1][0] == "recvmsg"]

        await eventually(lambda: len(pushed()) >= 40, "all entries")
        assert [line.split(" ", 6)[6] for _, line in pushed()] == [str(count) for count in range(40)]
        versions = [version for version, _ in pushed()]
        assert versions == sorted(set(versions)) and not notified(bob.frames)
        answer = await bob.call("user_getmsg", ver_clear=versions[-1], max=30)
        assert answer["ver_clear"] == versions[-1] and answer["msgs"] == []
        await bob.logout()
        again = await cast.exactly(bob.account).login(stack.gateways[0])
        await mail_barrier(again)
        assert len(again.messages) == 1, "what was acknowledged came again"


async def test_order_of_several_senders(stack: Stack, people):
    async with people(stack) as cast:
        senders = await cast.login(*[f"s{n}" for n in range(4)])
        bob, = await cast.login("bob")
        await asyncio.gather(*[sender.tell(bob.account, f"{n}") for n in range(40) for sender in senders])
        await eventually(lambda: len(bob.texts()) == 160, "all messages")
        for sender in senders:
            assert bob.texts(sender.account) == [str(n) for n in range(40)]
        versions = [message.version for message in bob.messages]
        assert versions == sorted(set(versions))


async def test_a_stranger_of_another_app_gets_nothing(stack: Stack, people):
    async with people(stack) as cast:
        alice = await cast.make("alice").login(stack.gateways[0])
        name = unique("bob")
        here = await cast.exactly(name).login(stack.gateways[0])
        there = await cast.exactly(name, stack.token_app).login(stack.gateways[1])
        await alice.tell(name, "hello")
        await eventually(here.texts, "the message")
        await mail_barrier(there)
        assert len(there.messages) == 1 and here.texts() == ["hello"]
