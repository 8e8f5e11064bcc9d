"""Opus, mono at 48 kHz in packets of 20 ms, by the system's libopus."""

import ctypes
from array import array

from tone import FRAME, RATE

BITRATE = 96_000
# Of opus_defines.h.
APPLICATION_AUDIO = 2049
SET_BITRATE = 4002
PACKET_MAX = 1275
# What a decoder may give for one packet: 120 ms.
SAMPLES_MAX = 5_760


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libopus.so.0")
    for name in ("opus_encoder_create", "opus_decoder_create"):
        getattr(library, name).restype = ctypes.c_void_p
    library.opus_strerror.restype = ctypes.c_char_p
    return library


_opus = _library()


def _checked(result: int) -> int:
    assert result >= 0, f"libopus: {_opus.opus_strerror(result).decode()}"
    return result


class Encoder:
    """Makes packets."""

    def __init__(self, bitrate: int = BITRATE):
        error = ctypes.c_int()
        self._state = ctypes.c_void_p(_opus.opus_encoder_create(RATE, 1, APPLICATION_AUDIO, ctypes.byref(error)))
        _checked(error.value)
        _checked(_opus.opus_encoder_ctl(self._state, SET_BITRATE, ctypes.c_int(bitrate)))
        self._packet = ctypes.create_string_buffer(PACKET_MAX)

    def encode(self, pcm: array) -> bytes:
        """The packet of FRAME samples."""
        assert len(pcm) == FRAME
        samples = (ctypes.c_int16 * FRAME).from_buffer(pcm)
        return self._packet.raw[:_checked(_opus.opus_encode(self._state, samples, FRAME, self._packet, PACKET_MAX))]

    def __del__(self) -> None:
        _opus.opus_encoder_destroy(self._state)


class Decoder:
    """Reads the packets of one speaker, in order."""

    def __init__(self) -> None:
        error = ctypes.c_int()
        self._state = ctypes.c_void_p(_opus.opus_decoder_create(RATE, 1, ctypes.byref(error)))
        _checked(error.value)
        self._pcm = (ctypes.c_int16 * SAMPLES_MAX)()

    def decode(self, packet: bytes) -> array:
        """The samples of a packet."""
        count = _checked(_opus.opus_decode(self._state, packet, len(packet), self._pcm, SAMPLES_MAX, 0))
        return array("h", self._pcm[:count])

    def __del__(self) -> None:
        _opus.opus_decoder_destroy(self._state)
