// What the browser client sends and receives. The client is used as it is: this replaces the page's WebSocket by one that tells
// what passes, and that can be cut.

const WHY = {
    login: "asks to log in with account and token",
    login_ret: "the login's answer, with the line of the session",
    line_login: "resumes the session by its line, after a lost connection",
    line_login_ret: "the resume's answer; what was missed follows",
    ping: "asks for a sign of life, every 10 s",
    pong: "the answer to a ping",
    close: "the gateway ends the connection, and says why",
    user_sendmsg: "sends a message to a user, who may be offline",
    user_getmsg: "acknowledges what was read from the mailbox",
    user_logout: "logs out",
    user_set_attr: "sets an attribute of the user",
    channel_join: "joins a channel; the answer has its members and attributes",
    channel_leave: "leaves the channel",
    channel_sendmsg: "sends a message to the channel's members",
    channel_set_attr: "sets an attribute of the channel",
    channel_del_attr: "deletes an attribute of the channel",
    channel_clear_attr: "deletes all attributes of the channel",
    voip_invite: "invites a user or a telephone to a call",
    voip_invite_ack: "the invitation has arrived",
    voip_invite_accept: "accepts the invitation",
    voip_invite_refuse: "refuses the invitation",
    voip_invite_bye: "ends the call",
    voip_invite_msg: "digits within the call",
    voip_invite_failed: "the invitation has failed",
    instant: "a message from a user, out of the mailbox",
    channel_msg: "a message in the channel",
    channel_user_join: "a user has joined the channel",
    channel_user_leave: "a user has left the channel",
    channel_attr_update: "an attribute of the channel has changed",
};

/** Who is told of frames: `({ account, isOut, name, why, text, value, size })`. */
let tell = () => {};
/** The accounts whose network is cut. */
const cut = new Set();
const sockets = new Set();
/** The account of each line, by which resumes name the session. */
const lines = new Map();

export function startWire(listener) {
    tell = listener;
    globalThis.WebSocket = TappedSocket;
}

/** Cuts the user's network or restores it: while it is cut, connections break as soon as they say whose they are. */
export function setCut(account, isCut) {
    if (!isCut) return cut.delete(account);
    cut.add(account);
    for (const socket of sockets) if (socket.account === account) socket.break();
}

class TappedSocket extends WebSocket {
    account = "";
    #functions = new Map();

    constructor(...values) {
        super(...values);
        sockets.add(this);
        this.addEventListener("close", () => sockets.delete(this));
        this.addEventListener("message", ({ data }) => this.#received(String(data)));
    }

    send(text) {
        const [name, argument] = JSON.parse(text);
        if (name === "login") this.account = argument.account;
        if (name === "line_login") this.account = lines.get(argument.line) ?? "";
        if (cut.has(this.account)) return this.break();
        if (name === "call2") this.#functions.set(argument[1], argument[0]);
        this.#tell(true, name === "call2" ? argument[0] : name, text);
        super.send(text);
    }

    /** Breaks the connection, as a lost network would in time: the client is told that it is closed. */
    break() {
        const closed = this.onclose;
        sockets.delete(this);
        super.close();
        queueMicrotask(() => closed?.call(this, new CloseEvent("close")));
    }

    #received(text) {
        const [name, argument] = JSON.parse(text);
        let shown = name;
        if (name === "login_ret" || name === "line_login_ret") {
            const { line } = JSON.parse(argument[1]);
            if (line) lines.set(line, this.account);
        } else if (name === "call2-ret") {
            shown = `${this.#functions.get(argument[0]) ?? "call"} answer`;
            this.#functions.delete(argument[0]);
        } else if (name === "notify") {
            const line = argument[0] === "recvmsg" ? JSON.parse(argument[1])[1] : argument[3];
            shown = /^msg-v2 [^ ]+ [^ ]+ [^ ]+ ([^ ]+) /.exec(line)?.[1] ?? name;
        }
        this.#tell(false, shown, text);
    }

    #tell(isOut, name, text) {
        const base = name.replace(/ answer$/, "");
        const why = name === base ? WHY[name] ?? "" : "the answer";
        const value = JSON.parse(text, (key, value) => unpacked(key, value));
        tell({ account: this.account, isOut, name, why, value, size: new TextEncoder().encode(text).length });
    }
}

/** JSON within JSON is shown unpacked, and what lets others act as the user is not shown in full. */
function unpacked(key, value) {
    if (typeof value !== "string") return value;
    if (key === "line") return `${value.slice(0, 4)}…`;
    if (key === "token" && value !== "_no_need_token") return `${value.slice(0, 6)}…`;
    if (!/^[[{]/.test(value)) return value;
    try {
        return JSON.parse(value, (inner, within) => unpacked(inner, within));
    } catch {
        return value;
    }
}
