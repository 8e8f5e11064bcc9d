"""Instant messages: none lost, none twice, in order."""

import asyncio

import pytest
from answers import CallFailed
from redis_flavour import FLAVOUR
from signaling import Client
from stack_control import Stack, unique
from waiting import before_next_try, eventually, let_pass, spaced

EARLY = 10
LATE = 10
# Each early user sends 500 to the late users and 250 to the early ones; each late user sends 250 after its login.
TO_LATE, TO_EARLY, FROM_LATE = 500, 250, 250
# Messages a second of each sender.
PACE = 100


async def send_all(sender: Client, receivers: list[str], counters: dict[tuple[str, str], int]) -> None:
    """Sends a numbered message to each receiver in turn at a steady pace, without waiting for answers in between."""
    calls = []
    async for number in spaced(len(receivers), PACE):
        receiver = receivers[number]
        sequence = counters[sender.account, receiver] = counters.get((sender.account, receiver), 0) + 1
        calls.append(asyncio.create_task(sender.tell(receiver, f"{sequence} of {sender.account} \n  to you")))
    await asyncio.gather(*calls)


async def test_ten_thousand_messages_between_twenty_users(make_stack, people):
    # Without rates: a gateway that is late takes many messages at once.
    stack: Stack = make_stack("--unlimited", gateways=2)
    async with people(stack) as cast:
        early = await cast.login(*[f"early{n}" for n in range(EARLY)])
        late = [cast.make(f"late{n}") for n in range(LATE)]
        counters: dict[tuple[str, str], int] = {}

        def to(group: list[Client], start: int, number: int) -> list[str]:
            return [group[(start + n) % len(group)].account for n in range(number)]

        def mixed(index: int) -> list[str]:
            others = [client for client in early if client is not early[index]]
            away, present = to(late, index, TO_LATE), to(others, index, TO_EARLY)
            return [away.pop() if n % 3 else present.pop() for n in range(TO_LATE + TO_EARLY)]

        await asyncio.gather(*[send_all(client, mixed(n), counters) for n, client in enumerate(early)])
        gateways = stack.gateways
        for number, client in enumerate(late):
            await client.login(gateways[number % len(gateways)])
        everyone = early + late
        await asyncio.gather(*[send_all(client, to(everyone, n, FROM_LATE), counters) for n, client in enumerate(late)])

        assert sum(counters.values()) == 10_000
        expected = {client.account: 0 for client in everyone}
        for (_, receiver), number in counters.items():
            expected[receiver] += number
        await eventually(
            lambda: all(len(client.texts()) >= expected[client.account] for client in everyone),
            f"all messages delivered; missing: "
            f"{ {c.account: expected[c.account] - len(c.texts()) for c in everyone} }", 60)
        for client in everyone:
            for sender in everyone:
                number = counters.get((sender.account, client.account), 0)
                wanted = [f"{n} of {sender.account} \n  to you" for n in range(1, number + 1)]
                assert client.texts(sender.account) == wanted, f"{sender.account} to {client.account}"


async def test_any_content_arrives_verbatim(stack: Stack, people):
    contents = [
        "", " ", "  two  spaces ", "line\nbreak\r\n\ttab", '"quotes" \\ and \\u0041', "\u2028\u2029 \U0001f600 é e\u0301",
        '{"json":[1,2,{"a":null}]}', "\x01\x1f\x7f", "x" * 8192, "€" * (8192 // 3)]
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for content in contents:
            await alice.tell(bob.account, content)
        await eventually(lambda: len(bob.texts()) >= len(contents), "all contents arrived")
        assert bob.texts() == contents


async def test_values_that_are_no_strings_become_their_json_text(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for content in (30, {"a": [1, "b"]}, True, None, [1.5]):
            await alice.tell(bob.account, content)
        await eventually(lambda: len(bob.texts()) >= 5, "all contents arrived")
        assert bob.texts() == ["30", '{"a":[1,"b"]}', "true", "null", "[1.5]"]


async def test_one_byte_too_many_is_refused(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for content in ("x" * 8193, "€" * 2731):
            reply = await alice.attempt(
                "user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content=content)
            assert reply.data["code"] == 1005
        await alice.tell(bob.account, "after")
        await eventually(bob.texts, "the next message arrived")
        assert bob.texts() == ["after"]


async def test_the_sixty_first_message_of_a_second_is_refused(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        answers = await asyncio.gather(*[
            alice.attempt("user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content=str(n))
            for n in range(150)])
        sent = [str(n) for n, reply in enumerate(answers) if reply.ok]
        refused = [reply for reply in answers if not reply.ok]
        # The burst may lie across two or three windows of a second.
        assert 60 <= len(sent) < 150
        assert {(reply.data["code"], reply.data["reason"]) for reply in refused} == {(400, "rate_limited")}
        await eventually(lambda: len(bob.texts()) >= len(sent), "what was accepted arrived")
        assert bob.texts() == sent


@pytest.mark.every_redis
async def test_messages_wait_over_logins_until_acknowledged(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob", polls=False)
        await alice.tell(bob.account, "one")
        for _ in range(2):
            await bob.login(stack.gateways[1])
            answer = await bob.call("user_getmsg", ver_clear=0, max=30)
            assert [line.split(" ", 6)[6] for _, line in answer["msgs"]] == ["one"]
            assert answer["ver_clear"] < answer["msgs"][0][0]
            seen = answer["msgs"][0][0]
            await bob.logout()
        await alice.tell(bob.account, "two")
        await bob.login(stack.gateways[0])
        answer = await bob.call("user_getmsg", ver_clear=seen, max=30)
        assert answer["ver_clear"] == seen
        (version, _), = answer["msgs"]
        # In a cluster versions follow the clock.
        assert version > seen if FLAVOUR == "cluster" else version == seen + 1
        # A lower mark changes nothing: entries that were acknowledged are not sent again.
        again = await bob.call("user_getmsg", ver_clear=0, max=30)
        assert again == answer


async def test_a_message_outlives_its_seconds_only_so_long(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        await alice.call("user_sendmsg", peer=bob.account, flag="v1:E:1", t="instant", content="short-lived")
        await alice.tell(bob.account, "long-lived")
        await let_pass(1.5, "the short-lived message's second is over")
        await bob.login(stack.gateways[1])
        await eventually(bob.texts, "the long-lived message arrived")
        assert bob.texts() == ["long-lived"]


async def test_full_pages_follow_each_other_without_new_messages(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        for number in range(95):
            # Answers are awaited one by one: 95 in a second would be over the limit.
            while True:
                try:
                    await alice.tell(bob.account, str(number))
                    break
                except CallFailed as error:
                    assert error.data["reason"] == "rate_limited"
                    await before_next_try(0.1)
        await bob.login(stack.gateways[1])
        await eventually(lambda: len(bob.texts()) == 95, "all pages were fetched by notifies alone")
        assert bob.texts() == [str(number) for number in range(95)]


async def test_a_message_to_oneself_and_to_an_unknown_account(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        await alice.tell(unique("nobody"), "kept for whoever takes that name")
        await alice.tell(alice.account, "note")
        await eventually(alice.texts, "the note arrived")
        assert alice.texts() == ["note"]
