// Made from heliograph.js by build.py: change that one.
(function () {
"use strict";

// Heliograph's client for browsers: one module, no dependencies.
// The protocol: Docs/protocol.md. How to use it: Docs/clients.md. Types: heliograph.d.ts.

/** The version of the API that this client implements, 1.1.4.0, in the ten-digit form of the native clients. */
const SDK_VERSION = 1010104000;

const DISCOVERY_MS = 5_000;
/** Time limit for opening a socket and getting the first answer on it; the gateway waits up to 8 s for its services. */
const ATTEMPT_MS = 15_000;
/** A login fails after this time or this many attempts. */
const LOGIN_MS = 30_000;
const LOGIN_ATTEMPTS = 15;
/** After this time without a connection the session has ended for certain: `_conn_timeout` is at most 120 s. */
const RECONNECT_MS = 150_000;
/** Attempt n waits a random time up to BACKOFF_MS * 2^(n-1), at most BACKOFF_CAP_MS. */
const BACKOFF_MS = 1_000;
const BACKOFF_CAP_MS = 15_000;
/** The shortest time for which a session outlives a lost connection. */
const SHORTEST_TIMEOUT_MS = 20_000;
const PING_MS = 10_000;
/** The number of pings without any frame in return after which the connection counts as dead. */
const SILENT_PINGS = 2;
/** A message that the cluster could not store is sent again after a random pause of at most this. */
const REPEAT_MS = 1_000;
/** How long calls wait for their answers, reconnects included: half the time for which the cluster recognises a messageID. */
const CALL_MS = 30_000;
/** The largest number of unanswered calls; at 1,024 the gateway closes the connection. */
const CALL_BOUND = 1_000;
/** Calls that waited for a connection are sent in bursts of this size; the next burst starts a second after an answer to this one. */
const BURST = 60;
const BURST_MS = 1_000;
/** Mailbox entries are acknowledged after this number of entries, or after this time. */
const ACK_ENTRIES = 30;
const ACK_MS = 1_000;

const OFFLINE = 0, LOGGING_IN = 1, LOGGED_IN = 2, RECONNECTING = 3;

/** The public codes that this client itself reports. Source: Signaling API, "Error codes". */
const Code = {
    logoutOther: 100, logoutUser: 101, logoutNetwork: 102, logoutKicked: 103, logoutTokenExpired: 105,
    alreadyLoggedOut: 108, loginOther: 200, loginNetwork: 201, loginCancelled: 203, loginKicked: 207, joinOther: 300,
    messageOther: 400, messageTimeout: 401, countTimeout: 501, leaveKicked: 601, leaveByUser: 602, leaveLogout: 603,
    leaveDisconnected: 604, reinvite: 701, inviteNetwork: 702, failed: 1001, unknown: 1002, notLoggedIn: 1003,
};

/** The code of a call without an answer, by function; Code.failed for functions that are not listed. */
const TIMEOUT_CODES = {
    user_sendmsg: Code.messageTimeout, channel_sendmsg: Code.messageTimeout, channel_join: Code.joinOther,
    channel_query_num: Code.countTimeout, voip_invite: Code.inviteNetwork,
};

/** The codes for the reasons in a `close` frame. */
const CLOSE_CODES = { kick: Code.logoutKicked, token_expired: Code.logoutTokenExpired, bad_line: Code.logoutNetwork };

/** Reasons that mean "try again": the gateway cannot reach a service at the moment. */
const TRANSIENT = ["timeout", "unavailable"];

const MESSAGES = ["user_sendmsg", "channel_sendmsg"];
/** Functions that are not repeated after a lost connection, because that would be harmful or useless. */
const NEVER_REPEATED = ["user_getmsg", "user_logout", "voip_invite_msg"];

const CALL_EVENTS = {
    voip_invite_ack: "onInviteReceivedByPeer", voip_invite_accept: "onInviteAcceptedByPeer",
    voip_invite_refuse: "onInviteRefusedByPeer", voip_invite_failed: "onInviteFailed",
    voip_invite_bye: "onInviteEndByPeer", voip_invite_msg: "onInviteMsg",
};
const CALL_ENDS = ["voip_invite_refuse", "voip_invite_failed", "voip_invite_bye"];

const sleep = (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds));

/** Calls the application's handler; an exception in it is rethrown later, outside of this client. */
function fire(target, name, ...values) {
    try {
        if (typeof target[name] === "function") target[name](...values);
    } catch (error) {
        console.error(error);
    }
}

/** Adapts an application's callback `(failed, ecode)`; without one, failures go to `onError`. */
const told = (callback) => callback && ((error, result) => callback(error !== "", result.code ?? 0));

const failure = (reason, code) => [reason, { result: "failed", reason, code, data: { result: reason } }];

/** Finds gateways by discovery. */
class Finder {
    #bases;
    #query;
    /** Whether discovery names gateways in the order in which they are to be tried. */
    #isOrdered;
    #isSecure;
    /** @type {string[]} */
    #known = [];
    /** When a connection to an address was last lost. @type {Map<string, number>} */
    #failures = new Map();

    constructor(appid, discovery, channel) {
        const page = /^https?:/.test(globalThis.location?.origin ?? "") ? location.origin : undefined;
        const bases = [discovery ?? page].flat().filter(Boolean);
        if (bases.length === 0) throw new TypeError("not on a web page: the option discovery is needed");
        this.#bases = bases.map((base) => String(base).replace(/\/+$/, ""));
        this.#isOrdered = channel !== undefined;
        this.#query = `/getaddr?vid=${encodeURIComponent(appid)}`;
        if (this.#isOrdered) this.#query += `&channel=${encodeURIComponent(channel)}`;
        this.#isSecure = (page ?? this.#bases[0]).startsWith("https:");
    }

    /** The gateway to try next, preferably one whose connection was not lost recently; undefined when none is known. */
    async next() {
        for (const base of shuffled(this.#bases)) {
            try {
                const answer = await fetch(base + this.#query, { signal: AbortSignal.timeout(DISCOVERY_MS) });
                const { web } = await answer.json();
                if (web.length > 0) {
                    this.#known = [...new Set(web.map(([host, port]) => this.#address(host, port)))];
                    break;
                }
            } catch {
                // Another base may answer; if none does, the gateways found before are used.
            }
        }
        const lostAt = (address) => this.#failures.get(address) ?? 0;
        const order = this.#isOrdered ? [...this.#known] : shuffled(this.#known);
        return order.sort((a, b) => lostAt(a) - lostAt(b))[0];
    }

    lost(address) {
        this.#failures.set(address, Date.now());
        for (const old of this.#failures.keys()) if (!this.#known.includes(old)) this.#failures.delete(old);
    }

    #address(host, port) {
        return this.#isSecure ? `wss://${host}:${port + 1}/` : `ws://${host}:${port}/`;
    }
}

function shuffled(list) {
    return list.map((value) => [Math.random(), value]).sort(([a], [b]) => a - b).map(([, value]) => value);
}

/** A user who is logged in or logging in. */
class Session {
    onLoginSuccess = null;
    onLoginFailed = null;
    onLogout = null;
    onError = null;
    onReconnecting = null;
    onReconnected = null;
    onMessageInstantReceive = null;
    onInviteReceived = null;

    uid = 0;

    #appid;
    #token;
    #finder;
    #status = LOGGING_IN;
    #line = "";
    #isLoggingOut = false;

    /** @type {WebSocket | null} */
    #socket = null;
    /** Treats the current connection as broken. */
    #lose = () => {};
    /** Resolves the promise of #connect: whether the session is established on the socket. */
    #settle = () => {};
    #pinger;
    #pings = 0;
    #silentPings = 0;

    /** The unanswered calls, in the order in which they were made. */
    #calls = new Map();
    #unsent = [];
    #lastCall = 0;
    #messagePrefix = Math.random().toString(36).slice(2, 10);
    /** The number of messages that may still be sent in this burst. */
    #budget = Infinity;
    #nextBurst;
    /** The timer until messages that were not stored are sent again. Nothing is sent before it fires, to keep the order. */
    #repeating;
    /** When the connection of a working session was last lost. */
    #lostAt = 0;

    /** The highest mailbox version that was received. */
    #version = 0;
    #unacknowledged = 0;
    #ackTimer;

    /** @type {Channel | null} */
    #channel = null;
    /** The number of unanswered joins and leaves. */
    #moves = 0;
    /** The id of the last channel event that was received. */
    #lastEvent = 0;
    /** The id of the last event of the current channel; undefined before the first. A resume requests the events after it. */
    #after;

    /** @type {Map<string, Call>} */
    #invites = new Map();

    constructor(appid, account, token, finder) {
        this.account = account;
        this.#appid = appid;
        this.#token = token;
        this.#finder = finder;
        this.#connect();
    }

    getStatus() {
        return this.#status;
    }

    getSDKVersion() {
        return SDK_VERSION;
    }

    logout() {
        const end = (callback, code) => queueMicrotask(() => this.#end(callback, code));
        switch (this.#status) {
        case OFFLINE:
            return queueMicrotask(() => fire(this, "onLogout", Code.alreadyLoggedOut));
        case LOGGING_IN:
            return end("onLoginFailed", Code.loginCancelled);
        case RECONNECTING:
            return end("onLogout", Code.logoutUser);
        }
        if (this.#isLoggingOut) return;
        this.#acknowledge();
        this.#call("user_logout", {}, () => this.#end("onLogout", Code.logoutUser));
        this.#isLoggingOut = true;
    }

    messageInstantSend(account, msg, callback) {
        this.#call("user_sendmsg", { peer: account, flag: "v1:E:3600", t: "instant", content: msg }, told(callback));
    }

    queryUserStatus(account, callback) {
        this.#call("user_query_user_status", { account }, callback);
    }

    invoke(func, args, callback) {
        const name = /^io\.agora\.signal\.(\w+)$/.exec(func)?.[1];
        if (name) return this.#call(name, { ...args }, callback);
        queueMicrotask(() => callback?.(...failure("unknown_function", Code.unknown)));
    }

    channelJoin(name) {
        const channel = new Channel(
            name, (...call) => this.#call(...call), (callback) => this.#channelLeave(channel, callback));
        this.#moves++;
        this.#call("channel_join", { name }, (error, result) => {
            this.#moves--;
            if (error) {
                channel.state = "failed";
                return fire(channel, "onChannelJoinFailed", result.code);
            }
            // A user is in one channel at a time: the server has ended the membership of the old one.
            if (this.#channel) this.#channel.state = "leaved";
            this.#channel = channel;
            this.#after = result.id;
            channel.state = "joined";
            fire(channel, "onChannelJoined");
            fire(channel, "onChannelUserList", result.list);
            for (const [attribute, value] of Object.entries(result.attrs)) {
                fire(channel, "onChannelAttrUpdated", attribute, value, "update");
            }
        });
        return channel;
    }

    channelInviteUser(channelID, peer) {
        return this.channelInviteUser2(channelID, peer, "");
    }

    channelInviteUser2(channelID, peer, extra = "") {
        const call = this.#makeCall(channelID, peer, extra);
        call.act("voip_invite", extra, (error, result, isRepeated) => {
            // The first invitation had reached the cluster; only its answer was lost.
            if (!error || (isRepeated && result.code === Code.reinvite)) return;
            this.#forget(call);
            fire(call, "onInviteFailed", error, result.code);
        });
        return call;
    }

    // Connection

    /** Connects, with repeated attempts until the session has a connection or has ended. */
    async #connect() {
        const isLogin = this.#status === LOGGING_IN;
        const startedAt = Date.now();
        for (let attempt = 1; this.#status !== OFFLINE; attempt++) {
            if (!isLogin) fire(this, "onReconnecting", attempt);
            if (!isLogin || attempt > 1) {
                await sleep(Math.random() * Math.min(BACKOFF_CAP_MS, BACKOFF_MS * 2 ** (attempt - 1)));
            }
            const address = this.#status === OFFLINE ? undefined : await this.#finder.next();
            if (this.#status === OFFLINE || (address && await this.#open(address).catch(() => false))) return;
            const passed = Date.now() - startedAt;
            if (isLogin && (passed > LOGIN_MS || attempt >= LOGIN_ATTEMPTS)) {
                this.#end("onLoginFailed", Code.loginNetwork);
            } else if (passed > RECONNECT_MS) {
                this.#end("onLogout", Code.logoutNetwork);
            }
        }
    }

    /** Makes one attempt to connect; resolves to true when no further one is needed. */
    #open(address) {
        return new Promise((settle) => {
            const socket = new WebSocket(address);
            const timer = setTimeout(() => this.#lose(), ATTEMPT_MS);
            this.#socket = socket;
            this.#settle = (isDone) => {
                clearTimeout(timer);
                settle(isDone);
            };
            this.#lose = () => {
                if (this.#socket !== socket) return;
                this.#close();
                this.#finder.lost(address);
                if (this.#status !== LOGGED_IN) return this.#settle(false);
                if (this.#isLoggingOut) return this.#end("onLogout", Code.logoutUser);
                this.#status = RECONNECTING;
                this.#lostAt = Date.now();
                this.#connect();
            };
            socket.onopen = () => this.#introduce();
            socket.onclose = () => this.#lose();
            socket.onmessage = ({ data }) => {
                this.#silentPings = 0;
                this.#received(JSON.parse(data));
            };
        });
    }

    #introduce() {
        if (this.#line) return this.#send("line_login", { line: this.#line, after: this.#after });
        this.#send("login", {
            vid: this.#appid, account: this.account, uid: 0, token: this.#token, device: "heliograph-web", ip: "",
            push: 1,
        });
    }

    /** Abandons the socket without waiting for its close event, which can take long on a dead network. */
    #close() {
        const socket = this.#socket;
        this.#socket = null;
        clearInterval(this.#pinger);
        clearTimeout(this.#nextBurst);
        clearTimeout(this.#repeating);
        this.#repeating = undefined;
        clearTimeout(this.#ackTimer);
        this.#ackTimer = undefined;
        if (!socket) return;
        socket.onopen = socket.onclose = socket.onmessage = null;
        socket.close();
    }

    #send(name, argument) {
        this.#socket.send(JSON.stringify([name, argument]));
    }

    #ping() {
        if (this.#silentPings >= SILENT_PINGS) return this.#lose();
        this.#silentPings++;
        this.#send("ping", ++this.#pings);
    }

    #received([name, argument]) {
        switch (name) {
        case "login_ret":
        case "line_login_ret":
            return this.#introduced(...argument);
        case "call2-ret":
            return this.#returned(...argument);
        case "close":
            return this.#dismissed(argument);
        case "notify":
            if (argument[0] === "recvmsg") this.#mailArrived(...JSON.parse(argument[1]));
            if (argument[0] === "channel2") this.#channelEvent(argument[2], argument[3]);
        }
    }

    #introduced(error, json) {
        const result = JSON.parse(json);
        if (error || result.result !== "ok") {
            if (TRANSIENT.includes(result.reason)) return this.#lose();
            // The refused login was to replace a lost session.
            if (this.#status === RECONNECTING) return this.#end("onLogout", Code.logoutNetwork);
            const isLoginCode = result.code >= Code.loginOther && result.code < Code.joinOther;
            return this.#end("onLoginFailed", isLoginCode ? result.code : Code.loginOther);
        }
        const isLogin = this.#status === LOGGING_IN;
        this.#line = result.line;
        this.uid = result.uid;
        this.#status = LOGGED_IN;
        this.#silentPings = 0;
        this.#pinger = setInterval(() => this.#ping(), PING_MS);
        this.#settle(true);
        if (isLogin) return fire(this, "onLoginSuccess", this.uid);
        fire(this, "onReconnected");
        this.#resumeChannel(result);
        this.#resumeCalls();
    }

    /**
     * Logs in again, because the cluster has lost the session. The new session is in no channel. Unanswered calls of the old
     * session fail, because repeating them could make them take effect twice.
     */
    #logInAgain() {
        this.#line = undefined;
        for (const call of [...this.#calls.values()].filter((call) => call.sent > 0)) {
            this.#finish(call, ...failure("connection_lost", Code.failed));
        }
        this.#lose();
    }

    /** Handles a `close` frame: the session has ended, or cannot be resumed at the moment. */
    #dismissed(reason) {
        if (this.#status === LOGGING_IN) return this.#end("onLoginFailed", Code.loginKicked);
        // So soon after a lost connection, only a session that the cluster has lost cannot be resumed.
        const isForgotten = reason === "bad_line" && Date.now() - this.#lostAt < SHORTEST_TIMEOUT_MS;
        if (!this.#isLoggingOut && (reason === String(Code.logoutNetwork) || isForgotten)) return this.#logInAgain();
        if (this.#status === RECONNECTING && !(reason in CLOSE_CODES)) return this.#lose();
        this.#end("onLogout", CLOSE_CODES[reason] ?? Code.logoutOther);
    }

    /** Ends the session and calls this callback of the application. */
    #end(callback, code) {
        if (this.#status === OFFLINE) return;
        this.#status = OFFLINE;
        this.#close();
        this.#settle(true);
        for (const call of [...this.#calls.values()]) this.#finish(call, ...failure("not_logged_in", Code.notLoggedIn));
        const leave = { [Code.logoutKicked]: Code.leaveKicked, [Code.logoutUser]: Code.leaveLogout };
        this.#leaveChannel(leave[code] ?? Code.leaveDisconnected);
        fire(this, callback, code);
    }

    // Calls of functions

    /**
     * Calls a function of the server, now or once there is a connection again.
     * @param {(error: string, result: object, isRepeated: boolean) => void} [done] without it, failures go to `onError`
     */
    #call(func, args, done) {
        const call = { id: ++this.#lastCall, func, args, done, sent: 0 };
        call.isMessage = MESSAGES.includes(func);
        // By its id the cluster recognises a message that is repeated after a reconnect, so that it takes effect once.
        if (call.isMessage) args.messageID = `${this.#messagePrefix}-${call.id}`;
        const isReady = (this.#status === LOGGED_IN || this.#status === RECONNECTING) && !this.#isLoggingOut;
        if (!isReady) {
            return queueMicrotask(() => this.#finish(call, ...failure("not_logged_in", Code.notLoggedIn)));
        }
        if (this.#calls.size >= CALL_BOUND) {
            const code = call.isMessage ? Code.messageOther : Code.failed;
            return queueMicrotask(() => this.#finish(call, ...failure("too_many_unanswered", code)));
        }
        call.timer = setTimeout(
            () => this.#finish(call, ...failure("timeout", TIMEOUT_CODES[func] ?? Code.failed)), CALL_MS);
        this.#calls.set(call.id, call);
        this.#unsent.push(call);
        this.#flush();
    }

    /** Sends the waiting calls, in order. */
    #flush() {
        while (this.#status === LOGGED_IN && !this.#repeating && this.#unsent.length > 0) {
            const call = this.#unsent[0];
            if (this.#calls.has(call.id)) {
                if (call.isMessage && this.#budget <= 0) return;
                if (call.isMessage) this.#budget--;
                call.sent++;
                this.#send("call2", [call.func, call.id, { ...call.args, line: this.#line }]);
            }
            this.#unsent.shift();
        }
    }

    /** After a reconnect: repeats unanswered calls, at a rate that the gateway accepts. */
    #resumeCalls() {
        const waiting = [...this.#calls.values()];
        const isLost = (call) => call.sent > 0 && NEVER_REPEATED.includes(call.func);
        for (const call of waiting.filter(isLost)) this.#finish(call, ...failure("connection_lost", Code.failed));
        this.#unsent = waiting.filter((call) => !isLost(call));
        this.#burst();
    }

    #burst() {
        this.#nextBurst = undefined;
        this.#budget = this.#unsent.length > 0 ? BURST : Infinity;
        this.#flush();
    }

    #returned(id, error, json) {
        if (this.#budget !== Infinity) this.#nextBurst ??= setTimeout(() => this.#burst(), BURST_MS);
        const call = this.#calls.get(id);
        // The call has timed out meanwhile.
        if (!call) return;
        const result = JSON.parse(json);
        const reason = error || (result.result === "ok" ? "" : String(result.reason));
        if (call.isMessage && TRANSIENT.includes(reason)) return this.#repeatSoon(call);
        this.#finish(call, reason, result);
    }

    /** Sends a message again under its id, before all later messages, because it is unknown whether it was stored. */
    #repeatSoon(call) {
        const place = this.#unsent.findIndex((other) => other.id > call.id);
        this.#unsent.splice(place < 0 ? this.#unsent.length : place, 0, call);
        this.#repeating ??= setTimeout(() => {
            this.#repeating = undefined;
            this.#flush();
        }, Math.random() * REPEAT_MS);
    }

    #finish(call, error, result) {
        clearTimeout(call.timer);
        this.#calls.delete(call.id);
        try {
            if (call.done) call.done(error, result, call.sent > 1);
            else if (error) fire(this, "onError", call.func, result.code, error);
        } catch (exception) {
            console.error(exception);
        }
    }

    // Mailbox

    #mailArrived(version, line) {
        const isNew = version > this.#version;
        if (isNew) this.#version = version;
        this.#acknowledgeSoon();
        // After a reconnect, entries that were not acknowledged are delivered again.
        if (!isNew) return;
        const { source, type, content } = parseLine(line);
        if (type === "instant") fire(this, "onMessageInstantReceive", source, 0, content);
        else if (type.startsWith("voip_")) this.#callEvent(type, JSON.parse(content));
    }

    #acknowledgeSoon() {
        if (++this.#unacknowledged >= ACK_ENTRIES) this.#acknowledge();
        else this.#ackTimer ??= setTimeout(() => this.#acknowledge(), ACK_MS);
    }

    #acknowledge() {
        clearTimeout(this.#ackTimer);
        this.#ackTimer = undefined;
        if (this.#unacknowledged === 0 || this.#status !== LOGGED_IN) return;
        this.#unacknowledged = 0;
        // If this acknowledgement is lost, its entries are delivered again, and acknowledged then.
        this.#call("user_getmsg", { ver_clear: this.#version, max: ACK_ENTRIES }, () => {});
    }

    // Channel

    #channelEvent(id, line) {
        if (id <= this.#lastEvent) return;
        this.#lastEvent = id;
        const channel = this.#channel;
        // The answer to a join or leave has not arrived yet.
        if (!channel) return;
        this.#after = id;
        const { type, content } = parseLine(line);
        const event = JSON.parse(content);
        switch (type) {
        case "channel_msg":
            return fire(channel, "onMessageChannelReceive", event.account, event.uid, event.msg);
        case "channel_user_join":
            return fire(channel, "onChannelUserJoined", event.account, event.uid);
        case "channel_user_leave":
            // A client gets its own leave only when the app's server has removed it.
            if (event.account === this.account) return this.#leaveChannel(Code.leaveKicked);
            return fire(channel, "onChannelUserLeaved", event.account, event.uid);
        case "channel_attr_update":
            return fire(channel, "onChannelAttrUpdated", event.name, event.value, event.type);
        }
    }

    #resumeChannel(result) {
        if (!this.#channel) return;
        if (result.channel === undefined || plainName(result.channel) !== plainName(this.#channel.name)) {
            // A join or leave without an answer has taken effect, or the membership ended during the absence.
            return this.#leaveChannel(this.#moves > 0 ? undefined : Code.leaveDisconnected);
        }
        if (!result.complete) fire(this, "onError", "channel_events", Code.failed, "events of the absence are missing");
    }

    #channelLeave(channel, callback) {
        this.#moves++;
        this.#call("channel_leave", { name: channel.name }, (error, result) => {
            this.#moves--;
            if (!error) {
                channel.state = "leaved";
                if (this.#channel === channel) this.#channel = null;
            }
            if (callback) callback(error !== "", result.code ?? 0);
            else if (error) fire(this, "onError", "channel_leave", result.code, error);
            else fire(channel, "onChannelLeaved", Code.leaveByUser);
        });
    }

    /** Called when the membership has ended without the application's doing. */
    #leaveChannel(code) {
        const channel = this.#channel;
        if (!channel) return;
        this.#channel = null;
        channel.state = "leaved";
        if (code !== undefined) fire(channel, "onChannelLeaved", code);
    }

    // Invitations

    #makeCall(channelID, peer, extra) {
        const call = new Call(channelID, peer, extra, (...act) => this.#call(...act), () => this.#forget(call));
        this.#invites.set(callKey(channelID, peer), call);
        return call;
    }

    #forget(call) {
        const key = callKey(call.channelName, call.peer);
        if (this.#invites.get(key) === call) this.#invites.delete(key);
    }

    #callEvent(type, { channel, peer, extra, peeruid }) {
        if (type === "voip_invite") {
            const call = this.#makeCall(channel, peer, extra);
            call.peerUid = peeruid;
            call.act("voip_invite_ack", "");
            return fire(this, "onInviteReceived", call);
        }
        const call = this.#invites.get(callKey(channel, peer));
        if (!call || !(type in CALL_EVENTS)) return;
        if (CALL_ENDS.includes(type)) this.#forget(call);
        const code = type === "voip_invite_failed" ? [JSON.parse(extra).code] : [];
        fire(call, CALL_EVENTS[type], extra, ...code);
    }
}

/** Splits the line of a mailbox entry or channel event; the content, after the last separator, may contain any text. */
function parseLine(line) {
    const [, source, type, content] = /^msg-v2 ([^ ]+) [^ ]+ [^ ]+ ([^ ]+) [^ ]+ ([^]*)$/.exec(line);
    return { source, type, content };
}

/** The one spelling that is used here for special channels, which have two. */
const plainName = (name) => name.replace(/^__agora_/, "_agora_");

const callKey = (channel, peer) => JSON.stringify([channel, peer]);

/** A channel that the user has joined, or is joining. */
class Channel {
    onChannelJoined = null;
    onChannelJoinFailed = null;
    onChannelLeaved = null;
    onChannelUserList = null;
    onChannelUserJoined = null;
    onChannelUserLeaved = null;
    onChannelAttrUpdated = null;
    onMessageChannelReceive = null;

    state = "joining";

    #call;
    #leave;

    constructor(name, call, leave) {
        this.name = name;
        this.#call = call;
        this.#leave = leave;
    }

    messageChannelSend(msg, callback) {
        this.#call("channel_sendmsg", { name: this.name, msg }, told(callback));
    }

    channelSetAttr(name, value, callback) {
        this.#call("channel_set_attr", { channel: this.name, name, value }, told(callback));
    }

    channelDelAttr(name, callback) {
        this.#call("channel_del_attr", { channel: this.name, name }, told(callback));
    }

    channelClearAttr(callback) {
        this.#call("channel_clear_attr", { channel: this.name }, told(callback));
    }

    channelLeave(callback) {
        this.#leave(callback);
    }
}

/** An invitation to a channel, on the side of the caller or the callee. */
class Call {
    onInviteReceivedByPeer = null;
    onInviteAcceptedByPeer = null;
    onInviteRefusedByPeer = null;
    onInviteFailed = null;
    onInviteEndByPeer = null;
    onInviteEndByMyself = null;
    onInviteMsg = null;

    peerUid = 0;

    #call;
    #over;

    constructor(channelID, peer, extra, call, over) {
        this.channelName = channelID;
        this.peer = peer;
        this.extra = extra;
        this.#call = call;
        this.#over = over;
    }

    /** @internal */
    act(func, extra = "", done = undefined) {
        this.#call(func, { channelName: this.channelName, peer: this.peer, extra }, done);
    }

    channelInviteAccept(extra) {
        this.act("voip_invite_accept", extra);
    }

    channelInviteRefuse(extra) {
        this.#over();
        this.act("voip_invite_refuse", extra);
    }

    channelInviteEnd(extra) {
        this.#over();
        // An error is ignored: the other side may have ended the call at the same moment.
        this.act("voip_invite_bye", extra, () => {});
        queueMicrotask(() => fire(this, "onInviteEndByMyself", ""));
    }

    channelInviteDTMF(digits) {
        this.act("voip_invite_msg", JSON.stringify({ msgtype: "dtmf", msgdata: digits }));
    }
}

/**
 * An app's entry to the signaling system; also callable with `new`.
 * @param {string} appid
 * @param {{discovery?: string | string[], channel?: string}} [options] `discovery`: base URLs at which `/getaddr` answers
 *     (default: the page's own origin); `channel`: the channel that will be joined, whose members gather at the same gateways
 */
function Signal(appid, { discovery, channel } = {}) {
    const finder = new Finder(appid, discovery, channel);
    return { login: (account, token) => new Session(appid, account, token, finder) };
}

globalThis.Signal = Signal;
})();
