"""What no page and no engine should send to a gateway: each is refused, and harms nobody else."""

import json

import pytest
from engine import join_arguments
from media_cast import Cast
from media_socket import MediaRefused
from offers import OPUS, PCMU, VP8, audio_offer, offer, padded_to_bytes, padded_to_lines, section
from stack_control import unique
from waiting import eventually

# Of an offer.
BYTES, LINES, SECTIONS = 65_536, 4000, 64
# Of a frame, after `media_hello`.
FRAME_BYTES = 131_072
TOO_BIG = 1009
CLOSE_CODES = {1000, 1002, 1003, 1007, 1008}
VIDEO_SECTIONS = 9


def of_page(text: object) -> dict:
    """The arguments of a page's join with this offer."""
    return join_arguments(unique("input"), kind="web", pub=None, codecs=None, offer=text)


def media_lines(answer: dict) -> list[list[str]]:
    """The words of each line of an answer that is about one of the media."""
    return [line.split() for line in answer["answer"].splitlines() if line.startswith("m=")]


async def can_join(cast: Cast, text: str) -> dict:
    """A page that joins with this offer gets an answer to each of its sections, and leaves."""
    socket, arguments = await cast.socket(), of_page(text)
    answer = await socket.call("media.join", **arguments)
    assert len(media_lines(answer)) == text.count("m=")
    await socket.call("media.leave", channel=arguments["channel"], pid=answer["pid"])
    return answer


# Offers


async def test_offers_of_all_sizes(media):
    """The largest that are taken, and those that have one byte, line or section more."""
    async with media as cast:
        assert len(padded_to_bytes(BYTES)) == BYTES and padded_to_lines(LINES).count("\n") == LINES
        for good, bad in (
            (padded_to_bytes(BYTES), padded_to_bytes(BYTES + 1)), (padded_to_lines(LINES), padded_to_lines(LINES + 1)),
            (audio_offer(SECTIONS - 1), audio_offer(SECTIONS)),
        ):
            answer = await can_join(cast, good)
            socket = await cast.socket()
            await socket.refused("bad_offer", 2, "media.join", **of_page(bad))
            # One socket's bad offers are not the end of it.
            assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]
        # There are six slots and what the page sends; the other sections are rejected.
        assert [words[1] for words in media_lines(answer)] == ["9"] * 7 + ["0"] * (SECTIONS - 7)


@pytest.mark.parametrize("text", [
    "", "v=0", "hello", "\r\n" * 100, "\0" * 100, "m=audio" * 1000, "v=0\r\n" + "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" * 3,
    "🎵" * 1000, audio_offer(credentials=False), audio_offer().replace("AB:", "XY:"), audio_offer().replace("sha-256", "sha-1"),
    audio_offer().replace("a=rtcp-mux", "a=x"), audio_offer().replace("UDP/TLS/RTP/SAVPF", "RTP/AVP"),
    audio_offer().replace("actpass", "passive"), audio_offer().replace("a=group:BUNDLE 0 1", "a=group:BUNDLE 0"),
    audio_offer().replace("a=mid:1", "a=mid:0"), audio_offer().replace("recvonly", "sendonly"),
    audio_offer().replace("sendonly", "inactive").replace("recvonly", "inactive"),
], ids=lambda text: repr(text[-24:]))
async def test_offers_that_are_none(media, text: str):
    async with media as cast:
        socket = await cast.socket()
        await socket.refused("bad_offer", 2, "media.join", **of_page(text))
        assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]


@pytest.mark.parametrize("text", [None, 7, ["v=0"], {"sdp": "v=0"}, True], ids=str)
async def test_offers_that_are_no_text(media, text: object):
    async with media as cast:
        socket = await cast.socket()
        with pytest.raises(MediaRefused) as caught:
            await socket.call("media.join", **{**of_page(""), "offer": text})
        assert (caught.value.reason, caught.value.code) in (("invalid_args", 2), ("bad_offer", 2))
        assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]


async def test_a_page_without_a_codec_that_is_forwarded(media):
    async with media as cast:
        socket = await cast.socket()
        await socket.refused(
            "unsupported_media", 4, "media.join", **of_page(offer(section("audio", PCMU, "sendonly", 0))))
        assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]


async def test_video_is_rejected_and_audio_goes_on(media):
    """Nothing forwards video: a page is told so, section by section, and joins all the same."""
    async with media as cast:
        text = offer(
            section("audio", OPUS, "sendonly", 0), section("video", VP8, "sendonly", 1), section("audio", OPUS, "recvonly", 2),
            *(section("video", VP8, "recvonly", 3 + number) for number in range(VIDEO_SECTIONS - 1)))
        answer = await can_join(cast, text)
        assert [(words[0], words[1]) for words in media_lines(answer)] == [
            ("m=audio", "9"), ("m=video", "0"), ("m=audio", "9"), *[("m=video", "0")] * (VIDEO_SECTIONS - 1)]


# Frames


async def test_frames_of_all_sizes(media):
    """The largest is read; one that has a byte more ends its socket, and nobody else's."""
    async with media as cast:
        socket, other = await cast.socket(), await cast.engine(unique("input"))
        await socket.send_text(of_size(socket.line, FRAME_BYTES))
        assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]
        await socket.send_text(of_size(socket.line, FRAME_BYTES + 1))
        await eventually(socket.closed.is_set, "the socket is closed")
        assert socket.close_code == TOO_BIG
        await other.mute(audio=1)


def of_size(line: str, count: int) -> str:
    """A frame of so many bytes, with a call that nobody knows, and a number that nobody waits for."""
    text = json.dumps(["call2", ["media.nothing", -1, {"line": line, "x": ""}]])
    return text.replace('"x": ""', f'"x": "{"x" * (count - len(text))}"')


@pytest.mark.parametrize("text", [
    "no JSON", "[]", "{}", "null", '["call2"]', '["call2", []]', '["call2", ["media.join", 99, 7]]', '["nothing", {}]',
    "[" * 5000, '["call2", ["media.join", 99, {"line": 7}]]',
], ids=lambda text: text[:40])
async def test_frames_that_are_none(media, text: str):
    """The gateway answers by an error, ignores the frame, or closes that socket; others go on."""
    async with media as cast:
        other, socket = await cast.engine(unique("input")), await cast.socket()
        await socket.send_text(text)
        try:
            assert (await socket.call("media.join", **of_page(audio_offer())))["answer"]
        except ConnectionError:
            assert socket.close_code in CLOSE_CODES, socket.close_code
        await other.mute(audio=1)
