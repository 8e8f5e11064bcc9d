"""Who hears whom: the tones of speakers in what pages and engines have heard of them.

A page's tone is not clear all the time: Chromium's file microphone gives something else in its first seconds, and skips now and then,
which all who hear the page hear at the same time, though no packet is missing. A page also stretches what it plays while it learns how
packets arrive. So a tone must be clear for one second within CLEAR_SECONDS.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from engine import Engine
from media_page import MediaPage
from tone import ABSENT, CLEAR, RATE, SILENCE, last_part, level, snr
from waiting import eventually

CLEAR_SECONDS = 20

Participant = MediaPage | Engine


@dataclass(frozen=True)
class Heard:
    """One who speaks, in the ears of another."""

    listener: Participant
    uid: int
    """Of who speaks."""
    tone: int
    """What is expected of them, in Hz; 0: they are not expected."""
    level: float
    """Of that tone, in dB of full scale."""
    clearness: float
    """That tone against all the rest, in dB."""
    own: float
    """Of the listener's own tone in this voice, in dB of full scale."""

    @property
    def is_right(self) -> bool:
        """Whether the expected tone is there, and the listener's own is not."""
        return self.tone != 0 and self.clearness >= CLEAR and self.own <= ABSENT


async def heard_by(listener: Participant, others: Sequence[Participant]) -> list[Heard]:
    """What it hears in the last second: one entry for each of the others, heard or not, and for each voice that is none of theirs."""
    voices, tones = await _voices_of(listener), {other.uid: other.tone for other in others}
    return [_heard(listener, uid, tones.get(uid, 0), voices.get(uid)) for uid in tones | dict.fromkeys(voices)]


async def hears_right(listener: Participant, others: Sequence[Participant], seconds: float = CLEAR_SECONDS) -> list[Heard]:
    """Waits until it hears each of the others clearly, and neither itself nor anybody else; what it hears then."""
    heard: list[Heard] = []

    async def is_right() -> bool:
        heard[:] = await heard_by(listener, others)
        return all(one.is_right for one in heard)

    try:
        await eventually(is_right, "all are clear", seconds)
    except AssertionError:
        raise NotHeard(heard) from None
    return heard


class NotHeard(AssertionError):
    """Somebody did not hear what they should."""

    def __init__(self, heard: list[Heard]):
        said = [f"{one.uid}: {one.tone} Hz with {one.clearness:.0f} dB, itself at {one.own:.0f} dB" for one in heard]
        super().__init__(f"{heard[0].listener.tone} Hz hears {'; '.join(said)}")
        self.heard = heard


def _heard(listener: Participant, uid: int, tone: int, pcm: array | None) -> Heard:
    if pcm is None:
        return Heard(listener, uid, tone, SILENCE, SILENCE, SILENCE)
    own = level(pcm, listener.tone) if listener.tone else SILENCE
    return Heard(listener, uid, tone, level(pcm, tone) if tone else SILENCE, snr(pcm, tone) if tone else SILENCE, own)


async def _voices_of(listener: Participant) -> dict[int, array]:
    """The last second of everybody whom it hears, by uid."""
    if isinstance(listener, MediaPage):
        heard = await listener.voices()
    else:
        heard = {uid: voice.pcm for uid, voice in listener.path.voices.items() if len(voice.pcm) >= RATE}
    return {uid: last_part(pcm) for uid, pcm in heard.items()}
