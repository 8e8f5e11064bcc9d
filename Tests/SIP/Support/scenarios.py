"""Scenarios for sipp, put together from steps.

`scenario(*steps)` makes the XML. `Called` are the steps of a phone that is called, `Caller` those of one that calls. Each
step is XML text, so that a test may also write its own.
"""

from xml.sax.saxutils import escape

PCMU_AND_EVENTS = (("0", "PCMU/8000"), ("8", "PCMA/8000"), ("96", "telephone-event/8000"))
PCMU_ONLY = (("0", "PCMU/8000"),)
# The telephone that calls, unless a test says otherwise.
PHONE = "+4915112345678"
DTMF_RELAY = "application/dtmf-relay"
SDP = "application/sdp"


def scenario(*steps: str) -> str:
    """The file for `-sf`."""
    # sipp refuses variables that a scenario sets and never uses.
    text = "\n".join(steps)
    names = sorted({name for name in ("from", "to", "cseq", "via") if f'assign_to="{name}"' in text})
    reference = f'<Reference variables="{",".join(names)}"/>' if names else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="test">\n{text}\n{reference}\n</scenario>\n'


def sdp(
    port: int, formats: tuple[tuple[str, str], ...] = PCMU_AND_EVENTS, *, version: int = 1, direction: str = "sendrecv",
    more: str = "",
) -> str:
    """A session description with one audio stream."""
    numbers = " ".join(number for number, _ in formats)
    maps = "".join(f"a=rtpmap:{number} {name}\n" for number, name in formats)
    events = "".join(f"a=fmtp:{number} 0-15\n" for number, name in formats if name.startswith("telephone-event"))
    return (
        f"v=0\no=phone 7 {version} IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\n"
        f"m=audio {port} RTP/AVP {numbers}\n{maps}{events}a=ptime:20\na={direction}\n{more}")


def message(start: str, headers: list[str], body: str = "", kind: str = SDP) -> str:
    """One SIP message as sipp fills it in."""
    if body:
        headers = [*headers, f"Content-Type: {kind}"]
    # sipp writes the line ends; a body keeps its own.
    return "\n".join([start, *headers, "Content-Length: [len]", "", body])


def send(text: str, *, retransmits: bool = False) -> str:
    """Sends a message. When it `retransmits`, repeats it over UDP until the next expected message arrives."""
    again = ' retrans="500"' if retransmits else ""
    return f"<send{again}><![CDATA[\n\n{text}\n]]></send>"


def expect(kind: str | int, *, optional: bool = False, actions: str = "", attributes: str = "") -> str:
    """Waits for a request of this method or a response of this status."""
    what = f'response="{kind}"' if isinstance(kind, int) else f'request="{kind}"'
    also = ' optional="true"' if optional else ""
    inside = f"<action>{actions}</action>" if actions else ""
    return f"<recv {what}{also} {attributes}>{inside}</recv>"


def pause(seconds: float) -> str:
    """Does nothing for a while; messages that arrive in that time are left for the next step."""
    return f'<pause milliseconds="{int(seconds * 1000)}"/>'


def _capture(header: str, name: str) -> str:
    return f'<ereg regexp=".*" search_in="hdr" header="{header}:" assign_to="{name}"/>'


class Called:
    """A phone that is called."""

    TAG = "called[call_number]"
    CONTACT = "Contact: <sip:phone@[local_ip]:[local_port];transport=[transport]>"

    @staticmethod
    def invited() -> str:
        """Receives the INVITE; later steps can use its headers."""
        number = '<ereg regexp="[0-9]+" search_in="hdr" header="CSeq:" assign_to="cseq"/>'
        actions = _capture("Via", "via") + _capture("From", "from") + _capture("To", "to") + number
        return expect("INVITE", actions=actions, attributes='rrs="true"')

    @classmethod
    def answer(
        cls, status: int, reason: str = "Whatever", body: str = "", *headers: str, tag: str | None = None,
        retransmits: bool = False, again: bool = False, has_contact: bool = True,
    ) -> str:
        """Answers the INVITE, also after its CANCEL.

        With `again`, answers it after any other request; that works only without a proxy between the phone and the bridge.
        """
        lines = [
            "Via:[$via]" if again else "[last_Via:]", "[last_Record-Route:]", "From:[$from]",
            f"To:[$to];tag={tag or cls.TAG}", "[last_Call-ID:]",
            "CSeq: [$cseq] INVITE", *([cls.CONTACT] if has_contact else []), *headers]
        return send(message(f"SIP/2.0 {status} {reason}", lines, body), retransmits=retransmits)

    @classmethod
    def picks_up(cls, body: str, *headers: str) -> str:
        """200, and the ACK for it."""
        return cls.answer(200, "OK", body, *headers, retransmits=True) + expect("ACK")

    @classmethod
    def confirm(cls, status: int = 200, body: str = "", *headers: str) -> str:
        """Answers the latest request of the dialog."""
        lines = ["[last_Via:]", "[last_From:]", "[last_To:]", "[last_Call-ID:]", "[last_CSeq:]", cls.CONTACT, *headers]
        return send(message(f"SIP/2.0 {status} Whatever", lines, body))

    @classmethod
    def cancelled(cls) -> str:
        """CANCEL comes and is answered; so is the INVITE, with 487."""
        lines = ["[last_Via:]", "[last_From:]", f"[last_To:];tag={cls.TAG}", "[last_Call-ID:]", "[last_CSeq:]"]
        return (
            expect("CANCEL") + send(message("SIP/2.0 200 OK", lines))
            + cls.answer(487, "Request Terminated", retransmits=True) + expect("ACK"))

    @classmethod
    def request(cls, method: str, number: int, body: str = "", kind: str = SDP, *headers: str) -> str:
        """A request within the dialog; `number` is its CSeq, rising by one from any start."""
        lines = [
            "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]", "Max-Forwards: 70", "[routes]",
            f"From:[$to];tag={cls.TAG}", "To:[$from]", "Call-ID: [call_id]", f"CSeq: {number} {method}", cls.CONTACT,
            *headers]
        return send(message(f"{method} [next_url] SIP/2.0", lines, body, kind), retransmits=method != "ACK")

    @classmethod
    def hangs_up(cls, number: int = 90) -> str:
        """BYE, and the answer to it."""
        return cls.request("BYE", number) + expect(200)

    @classmethod
    def is_hung_up(cls) -> str:
        """BYE comes and is answered."""
        return expect("BYE") + cls.confirm()


class Caller:
    """A phone that calls `number`, from `own`."""

    def __init__(self, number: str, own: str = PHONE, host: str = "[remote_ip]"):
        self.number = escape(number)
        self.own = escape(own)
        self.host = host
        self._cseq = 1

    def _lines(self, method: str, to: str = "[peer_tag_param]", branch: str = "[branch]") -> list[str]:
        return [
            f"Via: SIP/2.0/[transport] [local_ip]:[local_port];branch={branch}", "Max-Forwards: 70",
            f"From: \"A phone\" <sip:{self.own}@[local_ip]:[local_port]>;tag=caller[call_number]",
            f"To: <sip:{self.number}@{self.host}>{to}", "Call-ID: [call_id]", f"CSeq: {self._cseq} {method}",
            f"Contact: <sip:{self.own}@[local_ip]:[local_port];transport=[transport]>"]

    def invite(self, body: str, *headers: str) -> str:
        """INVITE; a second one, after `challenged`, has the next CSeq number."""
        start = f"INVITE sip:{self.number}@[remote_ip]:[remote_port] SIP/2.0"
        return send(message(start, [*self._lines("INVITE", to=""), *headers], body), retransmits=True)

    def challenged(self, status: int = 401) -> str:
        """The INVITE is answered with a challenge, which is acknowledged; the next INVITE must hold `[authentication ...]`."""
        step = expect(100, optional=True) + expect(status, attributes='auth="true"') + self.acknowledge(same_branch=True)
        self._cseq += 1
        return step

    def rings(self, status: int = 180) -> str:
        return expect(100, optional=True) + expect(status)

    def is_answered(self) -> str:
        """200 and ACK, perhaps after ringing."""
        return (
            expect(100, optional=True) + expect(180, optional=True) + expect(200, attributes='rrs="true"')
            + self.acknowledge())

    def fails(self, status: int) -> str:
        """A final response of this status, perhaps after ringing, and its ACK."""
        return (
            expect(100, optional=True) + expect(180, optional=True) + expect(status) + self.acknowledge(same_branch=True))

    def acknowledge(self, *, same_branch: bool = False, body: str = "") -> str:
        """ACK: of a 2xx with a branch of its own, of others with the INVITE's."""
        if same_branch:
            return send(message(
                f"ACK sip:{self.number}@[remote_ip]:[remote_port] SIP/2.0",
                [line if not line.startswith("Via") else "[last_Via:]" for line in self._lines("ACK")]))
        return send(message("ACK [next_url] SIP/2.0", [*self._lines("ACK"), "[routes]"], body))

    def send_cancel(self) -> str:
        """CANCEL; the step before it must be a response to the INVITE, whose Via it repeats."""
        lines = [line if not line.startswith("Via") else "[last_Via:]" for line in self._lines("CANCEL", to="")]
        return send(message(f"CANCEL sip:{self.number}@[remote_ip]:[remote_port] SIP/2.0", lines), retransmits=True)

    def cancel(self) -> str:
        """CANCEL and its answer, then 487 and its ACK."""
        return self.send_cancel() + expect(200) + expect(487) + self.acknowledge(same_branch=True)

    def request(self, method: str, body: str = "", kind: str = SDP, *headers: str) -> str:
        """A request within the dialog."""
        self._cseq += 1
        lines = [*self._lines(method), "[routes]", *headers]
        return send(message(f"{method} [next_url] SIP/2.0", lines, body, kind), retransmits=True)

    def confirm(self, status: int = 200, body: str = "", *headers: str) -> str:
        """Answers the latest request of the dialog."""
        return Called.confirm(status, body, *headers)

    def hangs_up(self) -> str:
        """BYE, and the answer to it."""
        return self.request("BYE") + expect(200)

    def is_hung_up(self) -> str:
        """BYE comes and is answered."""
        return expect("BYE") + self.confirm()
