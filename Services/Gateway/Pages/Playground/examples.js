// The code of each step, in the three clients' languages, with the values that the step had.

const quoted = (text) => JSON.stringify(text);
/** An account as the name of a variable. */
const variable = (account) => account.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9]|$)/, "user");

/** Steps by name: each takes its values and gives `{ title, browser, swift, python }`. */
export const EXAMPLES = {
    login: ({ app, account, token, origin, gateway }) => ({
        title: `${account} logs in. Discovery names a gateway; the session lives on when the connection is lost.`,
        browser: `import { Signal } from "./heliograph.js";

const options = { discovery: ${quoted(origin)} };
const session = Signal(${quoted(app)}, options)
    .login(${quoted(account)}, ${quoted(token)});
session.onLoginSuccess = (uid) => console.log(uid);
session.onLoginFailed = (ecode) => console.log(ecode);
session.onMessageInstantReceive = (account, uid, msg) => {
    console.log(account, msg);
};`,
        swift: `import SignalingClient

let configuration = ClientConfiguration(
    app: ${quoted(app)}, account: ${quoted(account)},
    token: ${quoted(token)},
    source: .discovery([${quoted(origin)}]))
let ${variable(account)} = try await SignalingClient.connect(configuration)

for await event in ${variable(account)}.events {
    if case .message(let message) = event {
        print(message.account, message.text)
    }
}`,
        python: `from agorasigsdk.agora_signal import AgoraSignal
from agorasigsdk.login_session import LoginSession
from twisted.internet import reactor

class User(LoginSession.LoginCallback):
    def on_login_success(self, session, uid):
        print(uid)

    def on_msg_instant_received(self, session, account, uid, msg):
        print(account, msg)

session = AgoraSignal(${quoted(app)}).login(
    ${quoted(account)}, ${quoted(token)}, User(),
    is_debugging=True, debug_params=[${gateway}])
reactor.run()`,
    }),

    logout: ({ account }) => ({
        title: `${account} logs out. The session ends at once, and so does the membership of its channel.`,
        browser: `session.onLogout = (ecode) => console.log(ecode);  // 101
session.logout();`,
        swift: `${variable(account)}.close()`,
        python: `session.logout()`,
    }),

    join: ({ account, channel }) => ({
        title: `${account} joins ${channel}. The answer has the members and the attributes.`,
        browser: `const channel = session.channelJoin(${quoted(channel)});
channel.onChannelUserList = (users) => console.log(users);
channel.onChannelUserJoined = (account, uid) => console.log(account);
channel.onMessageChannelReceive = (account, uid, msg) => {
    console.log(account, msg);
};`,
        swift: `let joined = try await ${variable(account)}.join(${quoted(channel)})
print(joined.members, joined.attributes)`,
        python: `class Room(Channel.ChannelCallback):
    def on_channel_user_list(self, session, channel, users, uids):
        print(users)

    def on_msg_channel_received(self, session, channel, account, uid, msg):
        print(account, msg)

channel = session.channel_join(${quoted(channel)}, Room())`,
    }),

    leave: ({ account, channel }) => ({
        title: `${account} leaves ${channel}; the others are told.`,
        browser: `channel.channelLeave();`,
        swift: `try await ${variable(account)}.leave(${quoted(channel)})`,
        python: `channel.channel_leave()`,
    }),

    say: ({ account, channel, text }) => ({
        title: `${account} sends a message to all members of ${channel}.`,
        browser: `channel.messageChannelSend(${quoted(text)}, (failed, ecode) => {
    console.log(failed, ecode);
});`,
        swift: `try await ${variable(account)}.send(${quoted(text)}, to: ${quoted(channel)})`,
        python: `channel.msg_channel_send(${quoted(text)})`,
    }),

    tell: ({ account, peer, text }) => ({
        title: `${account} sends a message to ${peer}. It waits in the mailbox while ${peer} is offline.`,
        browser: `session.messageInstantSend(${quoted(peer)}, ${quoted(text)}, (failed, ecode) => {
    console.log(failed, ecode);
});`,
        swift: `try await ${variable(account)}.sendMessage(${quoted(text)}, to: ${quoted(peer)})`,
        python: `session.msg_instant_send(${quoted(peer)}, ${quoted(text)}, None)`,
    }),

    setAttribute: ({ account, channel, name, value }) => ({
        title: `${account} sets an attribute of ${channel}. Attributes outlive the members' sessions.`,
        browser: `channel.onChannelAttrUpdated = (name, value, type) => {
    console.log(name, value, type);  // type: update, del, clear
};
channel.channelSetAttr(${quoted(name)}, ${quoted(value)});`,
        swift: `try await ${variable(account)}.setAttribute(
    ${quoted(name)}, ${quoted(value)}, of: ${quoted(channel)})`,
        python: `channel.channel_set_attr(${quoted(name)}, ${quoted(value)})`,
    }),

    deleteAttribute: ({ account, channel, name }) => ({
        title: `${account} deletes an attribute of ${channel}.`,
        browser: `channel.channelDelAttr(${quoted(name)});`,
        swift: `try await ${variable(account)}.deleteAttribute(
    ${quoted(name)}, of: ${quoted(channel)})`,
        python: `channel.channel_del_attr(${quoted(name)})`,
    }),

    invite: ({ account, channel, peer, extra, isPhone }) => ({
        title: isPhone
            ? `${account} dials ${peer}. The app needs a trunk (Docs/phones.md); digits are sent within the call.`
            : `${account} calls ${peer}: an invitation to ${channel}, which nobody need have joined.`,
        browser: `const call = session.channelInviteUser2(
    ${quoted(channel)}, ${quoted(peer)},
    ${quoted(extra)});
call.onInviteReceivedByPeer = () => console.log("rings");
call.onInviteAcceptedByPeer = () => console.log("talking");
call.onInviteRefusedByPeer = () => console.log("refused");
call.onInviteFailed = (extra, ecode) => {
    console.log(ecode);
};
call.onInviteEndByPeer = () => console.log("over");`,
        swift: `try await ${variable(account)}.invite(
    ${quoted(peer)}, to: ${quoted(channel)}, extra: ${quoted(extra)})

for await event in ${variable(account)}.events {
    if case .call(let progress) = event { print(progress) }
}`,
        python: `class Progress(Call.CallCallback):
    def on_invite_accepted_by_peer(self, session, call, extra):
        print("talking")

call = session.channel_invite_user_2(
    ${quoted(channel)}, ${quoted(peer)}, ${quoted(extra)}, Progress())`,
    }),

    accept: ({ account, channel, peer }) => ({
        title: `${account} accepts the call of ${peer}.`,
        browser: `session.onInviteReceived = (call) => {
    call.channelInviteAccept("");
};`,
        swift: `try await ${variable(account)}.accept(${quoted(peer)}, in: ${quoted(channel)})`,
        python: `def on_invite_received(self, session, call):
    call.set_callback(Call.CallCallback())
    call.accept()`,
    }),

    refuse: ({ account, channel, peer }) => ({
        title: `${account} refuses the call of ${peer}.`,
        browser: `session.onInviteReceived = (call) => {
    call.channelInviteRefuse("");
};`,
        swift: `try await ${variable(account)}.refuse(${quoted(peer)}, in: ${quoted(channel)})`,
        python: `def on_invite_received(self, session, call):
    call.refuse()`,
    }),

    end: ({ account, channel, peer }) => ({
        title: `${account} ends the call with ${peer}.`,
        browser: `call.channelInviteEnd("");`,
        swift: `try await ${variable(account)}.endCall(with: ${quoted(peer)}, in: ${quoted(channel)})`,
        python: `call.end()`,
    }),

    digits: ({ account, channel, peer, digits }) => ({
        title: `${account} sends digits within the call; a telephone hears them as DTMF.`,
        browser: `call.channelInviteDTMF(${quoted(digits)});`,
        swift: `try await ${variable(account)}.sendDTMF(
    ${quoted(digits)}, to: ${quoted(peer)}, in: ${quoted(channel)})`,
        python: `import json

extra = json.dumps({"msgtype": "dtmf", "msgdata": ${quoted(digits)}})
session.call2("voip_invite_msg", {
    "line": session.line, "channelName": ${quoted(channel)},
    "peer": ${quoted(peer)}, "extra": extra})`,
    }),

    cut: ({ account }) => ({
        title: `The network of ${account} is cut. The session stays for a while; what is sent meanwhile waits for it.`,
        browser: `// The client reconnects by itself, and resumes the session.
session.onReconnecting = (attempt) => console.log(attempt);
session.onReconnected = () => console.log("nothing was lost");
session.onLogout = (ecode) => console.log(ecode);  // 102: too late`,
        swift: `// The client reconnects by itself, and resumes the session.
for await event in ${variable(account)}.events {
    switch event {
    case .reconnecting(let attempt): print(attempt)
    case .reconnected(let complete): print(complete)
    case .loggedOut(let error): print(error.code)
    default: break
    }
}`,
        python: `# The Python SDK does not resume sessions: log in again.
def on_logout(self, session, err_code):
    print(err_code)`,
    }),
};

const WORDS = {
    browser: /^(?:import|from|const|let|new|return)$/,
    swift: /^(?:import|let|try|await|for|in|if|case|switch|default|break|print)$/,
    python: /^(?:from|import|class|def|None|True|print|self)$/,
};
const PART = /("(?:[^"\\]|\\.)*")|((?:\/\/|# ).*)|([A-Za-z_][A-Za-z0-9_]*)(\()?/g;

/** The code as nodes, with classes for strings, comments, words of the language and names of functions. */
export function highlighted(code, language) {
    const nodes = [];
    let end = 0;
    const span = (kind, text) => {
        const element = document.createElement("span");
        element.className = kind;
        element.textContent = text;
        nodes.push(element);
    };
    for (const match of code.matchAll(PART)) {
        nodes.push(code.slice(end, match.index));
        const [whole, string, comment, word, opening] = match;
        if (string) span("s", string);
        else if (comment) span("c", comment);
        else if (WORDS[language].test(word)) span("k", word);
        else if (opening) span("f", word);
        else nodes.push(word);
        if (opening) nodes.push(opening);
        end = match.index + whole.length;
    }
    nodes.push(code.slice(end));
    return nodes;
}
