"""Offers of pages, as text: what Chromium would say, and what nobody should."""

HEAD = ("v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0")
CREDENTIALS = ("a=ice-ufrag:Pg3x", "a=ice-pwd:thepasswordofthisoffer")
OPUS, PCMU, VP8 = ("111", "opus/48000/2"), ("0", "PCMU/8000"), ("96", "VP8/90000")


def section(kind: str, codec: tuple[str, str], direction: str, mid: int, *, credentials: bool = True) -> list[str]:
    """One of the media: `section("audio", OPUS, "sendonly", 0)`."""
    number, name = codec
    return [
        f"m={kind} 9 UDP/TLS/RTP/SAVPF {number}", "c=IN IP4 0.0.0.0", f"a=mid:{mid}", f"a={direction}", "a=rtcp-mux",
        f"a=rtpmap:{number} {name}", "a=setup:actpass", f"a=fingerprint:sha-256 {':'.join(['AB'] * 32)}",
        *(CREDENTIALS if credentials else ())]


def offer(*sections: list[str], more: tuple[str, ...] = ()) -> str:
    """Of these sections in one bundle, and more lines."""
    bundle = " ".join(map(str, range(len(sections))))
    return "".join(f"{line}\r\n" for line in (
        *HEAD, f"a=group:BUNDLE {bundle}", *(line for one in sections for line in one), *more))


def audio_offer(slots: int = 1, *, credentials: bool = True, more: tuple[str, ...] = ()) -> str:
    """A page that says something, and hears others in so many slots."""
    directions = ["sendonly", *["recvonly"] * slots]
    return offer(
        *(section("audio", OPUS, direction, mid, credentials=credentials) for mid, direction in enumerate(directions)), more=more)


def padded_to_lines(count: int) -> str:
    """A good offer with so many lines."""
    return audio_offer(more=("a=x",) * (count - audio_offer().count("\r\n")))


def padded_to_bytes(count: int) -> str:
    """A good offer with so many bytes, in few lines."""
    left, lines = count - len(audio_offer()), []
    while left:
        # No line is so short that it is none.
        size = left if left < 1100 else 1000
        lines.append("a=x".ljust(size - 2, "x"))
        left -= size
    return audio_offer(more=tuple(lines))
