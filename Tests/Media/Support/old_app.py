"""An app of the old media SDK, as the program `old-media-app`: what its labels show are its lines."""

from apps import App
from secrecy import SPOKEN
from swift_client import MediaProgram, web_address


class OldApp(MediaProgram):
    """One participant, by one of the app's screens: `call`, or `room`, which has a uid and a key."""

    async def open(self, screen: str, gateway: str, app: App, channel: str, *more: str) -> "OldApp":
        """Shows the screen, which joins."""
        SPOKEN.name(app.id)
        files = {"HELIOGRAPH_AUDIO_OUT": str(self.heard_in)}
        if said := self.said_in():
            files["HELIOGRAPH_AUDIO_IN"] = str(said)
        await self.run("old-media-app", screen, app.id, channel, *more, HELIOGRAPH_URL=web_address(gateway), **files)
        return self

    async def finish(self) -> int:
        """Ends its input, and with it the program; the program's status."""
        self._process.stdin.close()
        await self.ended()
        return self._process.returncode
