"""What a bridge counts."""

from apps import App
from rtp import Keypad
from scenarios import Called, expect, pause, sdp
from scene import NUMBER, accepts, answered_call, bridge_metrics, dial, heard, press, refuses, saw, scene
from stack_control import Stack
from waiting import eventually
from web import grown


async def test_calls_and_digits_are_counted(stack: Stack, line: App):
    before = bridge_metrics(stack)
    async with scene(stack) as play:
        alice, phone, channel = await answered_call(play)
        await press(alice, channel, NUMBER, "12")
        await play.rtp.heard_digits(96, "12")
        offer = phone.received("INVITE")[0]
        play.rtp.send(Keypad(offer.event_type).press("3"), (play.bridge[0], offer.audio_port))
        await heard(alice, "3")
        assert grown(before, bridge_metrics(stack), "calls_active") == 1
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        phone = await play.phone(Called.invited(), Called.answer(404, retransmits=True), expect("ACK"))
        await dial(alice, NUMBER)
        await saw(alice, "invite_failed")
        await phone.done()
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486), pause(0))
        await refuses(bob)
        await phone.done()
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), call.rings(), call.is_answered(), call.is_hung_up())
        channel, peer = await accepts(bob)
        await eventually(lambda: phone.received(200), "the call is answered")
        await play.rtp.hears_audio()
        await bob.act("invite_bye", channel, peer)
        await phone.done()
    await eventually(lambda: grown(before, bridge_metrics(stack), "calls_active") == 0, "no call is active")
    after = bridge_metrics(stack)
    results = (("outbound", "answered"), ("outbound", "failed"), ("inbound", "refused"), ("inbound", "answered"))
    for direction, result in results:
        assert grown(before, after, "calls_total", f'"{direction}"', f'"{result}"') == 1, (
            direction, result, {k: v for k, v in after.items() if "calls_total" in k})
    assert grown(before, after, "dtmf_sent") == 2 and grown(before, after, "dtmf_received") == 1
    assert grown(before, after, "call_setup", "count") >= 1
