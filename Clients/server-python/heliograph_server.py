"""Heliograph's client for servers of apps: the server API, its stream of events, and the signatures of webhooks.

One file for Python 3.10 and later, no dependencies. How to use it: Docs/clients.md. What the operations do: Docs/api.md.
"""

import hashlib
import hmac
import http.client
import json
import random
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["ABSENT", "Event", "EventStream", "HeliographError", "HeliographServer", "is_genuine"]

ATTEMPTS = 6
REQUEST_SECONDS = 20.0
# Without a `Retry-After`, attempt n waits a random time up to BACKOFF_SECONDS * 2^(n-1), at most BACKOFF_CAP_SECONDS.
BACKOFF_SECONDS = 0.25
BACKOFF_CAP_SECONDS = 8.0
# A server that asks for a longer wait is not waited for: the caller gets the error, which says how long.
LONGEST_WAIT_SECONDS = 60.0
# Answers after which the same request may succeed.
TRANSIENT = (429, 503, 504)
TRANSIENT_CODES = ("request_in_progress", "settings_changing")
# The stream has a line at least every 15 s.
STREAM_SILENCE_SECONDS = 40.0
SIGNATURE_SECONDS = 300

ABSENT = object()
"""For `expected`: the change is made whatever the attribute has. `None` expects that it is not set."""


class HeliographError(Exception):
    """A request that failed, also after further attempts.

    `status` is that of HTTP, and 0 when no gateway could be reached. `code` is the word for programs (Docs/api.md, "Errors"),
    `unreachable` for the status 0. `field`, `bound` and `retry_after` (seconds) are None where the answer has none; so is `request_id`, by
    which the cluster's logs have the request.
    """

    def __init__(
            self, status: int, code: str, detail: str, *, field: str | None = None, bound: str | None = None, retry_after: float | None = None,
            request_id: str | None = None):
        super().__init__(f"{status} {code}: {detail}" + ("" if request_id is None else f" (request {request_id})"))
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.bound = bound
        self.retry_after = retry_after
        self.request_id = request_id

    @property
    def is_transient(self) -> bool:
        """Whether the same request, with the same idempotency key, may succeed later."""
        return self.status in (0, *TRANSIENT) or self.code in TRANSIENT_CODES


@dataclass(frozen=True)
class Event:
    """What the stream of an app's events tells: `online`, `offline`, `join`, `leave`; `gap` when others may be missing before the next one."""

    id: str
    event: str
    data: dict


def is_genuine(header: str, body: bytes, secret: str, *, within: float = SIGNATURE_SECONDS) -> bool:
    """Whether a webhook or a question of a before-hook comes from Heliograph, and was signed within so many seconds.

    While a secret is being replaced, requests have a signature by each: one of them is enough.

    :param header: the value of `Heliograph-Signature`
    :param body: the body as it came
    """
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    signed_at, signatures = dict(parts).get("t", ""), [value for name, value in parts if name == "v1"]
    if not (signed_at.isascii() and signed_at.isdigit()):
        return False
    wanted = hmac.new(secret.encode(), signed_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(wanted.encode(), one.encode()) for one in signatures) and abs(time.time() - int(signed_at)) <= within


class HeliographServer:
    """The server API of a cluster, with one key. Threads may share it; each has a connection of its own.

    A request that was refused because of a rate, or failed for a while, is made again after the time that the answer names; a write
    then has the same idempotency key, so that it takes effect once. At last a HeliographError is raised.

    Names in methods are those of Docs/openapi.json: `sendMessage` is `send_message`, its member `from` is `from_`. Methods return the body of
    the answer.
    """

    def __init__(
            self, url: str | Iterable[str], key: str, *, timeout: float = REQUEST_SECONDS, attempts: int = ATTEMPTS,
            context: ssl.SSLContext | None = None):
        """
        :param url: where the API is, such as `http://gateway:8090`, or several gateways, of which the next is asked when one cannot be reached
        :param timeout: seconds to wait for a connection and for an answer, of each attempt
        :param context: how certificates are checked
        """
        self._places = [urlsplit(one.rstrip("/")) for one in ([url] if isinstance(url, str) else url)]
        if not self._places or any(place.scheme not in ("http", "https") or not place.hostname for place in self._places):
            raise ValueError("url must be http://HOST:PORT or https://HOST:PORT, or several of these")
        self._authorization = f"Bearer {key}"
        self._timeout = timeout
        self._attempts = attempts
        self._context = context
        self._kept = threading.local()
        self._turn = 0

    # About the API itself.

    def get_error(self, code: str) -> dict:
        return self._ask("GET", "errors", code)

    def get_key(self) -> dict:
        return self._ask("GET", "key")

    # Messages.

    def send_messages(self, app: str, *, items: list[dict], idempotency_key: str | None = None) -> dict:
        """Items have `user` or `channel`, `from`, `message`, to users also `ttl`. Items that failed are in `results`, not raised."""
        return self._write("POST", "apps", app, "messages", body={"items": items}, key=idempotency_key)

    def broadcast(self, app: str, *, users: list[str], from_: str, message: str, ttl: int | None = None, idempotency_key: str | None = None) -> dict:
        """Users to whom it could not be sent are in `results`, not raised."""
        body = {"users": users, "from": from_, "message": message} | _given(ttl=ttl)
        return self._write("POST", "apps", app, "broadcasts", body=body, key=idempotency_key)

    def send_message(
            self, app: str, account: str, *, from_: str, message: str, ttl: int | None = None, idempotency_key: str | None = None) -> dict:
        body = {"from": from_, "message": message} | _given(ttl=ttl)
        return self._write("POST", "apps", app, "users", account, "messages", body=body, key=idempotency_key)

    def send_channel_message(self, app: str, channel: str, *, from_: str, message: str, idempotency_key: str | None = None) -> dict:
        body = {"from": from_, "message": message}
        return self._write("POST", "apps", app, "channels", channel, "messages", body=body, key=idempotency_key)

    # Users.

    def get_user(self, app: str, account: str) -> dict:
        """Where a user is; with the scope `admin` also the `address` of the client."""
        return self._ask("GET", "apps", app, "users", account)

    def list_users(self, app: str, *, state: str | None = None, prefix: str | None = None, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "users", query=_given(state=state, prefix=prefix, limit=limit, after=after))

    def query_presence(self, app: str, *, users: list[str]) -> dict:
        """Where up to 1,000 users are."""
        return self._ask("POST", "apps", app, "presence", body={"users": users})

    def disconnect_user(self, app: str, account: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("POST", "apps", app, "users", account, "disconnect", key=idempotency_key)

    def mint_token(self, app: str, account: str, *, ttl: int | None = None) -> dict:
        return self._ask("POST", "apps", app, "users", account, "tokens", body=_given(ttl=ttl))

    def revoke_tokens(
            self, app: str, account: str, *, token: str | None = None, ttl: int | None = None, idempotency_key: str | None = None) -> dict:
        """Either `token` or `ttl`."""
        body = _given(token=token, ttl=ttl)
        return self._write("POST", "apps", app, "users", account, "tokens", "revoke", body=body, key=idempotency_key)

    def list_user_attributes(self, app: str, account: str) -> dict:
        return self._ask("GET", "apps", app, "users", account, "attributes")

    def get_user_attribute(self, app: str, account: str, name: str) -> dict:
        return self._ask("GET", "apps", app, "users", account, "attributes", name)

    def set_user_attribute(
            self, app: str, account: str, name: str, *, value: str, expected: object = ABSENT, idempotency_key: str | None = None) -> dict:
        body = {"value": value} | ({} if expected is ABSENT else {"expected": expected})
        return self._write("PUT", "apps", app, "users", account, "attributes", name, body=body, key=idempotency_key)

    def delete_user_attribute(
            self, app: str, account: str, name: str, *, expected: str | None = None, idempotency_key: str | None = None) -> dict:
        return self._write(
            "DELETE", "apps", app, "users", account, "attributes", name, query=_given(expected=expected), key=idempotency_key)

    def list_mailbox(self, app: str, account: str, *, limit: int | None = None, after: int | None = None) -> dict:
        return self._ask("GET", "apps", app, "users", account, "mailbox", query=_given(limit=limit, after=after))

    def empty_mailbox(self, app: str, account: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "apps", app, "users", account, "mailbox", key=idempotency_key)

    def recall_message(self, app: str, account: str, version: int | str, *, idempotency_key: str | None = None) -> dict:
        """Takes back a message that no session of the user was given."""
        return self._write("DELETE", "apps", app, "users", account, "mailbox", str(version), key=idempotency_key)

    # Bans.

    def list_bans(self, app: str, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "bans", query=_given(limit=limit, after=after))

    def get_ban(self, app: str, account: str) -> dict:
        return self._ask("GET", "apps", app, "users", account, "ban")

    def set_ban(
            self, app: str, account: str, *, seconds: int | None = None, until: int | None = None, reason: str | None = None,
            idempotency_key: str | None = None) -> dict:
        """Either `seconds` or `until` (Unix seconds)."""
        body = _given(seconds=seconds, until=until, reason=reason)
        return self._write("PUT", "apps", app, "users", account, "ban", body=body, key=idempotency_key)

    def delete_ban(self, app: str, account: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "apps", app, "users", account, "ban", key=idempotency_key)

    def list_address_bans(self, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "address-bans", query=_given(limit=limit, after=after))

    def set_address_ban(
            self, network: str, *, seconds: int | None = None, until: int | None = None, reason: str | None = None,
            idempotency_key: str | None = None) -> dict:
        """Either `seconds` or `until` (Unix seconds)."""
        body = _given(seconds=seconds, until=until, reason=reason)
        return self._write("PUT", "address-bans", network, body=body, key=idempotency_key)

    def delete_address_ban(self, network: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "address-bans", network, key=idempotency_key)

    # What is set up.

    def export_settings(self, *, app: str | None = None) -> dict:
        """What is set up, without secrets."""
        return self._ask("GET", "settings", query=_given(app=app))

    def apply_settings(
            self, *, version: int | None = None, apps: dict | None = None, dry_run: bool = False,
            idempotency_key: str | None = None) -> dict:
        """All of it, or nothing. Secrets are given in clear: `{"value": "..."}`."""
        query = {"dryRun": "true"} if dry_run else {}
        return self._write("POST", "settings", query=query, body=_given(version=version, apps=apps), key=idempotency_key)

    def remove_app(self, app: str, *, idempotency_key: str | None = None) -> dict:
        """With all that is its own."""
        return self._write("DELETE", "apps", app, key=idempotency_key)

    def drain_process(self, process: str, *, idempotency_key: str | None = None) -> dict:
        """Asks a process to end as at SIGTERM."""
        return self._write("POST", "processes", process, "drain", key=idempotency_key)

    # Keys of the server API.

    def list_keys(self, *, app: str | None = None, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "keys", query=_given(app=app, limit=limit, after=after))

    def create_key(
            self, *, app: str | None = None, cluster: bool | None = None, scopes: list[str] | None = None,
            requests_per_second: int | None = None, ttl: int | None = None, note: str | None = None) -> dict:
        """Either `app` or `cluster=True`. The answer's `key` is told this once."""
        return self._ask("POST", "keys", body=_given(
            app=app, cluster=cluster, scopes=scopes, requestsPerSecond=requests_per_second, ttl=ttl, note=note))

    def revoke_key(self, key: str, *, idempotency_key: str | None = None) -> dict:
        """Ends the key with this id."""
        return self._write("DELETE", "keys", key, key=idempotency_key)

    # Channels.

    def list_channels(self, app: str, *, prefix: str | None = None, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "channels", query=_given(prefix=prefix, limit=limit, after=after))

    def get_channel(self, app: str, channel: str) -> dict:
        return self._ask("GET", "apps", app, "channels", channel)

    def list_members(self, app: str, channel: str, *, limit: int | None = None, after: str | None = None) -> dict:
        """Without `after` the latest; with it, which is empty for the first page, all by account."""
        return self._ask("GET", "apps", app, "channels", channel, "members", query=_given(limit=limit, after=after))

    def get_member(self, app: str, channel: str, account: str) -> dict:
        return self._ask("GET", "apps", app, "channels", channel, "members", account)

    def list_channel_bans(self, app: str, channel: str, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "channels", channel, "bans", query=_given(limit=limit, after=after))

    def set_channel_ban(
            self, app: str, channel: str, account: str, *, seconds: int, reason: str | None = None, idempotency_key: str | None = None) -> dict:
        """For 0 seconds, the member is only removed."""
        body = {"seconds": seconds} | _given(reason=reason)
        return self._write("PUT", "apps", app, "channels", channel, "bans", account, body=body, key=idempotency_key)

    def delete_channel_ban(self, app: str, channel: str, account: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "apps", app, "channels", channel, "bans", account, key=idempotency_key)

    def list_channel_mutes(self, app: str, channel: str, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "channels", channel, "mutes", query=_given(limit=limit, after=after))

    def set_channel_mute(
            self, app: str, channel: str, account: str, *, seconds: int, reason: str | None = None, idempotency_key: str | None = None) -> dict:
        body = {"seconds": seconds} | _given(reason=reason)
        return self._write("PUT", "apps", app, "channels", channel, "mutes", account, body=body, key=idempotency_key)

    def delete_channel_mute(self, app: str, channel: str, account: str, *, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "apps", app, "channels", channel, "mutes", account, key=idempotency_key)

    def list_channel_messages(
            self, app: str, channel: str, *, limit: int | None = None, after: int | str | None = None, order: str | None = None,
            from_: int | None = None, until: int | None = None) -> dict:
        query = _given(limit=limit, after=after, order=order, until=until) | {"from": value for value in [from_] if value is not None}
        return self._ask("GET", "apps", app, "channels", channel, "messages", query=query)

    def list_channel_events(
            self, app: str, channel: str, *, limit: int | None = None, after: int | str | None = None, order: str | None = None,
            from_: int | None = None, until: int | None = None) -> dict:
        query = _given(limit=limit, after=after, order=order, until=until) | {"from": value for value in [from_] if value is not None}
        return self._ask("GET", "apps", app, "channels", channel, "events", query=query)

    def list_channel_attributes(self, app: str, channel: str) -> dict:
        return self._ask("GET", "apps", app, "channels", channel, "attributes")

    def get_channel_attribute(self, app: str, channel: str, name: str) -> dict:
        return self._ask("GET", "apps", app, "channels", channel, "attributes", name)

    def set_channel_attribute(
            self, app: str, channel: str, name: str, *, value: str, expected: object = ABSENT, idempotency_key: str | None = None) -> dict:
        body = {"value": value} | ({} if expected is ABSENT else {"expected": expected})
        return self._write("PUT", "apps", app, "channels", channel, "attributes", name, body=body, key=idempotency_key)

    def delete_channel_attribute(
            self, app: str, channel: str, name: str, *, expected: str | None = None, idempotency_key: str | None = None) -> dict:
        return self._write(
            "DELETE", "apps", app, "channels", channel, "attributes", name, query=_given(expected=expected), key=idempotency_key)

    # Calls.

    def list_calls(self, app: str, *, state: str | None = None, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", app, "calls", query=_given(state=state, limit=limit, after=after))

    def start_call(
            self, app: str, *, from_: str, to: str, channel: str, extra: str | None = None, idempotency_key: str | None = None) -> dict:
        body = {"from": from_, "to": to, "channel": channel} | _given(extra=extra)
        return self._write("POST", "apps", app, "calls", body=body, key=idempotency_key)

    def end_call(self, app: str, call: str, *, account: str, idempotency_key: str | None = None) -> dict:
        return self._write("DELETE", "apps", app, "calls", call, query={"account": account}, key=idempotency_key)

    def send_digits(self, app: str, call: str, *, from_: str, digits: str, idempotency_key: str | None = None) -> dict:
        return self._write("POST", "apps", app, "calls", call, "digits", body={"from": from_, "digits": digits}, key=idempotency_key)

    # Apps and the cluster.

    def list_apps(self, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "apps", query=_given(limit=limit, after=after))

    def get_usage(self, app: str, *, days: int | None = None) -> dict:
        return self._ask("GET", "apps", app, "usage", query=_given(days=days))

    def list_audit(self, *, app: str | None = None, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "audit", query=_given(app=app, limit=limit, after=after))

    def list_webhooks(self, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "webhooks", query=_given(limit=limit, after=after))

    def get_webhook(self, app: str) -> dict:
        return self._ask("GET", "apps", app, "webhook")

    def list_app_webhooks(self, app: str) -> dict:
        return self._ask("GET", "apps", app, "webhooks")

    def list_trunks(self, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "trunks", query=_given(limit=limit, after=after))

    def get_trunk(self, app: str) -> dict:
        return self._ask("GET", "apps", app, "trunk")

    def list_hooks(self, *, limit: int | None = None, after: str | None = None) -> dict:
        return self._ask("GET", "hooks", query=_given(limit=limit, after=after))

    def get_hook(self, app: str) -> dict:
        return self._ask("GET", "apps", app, "hook")

    def list_processes(self) -> dict:
        return self._ask("GET", "processes")

    def list_stores(self) -> dict:
        """How Redis and PostgreSQL are doing."""
        return self._ask("GET", "stores")

    def get_metrics(self) -> str:
        return self._ask("GET", "metrics")

    def follow_events(self, app: str, *, kinds: Iterable[str] | None = None, after: str | None = None) -> "EventStream":
        """The app's events, without end, from now on or after the one with the id `after`. A connection that breaks is made again."""
        path = self._path(("apps", app, "events"), _given(kinds=None if kinds is None else ",".join(kinds)))
        return EventStream(self, path, after)

    # Helpers.

    def each(self, page: Callable[..., dict], *arguments: str, **more: object) -> Iterator[dict]:
        """All records of a list, page by page: `for user in server.each(server.list_users, "demo", state="all")`."""
        if page == self.list_members:
            # Else the latest are listed, without pages.
            more.setdefault("after", "")
        while True:
            answer = page(*arguments, **more)
            yield from next(value for value in answer.values() if isinstance(value, list))
            if answer["next"] is None:
                return
            more["after"] = answer["next"]

    def _path(self, parts: Iterable[str], query: dict) -> str:
        path = "/v1/" + "/".join(quote(part, safe="") for part in parts)
        return f"{path}?{urlencode(query, quote_via=quote)}" if query else path

    def _write(self, method: str, *parts: str, key: str | None, query: dict | None = None, body: dict | None = None) -> dict:
        """A change, which takes effect once, however often it is sent."""
        return self._ask(method, *parts, query=query, body=body, headers={"Idempotency-Key": key or str(uuid.uuid4())})

    def _ask(self, method: str, *parts: str, query: dict | None = None, body: dict | None = None, headers: dict | None = None):
        path = self._path(parts, query or {})
        sent = {"Authorization": self._authorization, "Accept": "application/json"} | (headers or {})
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        for attempt in range(1, self._attempts + 1):
            try:
                return self._once(method, path, data, sent)
            except HeliographError as error:
                if attempt == self._attempts or not error.is_transient or (error.retry_after or 0) > LONGEST_WAIT_SECONDS:
                    raise
                time.sleep(_pause(attempt, error))
        raise ValueError("attempts must be 1 or more")

    def _once(self, method: str, path: str, data: bytes | None, headers: dict):
        """One attempt, over the thread's connection; over a new one, if the server has closed that meanwhile."""
        while True:
            kept = getattr(self._kept, "connection", None)
            # Taken out: what fails is not used again.
            self._kept.connection = None
            connection = kept or self._connect(self._timeout)
            try:
                connection[0].request(method, connection[1] + path, data, headers)
                answer = connection[0].getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as cause:
                connection[0].close()
                if kept and isinstance(cause, (ConnectionError, http.client.BadStatusLine)):
                    continue
                # Perhaps another gateway answers.
                self._turn += 1
                raise HeliographError(0, "unreachable", f"no answer: {type(cause).__name__}") from cause
            if answer.will_close:
                connection[0].close()
            else:
                self._kept.connection = connection
            if answer.status in (502, *TRANSIENT):
                self._turn += 1
            return _result(answer, content)

    def _connect(self, timeout: float) -> tuple[http.client.HTTPConnection, str]:
        """A connection to the gateway whose turn it is, and what its paths begin with."""
        place = self._places[self._turn % len(self._places)]
        if place.scheme == "https":
            return http.client.HTTPSConnection(place.hostname, place.port, timeout=timeout, context=self._context), place.path
        return http.client.HTTPConnection(place.hostname, place.port, timeout=timeout), place.path


class EventStream:
    """An app's events: iterate over it. `close`, from any thread, ends the iteration; `position` is where another stream may go on (`after`)."""

    def __init__(self, server: HeliographServer, path: str, after: str | None):
        self._server = server
        self._path = path
        self.position = after
        self._closed = threading.Event()
        self._socket = None

    def __iter__(self) -> Iterator[Event]:
        failures = 0
        while not self._closed.is_set():
            try:
                for event in self._read():
                    failures = 0
                    if event is not None:
                        yield event
                error = HeliographError(0, "unreachable", "the stream has ended")
            except HeliographError as refused:
                if not refused.is_transient:
                    raise
                error = refused
            except (OSError, http.client.HTTPException, ValueError) as cause:
                # Reading from a connection that `close` has shut down fails in any of these ways.
                error = HeliographError(0, "unreachable", f"the stream broke: {type(cause).__name__}")
            failures += 1
            self._server._turn += 1
            self._closed.wait(_pause(failures, error))

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed.set()
        if (open_socket := self._socket) is not None:
            try:
                # Wakes a thread that reads.
                open_socket.shutdown(2)
            except OSError:
                pass

    def _read(self) -> Iterator[Event | None]:
        """The events of one connection; None when there was a line that only shows that it lives."""
        connection, prefix = self._server._connect(STREAM_SILENCE_SECONDS)
        headers = {"Authorization": self._server._authorization, "Accept": "text/event-stream"}
        if self.position is not None:
            headers["Last-Event-ID"] = self.position
        try:
            connection.request("GET", prefix + self._path, headers=headers)
            # Kept, because the answer takes it over from the connection.
            self._socket = connection.sock
            answer = connection.getresponse()
            if answer.status != 200:
                _result(answer, answer.read())
                raise HeliographError(answer.status, "failed", "the answer is no stream")
            fields: dict[str, str] = {}
            while not self._closed.is_set() and (line := answer.readline()):
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif line.strip() == b"":
                    self.position = fields.get("id", self.position)
                    yield Event(self.position, fields["event"], json.loads(fields["data"])) if "data" in fields else None
                    fields = {}
        finally:
            self._socket = None
            connection.close()


def _given(**values: object) -> dict:
    """The values that are given."""
    return {name: value for name, value in values.items() if value is not None}


def _pause(attempt: int, error: HeliographError) -> float:
    """Seconds until the next attempt."""
    backoff = random.uniform(0, min(BACKOFF_CAP_SECONDS, BACKOFF_SECONDS * 2 ** min(attempt - 1, 16)))
    return backoff if error.retry_after is None else min(error.retry_after, LONGEST_WAIT_SECONDS) + backoff


def _result(answer: http.client.HTTPResponse, content: bytes):
    """The body of an answer; raises its problem."""
    is_json = answer.headers.get_content_type() in ("application/json", "application/problem+json")
    try:
        body = json.loads(content) if is_json else content.decode()
    except ValueError:
        body = None
    if 200 <= answer.status < 300 and body is not None:
        return body
    wait = answer.getheader("Retry-After", "")
    retry_after = float(wait) if wait.isascii() and wait.isdigit() else None
    # What stands before the gateways, such as a proxy, answers something else than problems.
    problem = body if isinstance(body, dict) and "code" in body else {"code": "failed", "detail": "the answer is none of the API's"}
    raise HeliographError(
        answer.status, problem["code"], problem.get("detail", ""), field=problem.get("field"), bound=problem.get("bound"),
        retry_after=retry_after, request_id=problem.get("requestId") or answer.getheader("X-Request-Id"))
