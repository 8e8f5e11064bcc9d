"""An app of the old media SDK, as the program `old-media-app`: what its labels show are its lines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from apps import App
from swift_client import MediaProgram, web_address


class OldApp(MediaProgram):
    """One participant, by one of the app's screens: `call`, which may have pipes as devices, or `room` with a uid and a key."""

    async def open(self, screen: str, gateway: str, app: App, channel: str, *more: object, **environment: object) -> "OldApp":
        """Shows the screen, which joins."""
        # Its log is in the directory for temporary files.
        files = {"HELIOGRAPH_AUDIO_OUT": self.heard_in, "TMPDIR": self.heard_in.parent}
        if said := self.said_in():
            files["HELIOGRAPH_AUDIO_IN"] = said
        variables = {"HELIOGRAPH_URL": web_address(gateway), **files, **environment}
        await self.run(
            "old-media-app", screen, app.id, channel, *map(str, more),
            **{name: str(value) for name, value in variables.items()})
        return self

    async def finish(self) -> int:
        """Ends its input, and with it the program; the program's status."""
        self._process.stdin.close()
        await self.ended()
        return self._process.returncode


@asynccontextmanager
async def old_app(directory: Path, tone: int = 0) -> AsyncIterator[OldApp]:
    app = OldApp(directory, tone)
    try:
        yield app
    finally:
        await app.close()
