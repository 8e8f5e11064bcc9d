"""The trunk and the numbers of the demo app that needs no token."""

import argparse
from dataclasses import dataclass, field

from . import services
from .errors import StackError
from .record import Record


@dataclass
class Telephony:
    """The arguments for `heliographctl trunk set` and `number set`."""

    trunk: str | None = None
    options: list[str] = field(default_factory=list)
    numbers: list[tuple[str, str]] = field(default_factory=list)

    @staticmethod
    def of(arguments: argparse.Namespace) -> "Telephony":
        options = []
        for name, value in (
            ("transport", arguments.sip_transport), ("dtmf", arguments.sip_dtmf), ("srtp", arguments.sip_srtp),
            ("ring", arguments.sip_ring), ("user", arguments.sip_user), ("secret", arguments.sip_secret),
        ):
            if value is not None:
                options.append(f"--{name}={value}")
        if arguments.sip_register:
            options.append("--register")
        if options and arguments.sip_trunk is None:
            raise StackError("the --sip options need --sip-trunk HOST:PORT")
        # The demo app asks for no token: its trunk must say explicitly what its users may call and show.
        return Telephony(arguments.sip_trunk, [*options, "--allow=any", "--caller-id=any"], arguments.sip_number)

    def set_up(self, record: Record, app_id: str) -> None:
        """Writes the trunk and the numbers into the database."""
        if self.trunk is not None:
            services.control(record, "trunk", "set", app_id, self.trunk, *self.options)
        for number, account in self.numbers:
            services.control(record, "number", "set", f"--app={app_id}", f"--account={account}", "--", number)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `up` for telephones."""
    group = parser.add_argument_group("telephones of the demo app that needs no token")
    group.add_argument("--sip-trunk", metavar="HOST:PORT", help="where calls to telephones go and come from")
    group.add_argument(
        "--sip-number", metavar="NUMBER=ACCOUNT", type=_number, action="append", default=[],
        help="calls to this number ring at that account; can be given several times")
    group.add_argument("--sip-transport", choices=("udp", "tcp", "tls"), help="default: udp")
    group.add_argument("--sip-dtmf", choices=("auto", "rfc4733", "info"), help="how digits are sent (default: auto)")
    group.add_argument("--sip-srtp", choices=("off", "optional", "required"), help="encrypted media (default: off)")
    group.add_argument("--sip-user", metavar="U", help="for digest authentication")
    group.add_argument("--sip-secret", metavar="S", help="for digest authentication")
    group.add_argument("--sip-register", action="store_true", help="register at the trunk")
    group.add_argument("--sip-ring", metavar="SECONDS", type=int, help="how long a telephone may ring (default: 60)")


def _number(text: str) -> tuple[str, str]:
    number, sign, account = text.partition("=")
    if not number or not sign or not account:
        raise argparse.ArgumentTypeError("must be NUMBER=ACCOUNT")
    return number, account
