// One user of the playground: a column with a session of its own.

import { find, make, note } from "/pages/dom.js";
import { Signal } from "./heliograph.js";
import { setCut } from "./wire.js";

const STATUS = [["offline", ""], ["logging in", "info"], ["online", "good"], ["reconnecting", "warn"]];
const LOG_BOUND = 300;
let people = 0;

export class Person {
    #session = null;
    #channel = null;
    #call = null;
    /** What the call is: "", "calling", "ringing", "invited" or "talking". */
    #callState = "";
    #members = new Map();
    #isCut = false;
    #attempt = 0;
    #context;
    #control = {};

    /** @param context `{ app(), step(name, values), loggedIn(account), others(account), remove(person) }` of the page */
    constructor(account, context) {
        this.#context = context;
        this.element = this.#build(account, ++people);
        this.#show();
    }

    get account() {
        return this.#control.account.value.trim();
    }

    #build(account, number) {
        const control = this.#control;
        const input = (name, properties) => (control[name] = make("input", { spellcheck: "false", autocomplete: "off", ...properties }));
        const label = (text, element) => make("label", {}, text, element);
        const button = (name, text, onclick, kind = "") =>
            (control[name] = make("button", { type: "button", class: kind, onclick }, text));
        const form = (kind, name, submit, ...children) => make("form", {
            class: kind, "aria-label": name, autocomplete: "off",
            onsubmit: (event) => {
                event.preventDefault();
                submit();
            },
        }, children);

        control.avatar = make("span", { class: "avatar", "aria-hidden": "true" });
        control.title = make("h2", { class: "name", id: `person-${number}` });
        control.status = make("span", { class: "badge dot", role: "status" });
        control.login = make("button", { class: "main" });
        control.enter = make("button", {});
        control.members = make("div", { class: "members", role: "group", "aria-label": "Members of the channel" });
        control.log = make("div", { class: "log", role: "log", "aria-label": "Conversation", tabindex: "0", "data-feed": true });
        control.receiver = make("select");
        control.say = make("button", {}, "Send");
        control.set = make("button", {}, "Set");
        control.call = make("button", {}, "Call");
        control.callText = make("span", { role: "status" });
        return make(
            "article", { class: "card person", "aria-labelledby": `person-${number}` },
            make("div", { class: "head" }, control.avatar, control.title, control.status,
                button("remove", "Remove", () => this.#context.remove(this), "plain")),
            form("", "Login", () => this.#enterOrLeave(), make("div", { class: "row" },
                label("Account", input("account", { value: account, required: true, maxlength: 128 })),
                label("Token", input("token", { placeholder: "none needed" })), control.login)),
            form("", "Channel", () => this.#joinOrLeave(), make("div", { class: "row" },
                label("Channel", input("channel", { value: "tea", required: true, maxlength: 128 })), control.enter), control.members),
            control.log,
            form("talk", "Message", () => this.#send(), make("div", { class: "row" },
                label("To", control.receiver), label("Message", input("text", { placeholder: "hello" })), control.say)),
            form("", "Attribute of the channel", () => this.#setAttribute(), make("div", { class: "row" },
                label("Attribute", input("attribute", { value: "topic", required: true })), label("Value", input("value", { value: "tea" })),
                control.set, button("unset", "Delete", () => this.#deleteAttribute()))),
            form("", "Call", () => this.#invite(), make("div", { class: "row" },
                label("User or telephone", input("peer", { required: true, placeholder: "account or +49…" })), control.call,
                button("accept", "Accept", () => this.#accept(), "main"), button("refuse", "Refuse", () => this.#refuse(), "danger"),
                button("hangUp", "End", () => this.#end(), "danger")),
            make("div", { class: "call-state" }, control.callText,
                input("digits", { value: "12#", "aria-label": "Digits", class: "digits", maxlength: 64 }),
                button("dial", "Send digits", () => this.#digits()))),
            make("form", { "aria-label": "Network", onsubmit: (event) => event.preventDefault() },
                make("div", { class: "call-state" }, make("span", { class: "quiet small" }, "Lost connections are resumed"),
                    button("cut", "Cut the network", () => this.#cut(), "danger"))));
    }

    // What the user sees

    #show() {
        const control = this.#control;
        const status = this.#session?.getStatus() ?? 0;
        const [text, kind] = STATUS[status];
        const isOnline = status === 2;
        control.avatar.textContent = (this.account[0] ?? "?").toUpperCase();
        control.title.textContent = this.account || "new user";
        control.status.textContent = status === 3 ? `${text} ${this.#attempt}` : text;
        control.status.className = `badge dot ${kind}`;
        control.login.textContent = status === 0 ? "Log in" : "Log out";
        control.login.className = status === 0 ? "main" : "";
        control.account.disabled = control.token.disabled = status !== 0;
        control.remove.disabled = status !== 0;
        const isMember = this.#channel?.state === "joined";
        control.enter.textContent = isMember ? "Leave" : "Join";
        control.enter.disabled = !isOnline;
        control.channel.disabled = isMember;
        for (const name of ["say", "receiver", "text"]) control[name].disabled = status < 2;
        for (const name of ["set", "unset"]) control[name].disabled = status < 2 || !isMember;
        control.cut.disabled = status < 2;
        control.cut.textContent = this.#isCut ? "Restore the network" : "Cut the network";
        control.cut.setAttribute("aria-pressed", String(this.#isCut));
        this.#showMembers(isMember);
        this.#showReceivers(isMember);
        this.#showCall(isOnline);
    }

    #showMembers(isMember) {
        const names = [...this.#members.keys()];
        const chips = names.slice(0, 12).map((name) => make("span", { class: name === this.account ? "badge accent" : "badge" }, name));
        if (names.length > 12) chips.push(make("span", { class: "badge" }, `and ${names.length - 12} more`));
        this.#control.members.replaceChildren(...(isMember ? chips : [make("span", { class: "quiet small" }, "in no channel")]));
    }

    #showReceivers(isMember) {
        const { receiver } = this.#control;
        const chosen = receiver.value;
        const others = this.#context.others(this.account).map((name) => [`user:${name}`, name]);
        const options = [...(isMember ? [["channel", `all in ${this.#channel.name}`]] : []), ...others];
        receiver.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
        receiver.value = options.some(([value]) => value === chosen) ? chosen : options[0]?.[0] ?? "";
    }

    #showCall(isOnline) {
        const control = this.#control;
        const state = this.#callState;
        const peer = this.#call?.peer;
        const texts = {
            "": "no call", calling: `calling ${peer}`, ringing: `it rings at ${peer}`, invited: `${peer} is calling`,
            talking: `talking with ${peer}`,
        };
        control.callText.textContent = texts[state];
        control.callText.className = state === "" ? "quiet small" : `badge dot ${state === "talking" ? "good" : "info"}`;
        control.call.hidden = state !== "";
        control.call.disabled = !isOnline;
        control.peer.disabled = state !== "";
        control.accept.hidden = control.refuse.hidden = state !== "invited";
        control.hangUp.hidden = state === "" || state === "invited";
        control.dial.disabled = control.digits.disabled = state !== "talking";
    }

    /** Called when another user has come or gone. */
    refresh() {
        this.#show();
        if (!this.#control.peer.value) this.#control.peer.value = this.#context.others(this.account)[0] ?? "";
    }

    #write(kind, text, from) {
        const { log } = this.#control;
        log.append(make("p", { class: kind }, from && make("b", {}, from), text));
        while (log.childElementCount > LOG_BOUND) log.firstElementChild.remove();
        log.scrollTop = log.scrollHeight;
    }

    #step(name, values = {}) {
        this.#context.step(name, { account: this.account, ...values });
    }

    // Session

    #enterOrLeave() {
        const session = this.#session;
        if (session && session.getStatus() !== 0) {
            this.#step("logout");
            session.logout();
            return this.#show();
        }
        const app = this.#context.app();
        if (!app) return;
        const token = this.#control.token.value.trim() || "_no_need_token";
        this.#step("login", { app, token });
        // Members of one channel gather at the same gateways.
        this.#session = Signal(app, { channel: this.#control.channel.value || undefined }).login(this.account, token);
        this.#listen(this.#session);
        this.#show();
    }

    #listen(session) {
        const over = (text) => (ecode) => {
            this.#restore();
            this.#channel = null;
            this.#over("");
            this.#write(ecode === 101 ? "fact" : "bad", `${text} (${ecode})`);
            this.#context.changed();
        };
        session.onLoginSuccess = (uid) => {
            this.#write("fact", `logged in, uid ${uid}`);
            this.#context.changed();
        };
        session.onLoginFailed = over("the login failed");
        session.onLogout = over("logged out");
        session.onReconnecting = (attempt) => {
            if (attempt === 1) this.#write("fact", "the connection is lost");
            this.#attempt = attempt;
            this.#show();
        };
        session.onReconnected = () => {
            this.#write("fact", "the session was resumed");
            this.#show();
        };
        session.onError = (name, ecode, reason) => this.#write("bad", `${name}: ${reason} (${ecode})`);
        session.onMessageInstantReceive = (account, uid, text) => this.#write("", text, `${account}, to you`);
        session.onInviteReceived = (call) => {
            if (this.#callState !== "") return call.channelInviteRefuse("");
            this.#begin(call, "invited");
            this.#write("fact", `${call.peer} is calling`);
        };
    }

    // Channel

    #joinOrLeave() {
        if (this.#channel?.state === "joined") {
            this.#step("leave", { channel: this.#channel.name });
            return this.#channel.channelLeave();
        }
        const name = this.#control.channel.value;
        this.#step("join", { channel: name });
        const channel = this.#session.channelJoin(name);
        const isCurrent = () => this.#channel === channel;
        this.#channel = channel;
        this.#members.clear();
        channel.onChannelJoined = () => this.#write("fact", `joined ${name}`);
        channel.onChannelJoinFailed = (ecode) => this.#write("bad", `could not join ${name} (${ecode})`);
        channel.onChannelLeaved = (ecode) => {
            this.#write("fact", `left ${name} (${ecode})`);
            if (isCurrent()) this.#channel = null;
            this.#show();
        };
        channel.onChannelUserList = (users) => {
            for (const [account, uid] of users) this.#members.set(account, uid);
            this.#show();
        };
        channel.onChannelUserJoined = (account, uid) => {
            this.#members.set(account, uid);
            this.#write("fact", `${account} joined`);
            this.#show();
        };
        channel.onChannelUserLeaved = (account) => {
            this.#members.delete(account);
            this.#write("fact", `${account} left`);
            this.#show();
        };
        channel.onChannelAttrUpdated = (attribute, value, type) => {
            this.#write("fact", type === "update" ? `${attribute} = ${value}` : type === "del" ? `${attribute} is deleted` : "no attributes");
        };
        channel.onMessageChannelReceive = (account, uid, text) => {
            this.#write(account === this.account ? "own" : "", text, account === this.account ? `to ${name}` : `${account}, in ${name}`);
        };
    }

    #send() {
        const { receiver, text } = this.#control;
        const told = (failed, ecode) => failed && this.#write("bad", `the message was not sent (${ecode})`);
        if (!receiver.value || !text.value) return note(receiver.value ? "Write a message first" : "Nobody to write to: join a channel");
        if (receiver.value === "channel") {
            this.#step("say", { channel: this.#channel.name, text: text.value });
            this.#channel.messageChannelSend(text.value, told);
        } else {
            const peer = receiver.value.slice("user:".length);
            this.#step("tell", { peer, text: text.value });
            this.#session.messageInstantSend(peer, text.value, told);
            this.#write("own", text.value, `to ${peer}`);
        }
        text.value = "";
    }

    #setAttribute() {
        const [name, value] = [this.#control.attribute.value, this.#control.value.value];
        this.#step("setAttribute", { channel: this.#channel.name, name, value });
        this.#channel.channelSetAttr(name, value, this.#told("the attribute was not set"));
    }

    #deleteAttribute() {
        const name = this.#control.attribute.value;
        this.#step("deleteAttribute", { channel: this.#channel.name, name });
        this.#channel.channelDelAttr(name, this.#told("the attribute was not deleted"));
    }

    #told(text) {
        return (failed, ecode) => failed && this.#write("bad", `${text} (${ecode})`);
    }

    // Calls

    #invite() {
        const peer = this.#control.peer.value.trim();
        const channel = this.#control.channel.value;
        const isPhone = /^\+?[0-9]+$/.test(peer);
        const extra = isPhone ? "{}" : '{"_require_peer_online":1}';
        this.#step("invite", { channel, peer, extra, isPhone });
        this.#begin(this.#session.channelInviteUser2(channel, peer, extra), "calling");
    }

    #begin(call, state) {
        this.#call = call;
        this.#callState = state;
        const shift = (next) => () => {
            this.#callState = next;
            this.#show();
        };
        call.onInviteReceivedByPeer = shift("ringing");
        call.onInviteAcceptedByPeer = () => {
            this.#write("fact", `${call.peer} has accepted`);
            shift("talking")();
        };
        call.onInviteRefusedByPeer = () => this.#over(`${call.peer} has refused`);
        call.onInviteFailed = (extra, ecode) => this.#over(`the call has failed (${ecode})`, "bad");
        call.onInviteEndByPeer = () => this.#over(`${call.peer} has ended the call`);
        call.onInviteEndByMyself = () => this.#over("the call is over");
        call.onInviteMsg = (extra) => this.#write("fact", `digits from ${call.peer}: ${JSON.parse(extra).msgdata ?? extra}`);
        this.#show();
    }

    #over(text, kind = "fact") {
        this.#call = null;
        this.#callState = "";
        if (text) this.#write(kind, text);
        this.#show();
    }

    #about() {
        return { channel: this.#call.channelName, peer: this.#call.peer };
    }

    #accept() {
        this.#step("accept", this.#about());
        this.#call.channelInviteAccept("");
        this.#callState = "talking";
        this.#show();
    }

    #refuse() {
        this.#step("refuse", this.#about());
        this.#call.channelInviteRefuse("");
        this.#over("you have refused");
    }

    #end() {
        this.#step("end", this.#about());
        this.#call.channelInviteEnd("");
    }

    #digits() {
        const digits = this.#control.digits.value;
        this.#step("digits", { ...this.#about(), digits });
        this.#call.channelInviteDTMF(digits);
        this.#write("fact", `digits sent: ${digits}`);
    }

    // Network

    #cut() {
        if (this.#isCut) return this.#restore();
        this.#step("cut");
        this.#isCut = true;
        setCut(this.account, true);
        this.#show();
    }

    #restore() {
        this.#isCut = false;
        setCut(this.account, false);
        this.#show();
    }
}

/** Gives the focus to a new user's first field. */
export function focusOn(person) {
    find("input", person.element).focus();
}
