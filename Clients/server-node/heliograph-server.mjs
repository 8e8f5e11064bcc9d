// Heliograph's client for servers of apps: the server API, its stream of events, and the signatures of webhooks.
// One module for Node 18 and later, no dependencies. How to use it: Docs/clients.md. What the operations do: Docs/api.md.

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

const ATTEMPTS = 6;
const REQUEST_MS = 20_000;
/** Without a `Retry-After`, attempt n waits a random time up to BACKOFF_MS * 2^(n-1), at most BACKOFF_CAP_MS. */
const BACKOFF_MS = 250;
const BACKOFF_CAP_MS = 8_000;
/** A server that asks for a longer wait is not waited for: the caller gets the error, which says how long. */
const LONGEST_WAIT_MS = 60_000;
/** Answers after which the same request may succeed. */
const TRANSIENT = [429, 503, 504];
const TRANSIENT_CODES = ["request_in_progress", "settings_changing"];
/** The stream has a line at least every 15 s. */
const STREAM_SILENCE_MS = 40_000;
const SIGNATURE_SECONDS = 300;

/**
 * A request that failed, also after further attempts. `status` is that of HTTP, and 0 when no gateway could be reached. `code` is the
 * word for programs (Docs/api.md, "Errors"), `unreachable` for the status 0. `field`, `bound` and `retryAfter` (seconds) are undefined
 * where the answer has none; so is `requestId`, by which the cluster's logs have the request.
 */
export class HeliographError extends Error {
    constructor(status, code, detail, { field, bound, retryAfter, requestId, cause } = {}) {
        super(`${status} ${code}: ${detail}${requestId === undefined ? "" : ` (request ${requestId})`}`, { cause });
        this.name = "HeliographError";
        Object.assign(this, { status, code, detail, field, bound, retryAfter, requestId });
    }

    /** Whether the same request, with the same idempotency key, may succeed later. */
    get isTransient() {
        return this.status === 0 || TRANSIENT.includes(this.status) || TRANSIENT_CODES.includes(this.code);
    }
}

/**
 * Whether a webhook or a question of a before-hook comes from Heliograph, and was signed within so many seconds.
 * `header` is the value of `Heliograph-Signature`, `body` the body as it came: a Buffer, or a string. While a secret is being replaced,
 * requests have a signature by each: one of them is enough.
 */
export function isGenuine(header, body, secret, { within = SIGNATURE_SECONDS } = {}) {
    const parts = String(header).split(",").map((part) => {
        const [name, ...value] = part.trim().split("=");
        return [name, value.join("=")];
    });
    const { t = "" } = Object.fromEntries(parts);
    if (!/^[0-9]+$/.test(t) || Math.abs(Date.now() / 1000 - Number(t)) > within) return false;
    const wanted = createHmac("sha256", secret).update(`${t}.`).update(body).digest();
    return parts.some(([name, value]) =>
        name === "v1" && /^[0-9a-f]{64}$/.test(value) && timingSafeEqual(wanted, Buffer.from(value, "hex")));
}

/**
 * The server API of a cluster, with one key. A request that was refused because of a rate, or failed for a while, is made again after
 * the time that the answer names; a write then has the same idempotency key, so that it takes effect once. At last a HeliographError
 * is thrown.
 *
 * Methods are named as in Docs/openapi.json. They take the names of the path, then an object with the members of the body or the
 * parameters, and `idempotencyKey`. They return the body of the answer.
 */
export class HeliographServer {
    #urls;
    #key;
    #timeout;
    #attempts;
    #turn = 0;

    /** `url` is where the API is, or several gateways, of which the next is asked when one cannot be reached; `timeout` in ms is for each attempt. */
    constructor(url, key, { timeout = REQUEST_MS, attempts = ATTEMPTS } = {}) {
        this.#urls = [url].flat().map((one) => one.replace(/\/+$/, ""));
        if (!this.#urls.length || !this.#urls.every((one) => /^https?:$/.test(new URL(one).protocol))) {
            throw new TypeError("url must be http://HOST:PORT or https://HOST:PORT, or several of these");
        }
        if (!(attempts >= 1)) throw new RangeError("attempts must be 1 or more");
        this.#key = key;
        this.#timeout = timeout;
        this.#attempts = attempts;
    }

    // About the API itself.

    getError(code) { return this.#ask("GET", ["errors", code]); }
    getKey() { return this.#ask("GET", ["key"]); }

    // Messages. Items of a batch, or users of a broadcast, to whom nothing could be sent are in `results`, not thrown.

    sendMessages(app, { items, idempotencyKey }) { return this.#write("POST", ["apps", app, "messages"], idempotencyKey, { items }); }
    broadcast(app, { users, from, message, ttl, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "broadcasts"], idempotencyKey, { users, from, message, ttl });
    }
    sendMessage(app, account, { from, message, ttl, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "users", account, "messages"], idempotencyKey, { from, message, ttl });
    }
    sendChannelMessage(app, channel, { from, message, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "channels", channel, "messages"], idempotencyKey, { from, message });
    }

    // Users.

    /** Where a user is; with the scope `admin` also the `address` of the client. */
    getUser(app, account) { return this.#ask("GET", ["apps", app, "users", account]); }
    listUsers(app, { state, prefix, limit, after } = {}) { return this.#ask("GET", ["apps", app, "users"], { state, prefix, limit, after }); }
    /** Where up to 1,000 users are. */
    queryPresence(app, { users }) { return this.#ask("POST", ["apps", app, "presence"], {}, { users }); }
    disconnectUser(app, account, { idempotencyKey } = {}) {
        return this.#write("POST", ["apps", app, "users", account, "disconnect"], idempotencyKey);
    }
    mintToken(app, account, { ttl } = {}) { return this.#ask("POST", ["apps", app, "users", account, "tokens"], {}, { ttl }); }
    /** Either `token` or `ttl`. */
    revokeTokens(app, account, { token, ttl, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "users", account, "tokens", "revoke"], idempotencyKey, { token, ttl });
    }
    listUserAttributes(app, account) { return this.#ask("GET", ["apps", app, "users", account, "attributes"]); }
    getUserAttribute(app, account, name) { return this.#ask("GET", ["apps", app, "users", account, "attributes", name]); }
    /** The value that is `expected` may be null: then the attribute must not be set. */
    setUserAttribute(app, account, name, { value, expected, idempotencyKey }) {
        return this.#write("PUT", ["apps", app, "users", account, "attributes", name], idempotencyKey, { value, expected });
    }
    deleteUserAttribute(app, account, name, { expected, idempotencyKey } = {}) {
        return this.#write("DELETE", ["apps", app, "users", account, "attributes", name], idempotencyKey, undefined, { expected });
    }

    listMailbox(app, account, { limit, after } = {}) { return this.#ask("GET", ["apps", app, "users", account, "mailbox"], { limit, after }); }
    emptyMailbox(app, account, { idempotencyKey } = {}) { return this.#write("DELETE", ["apps", app, "users", account, "mailbox"], idempotencyKey); }
    /** Takes back a message that no session of the user was given. */
    recallMessage(app, account, version, { idempotencyKey } = {}) {
        return this.#write("DELETE", ["apps", app, "users", account, "mailbox", String(version)], idempotencyKey);
    }

    // Bans.

    listBans(app, { limit, after } = {}) { return this.#ask("GET", ["apps", app, "bans"], { limit, after }); }
    getBan(app, account) { return this.#ask("GET", ["apps", app, "users", account, "ban"]); }
    /** Either `seconds` or `until` (Unix seconds). */
    setBan(app, account, { seconds, until, reason, idempotencyKey }) {
        return this.#write("PUT", ["apps", app, "users", account, "ban"], idempotencyKey, { seconds, until, reason });
    }
    deleteBan(app, account, { idempotencyKey } = {}) { return this.#write("DELETE", ["apps", app, "users", account, "ban"], idempotencyKey); }

    listAddressBans({ limit, after } = {}) { return this.#ask("GET", ["address-bans"], { limit, after }); }
    /** Either `seconds` or `until` (Unix seconds). */
    setAddressBan(network, { seconds, until, reason, idempotencyKey }) {
        return this.#write("PUT", ["address-bans", network], idempotencyKey, { seconds, until, reason });
    }
    deleteAddressBan(network, { idempotencyKey } = {}) { return this.#write("DELETE", ["address-bans", network], idempotencyKey); }

    // What is set up.

    exportSettings({ app } = {}) { return this.#ask("GET", ["settings"], { app }); }
    /** All of it, or nothing. Secrets are given in clear: `{ value: "..." }`. */
    applySettings({ version, apps, dryRun, idempotencyKey } = {}) {
        return this.#write("POST", ["settings"], idempotencyKey, { version, apps }, dryRun ? { dryRun: "true" } : {});
    }

    /** With all that is its own. */
    removeApp(app, { idempotencyKey } = {}) { return this.#write("DELETE", ["apps", app], idempotencyKey); }
    /** Asks a process to end as at SIGTERM. */
    drainProcess(process, { idempotencyKey } = {}) { return this.#write("POST", ["processes", process, "drain"], idempotencyKey); }

    // Keys of the server API.

    listKeys({ app, limit, after } = {}) { return this.#ask("GET", ["keys"], { app, limit, after }); }
    /** Either `app` or `cluster: true`. The answer's `key` is told this once. */
    createKey({ app, cluster, scopes, requestsPerSecond, ttl, note } = {}) {
        return this.#ask("POST", ["keys"], {}, { app, cluster, scopes, requestsPerSecond, ttl, note });
    }
    /** Ends the key with this id. */
    revokeKey(key, { idempotencyKey } = {}) { return this.#write("DELETE", ["keys", key], idempotencyKey); }

    // Channels.

    listChannels(app, { prefix, limit, after } = {}) { return this.#ask("GET", ["apps", app, "channels"], { prefix, limit, after }); }
    getChannel(app, channel) { return this.#ask("GET", ["apps", app, "channels", channel]); }
    /** Without `after` the latest; with it, which is empty for the first page, all by account. */
    listMembers(app, channel, { limit, after } = {}) { return this.#ask("GET", ["apps", app, "channels", channel, "members"], { limit, after }); }
    getMember(app, channel, account) { return this.#ask("GET", ["apps", app, "channels", channel, "members", account]); }
    listChannelBans(app, channel, { limit, after } = {}) { return this.#ask("GET", ["apps", app, "channels", channel, "bans"], { limit, after }); }
    /** For 0 seconds, the member is only removed. */
    setChannelBan(app, channel, account, { seconds, reason, idempotencyKey }) {
        return this.#write("PUT", ["apps", app, "channels", channel, "bans", account], idempotencyKey, { seconds, reason });
    }
    deleteChannelBan(app, channel, account, { idempotencyKey } = {}) {
        return this.#write("DELETE", ["apps", app, "channels", channel, "bans", account], idempotencyKey);
    }
    listChannelMutes(app, channel, { limit, after } = {}) { return this.#ask("GET", ["apps", app, "channels", channel, "mutes"], { limit, after }); }
    setChannelMute(app, channel, account, { seconds, reason, idempotencyKey }) {
        return this.#write("PUT", ["apps", app, "channels", channel, "mutes", account], idempotencyKey, { seconds, reason });
    }
    deleteChannelMute(app, channel, account, { idempotencyKey } = {}) {
        return this.#write("DELETE", ["apps", app, "channels", channel, "mutes", account], idempotencyKey);
    }
    listChannelMessages(app, channel, { limit, after, order, from, until } = {}) {
        return this.#ask("GET", ["apps", app, "channels", channel, "messages"], { limit, after, order, from, until });
    }
    listChannelEvents(app, channel, { limit, after, order, from, until } = {}) {
        return this.#ask("GET", ["apps", app, "channels", channel, "events"], { limit, after, order, from, until });
    }
    listChannelAttributes(app, channel) { return this.#ask("GET", ["apps", app, "channels", channel, "attributes"]); }
    getChannelAttribute(app, channel, name) { return this.#ask("GET", ["apps", app, "channels", channel, "attributes", name]); }
    setChannelAttribute(app, channel, name, { value, expected, idempotencyKey }) {
        return this.#write("PUT", ["apps", app, "channels", channel, "attributes", name], idempotencyKey, { value, expected });
    }
    deleteChannelAttribute(app, channel, name, { expected, idempotencyKey } = {}) {
        return this.#write("DELETE", ["apps", app, "channels", channel, "attributes", name], idempotencyKey, undefined, { expected });
    }

    // Calls.

    listCalls(app, { state, limit, after } = {}) { return this.#ask("GET", ["apps", app, "calls"], { state, limit, after }); }
    startCall(app, { from, to, channel, extra, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "calls"], idempotencyKey, { from, to, channel, extra });
    }
    endCall(app, call, { account, idempotencyKey }) {
        return this.#write("DELETE", ["apps", app, "calls", call], idempotencyKey, undefined, { account });
    }
    sendDigits(app, call, { from, digits, idempotencyKey }) {
        return this.#write("POST", ["apps", app, "calls", call, "digits"], idempotencyKey, { from, digits });
    }

    // Apps and the cluster.

    listApps({ limit, after } = {}) { return this.#ask("GET", ["apps"], { limit, after }); }
    getUsage(app, { days } = {}) { return this.#ask("GET", ["apps", app, "usage"], { days }); }
    listAudit({ app, limit, after } = {}) { return this.#ask("GET", ["audit"], { app, limit, after }); }
    listWebhooks({ limit, after } = {}) { return this.#ask("GET", ["webhooks"], { limit, after }); }
    getWebhook(app) { return this.#ask("GET", ["apps", app, "webhook"]); }
    listAppWebhooks(app) { return this.#ask("GET", ["apps", app, "webhooks"]); }
    listTrunks({ limit, after } = {}) { return this.#ask("GET", ["trunks"], { limit, after }); }
    getTrunk(app) { return this.#ask("GET", ["apps", app, "trunk"]); }
    listHooks({ limit, after } = {}) { return this.#ask("GET", ["hooks"], { limit, after }); }
    getHook(app) { return this.#ask("GET", ["apps", app, "hook"]); }
    listProcesses() { return this.#ask("GET", ["processes"]); }
    /** How Redis and PostgreSQL are doing. */
    listStores() { return this.#ask("GET", ["stores"]); }
    getMetrics() { return this.#ask("GET", ["metrics"]); }

    /**
     * The app's events `{ id, event, data }`, without end, from now on or after the one with the id `after`. A connection that breaks is
     * made again. The loop ends with a `break`, or when `signal` (of an AbortController) is aborted.
     */
    async *followEvents(app, { kinds, after, signal } = {}) {
        let position = after;
        let failures = 0;
        while (!signal?.aborted) {
            let error;
            try {
                for await (const event of this.#stream(app, kinds, position, signal)) {
                    failures = 0;
                    position = event.id ?? position;
                    if (event.data !== undefined) yield event;
                    if (signal?.aborted) return;
                }
                error = new HeliographError(0, "unreachable", "the stream has ended");
            } catch (caught) {
                if (signal?.aborted) return;
                if (!(caught instanceof HeliographError) || !caught.isTransient) throw caught;
                error = caught;
            }
            failures += 1;
            this.#turn += 1;
            await wait(pause(failures, error), undefined, { signal }).catch(() => {});
        }
    }

    // Helpers.

    /** All records of a list, page by page: `for await (const user of server.each("listUsers", "demo", { state: "all" }))`. */
    async *each(operation, ...names) {
        const more = typeof names.at(-1) === "object" ? { ...names.pop() } : {};
        // Else the latest are listed, without pages.
        if (operation === "listMembers") more.after ??= "";
        do {
            const answer = await this[operation](...names, more);
            yield* Object.values(answer).find(Array.isArray);
            more.after = answer.next;
        } while (more.after !== null);
    }

    /** The lines of one connection to the stream of events. */
    async *#stream(app, kinds, position, signal) {
        const stop = new AbortController();
        const onAbort = () => stop.abort();
        signal?.addEventListener("abort", onAbort);
        let silence = setTimeout(onAbort, STREAM_SILENCE_MS);
        try {
            const headers = { Authorization: `Bearer ${this.#key}`, Accept: "text/event-stream" };
            if (position !== undefined) headers["Last-Event-ID"] = position;
            const target = this.#target(["apps", app, "events"], { kinds: kinds && [...kinds].join(",") });
            const answer = await fetch(target, { headers, signal: stop.signal, redirect: "manual" });
            if (answer.status !== 200) await result(answer);
            const decoder = new TextDecoder();
            const reader = answer.body.getReader();
            let text = "";
            for (;;) {
                const { done, value: bytes } = await nextBytes(reader, stop.signal);
                if (done) return;
                clearTimeout(silence);
                silence = setTimeout(onAbort, STREAM_SILENCE_MS);
                const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
                text = blocks.pop();
                for (const block of blocks) yield eventOf(block);
            }
        } catch (cause) {
            if (cause instanceof HeliographError) throw cause;
            throw new HeliographError(0, "unreachable", "the stream broke", { cause });
        } finally {
            clearTimeout(silence);
            signal?.removeEventListener("abort", onAbort);
            stop.abort();
        }
    }

    #target(parts, query) {
        const given = Object.entries(query).filter(([, value]) => value !== undefined);
        const path = parts.map(encodeURIComponent).join("/");
        const text = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
        return `${this.#urls[this.#turn % this.#urls.length]}/v1/${path}${text && `?${text}`}`;
    }

    /** A change, which takes effect once, however often it is sent. */
    #write(method, parts, key = randomUUID(), body = undefined, query = {}) {
        return this.#ask(method, parts, query, body, { "Idempotency-Key": key });
    }

    async #ask(method, parts, query = {}, body = undefined, headers = {}) {
        for (let attempt = 1; ; attempt += 1) {
            try {
                return await this.#once(method, this.#target(parts, query), body, headers);
            } catch (error) {
                if (!(error instanceof HeliographError)) throw error;
                if (error.status === 502 || error.isTransient) this.#turn += 1;
                const isTooLong = (error.retryAfter ?? 0) * 1_000 > LONGEST_WAIT_MS;
                if (attempt >= this.#attempts || !error.isTransient || isTooLong) throw error;
                await wait(pause(attempt, error));
            }
        }
    }

    async #once(method, target, body, headers) {
        const sent = { Authorization: `Bearer ${this.#key}`, Accept: "application/json", ...headers };
        if (body !== undefined) sent["Content-Type"] = "application/json";
        let answer;
        try {
            answer = await fetch(target, {
                method, headers: sent, body: body && JSON.stringify(body), redirect: "manual", signal: AbortSignal.timeout(this.#timeout),
            });
            return await result(answer);
        } catch (cause) {
            if (cause instanceof HeliographError) throw cause;
            throw new HeliographError(0, "unreachable", `no answer: ${cause.name}`, { cause });
        }
    }
}

/** What a block of the stream says; without `data` it only shows that the stream lives, and has the id to resume at. */
function eventOf(block) {
    const event = {};
    for (const line of block.split("\n")) {
        const [name, ...value] = line.split(":");
        if (name) event[name] = value.join(":").replace(/^ /, "");
    }
    return event.data === undefined ? event : { ...event, data: JSON.parse(event.data) };
}

/** The time until the next attempt. */
function pause(attempt, error) {
    const backoff = Math.random() * Math.min(BACKOFF_CAP_MS, BACKOFF_MS * 2 ** Math.min(attempt - 1, 16));
    return Math.min((error.retryAfter ?? 0) * 1_000, LONGEST_WAIT_MS) + backoff;
}

/**
 * What a body has next. Node's `fetch` may leave a read without an outcome when its signal is aborted just as the body ends, so this ends
 * it by itself.
 */
function nextBytes(reader, signal) {
    return new Promise((resolve, reject) => {
        const onAbort = () => reject(signal.reason);
        if (signal.aborted) return onAbort();
        signal.addEventListener("abort", onAbort);
        reader.read().then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
}

/** The body of an answer; throws its problem. */
async function result(answer) {
    const text = await answer.text();
    const type = (answer.headers.get("Content-Type") ?? "").split(";")[0];
    let body = text;
    if (type === "application/json" || type === "application/problem+json") {
        try {
            body = JSON.parse(text);
        } catch {
            body = undefined;
        }
    }
    if (answer.ok && body !== undefined) return body;
    const seconds = answer.headers.get("Retry-After") ?? "";
    // What stands before the gateways, such as a proxy, answers something else than problems.
    const problem = body?.code ? body : { code: "failed", detail: "the answer is none of the API's" };
    throw new HeliographError(answer.status, problem.code, problem.detail, {
        field: problem.field, bound: problem.bound, retryAfter: /^[0-9]+$/.test(seconds) ? Number(seconds) : undefined,
        requestId: problem.requestId ?? answer.headers.get("X-Request-Id") ?? undefined,
    });
}
