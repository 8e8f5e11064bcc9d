/** Types of heliograph.js. The codes are listed in Docs/clients.md. */

/** `failed`, and the public code; 0 for success. */
export type Told = (failed: boolean, ecode: number) => void;

/** `err` is the empty string on success, or else the reason; the result's `reason` and `code` then give the same reason. */
export type Answered<Result> = (err: string, result: Result & Partial<Failure>) => void;

export interface Failure {
    result: string;
    reason: string;
    code: number;
}

export interface Options {
    /** Base URLs at which `/getaddr` answers, tried in random order. Default: the page's own origin. */
    discovery?: string | string[];
    /** The channel that will be joined: the client goes to a gateway where its members gather. Default: any gateway. */
    channel?: string;
}

/** An app's entry to the signaling system; `new Signal(appid)` does the same. */
export interface Signal {
    /** Logs in. Returns the session at once; its handlers report the outcome. */
    login(account: string, token: string): Session;
}

export const Signal: {
    (appid: string, options?: Options): Signal;
    new (appid: string, options?: Options): Signal;
};

export interface Session {
    readonly account: string;
    /** The account's numeric id; 0 before the login has succeeded. */
    readonly uid: number;

    onLoginSuccess: ((uid: number) => void) | null;
    /** 200 other, 201 network, 203 cancelled by `logout`, 204 token expired, 206 token wrong, 207 kicked, 209 account invalid. */
    onLoginFailed: ((ecode: number) => void) | null;
    /** 101 by `logout`, 102 network, 103 logged in elsewhere, 105 token expired, 108 already logged out, 100 other. */
    onLogout: ((ecode: number) => void) | null;
    /** Failures of calls without a callback, and `channel_events`: after a resume some channel events are missing. */
    onError: ((name: string, ecode: number, desc: string) => void) | null;
    /** The connection was lost; attempt `n` to resume the session on another gateway begins. */
    onReconnecting: ((n: number) => void) | null;
    onReconnected: (() => void) | null;
    /** `uid` is always 0: use `account`. */
    onMessageInstantReceive: ((account: string, uid: number, msg: string) => void) | null;
    onInviteReceived: ((call: Call) => void) | null;

    /** Sends to a user, who may be offline. Fails with 400, or with 401 when there was no answer for 30 s. */
    messageInstantSend(account: string, msg: string, cb?: Told): void;
    /** Joins a channel, and leaves the one that the user is in. */
    channelJoin(name: string): Channel;
    channelInviteUser(channelID: string, peer: string): Call;
    /** `extra`: empty, or JSON text (`_require_peer_online`, `_timeout`, ...). */
    channelInviteUser2(channelID: string, peer: string, extra?: string): Call;
    queryUserStatus(account: string, cb: Answered<{ account: string; status: 0 | 1 }>): void;
    /** Calls the function `io.agora.signal.` + `func`. */
    invoke(func: string, args: object, cb?: Answered<Record<string, any>>): void;
    /** 0 not logged in, 1 logging in, 2 logged in, 3 reconnecting. */
    getStatus(): 0 | 1 | 2 | 3;
    getSDKVersion(): number;
    logout(): void;
}

/** Account and uid. */
export type User = [account: string, uid: number];

export interface Channel {
    readonly name: string;
    readonly state: "joining" | "joined" | "failed" | "leaved";

    onChannelJoined: (() => void) | null;
    onChannelJoinFailed: ((ecode: number) => void) | null;
    /** 602 left by `channelLeave` without a callback, 603 logged out, 601 kicked, 604 disconnected. */
    onChannelLeaved: ((ecode: number) => void) | null;
    /** Called after joining, with the latest 200 members, the user included. */
    onChannelUserList: ((users: User[]) => void) | null;
    onChannelUserJoined: ((account: string, uid: number) => void) | null;
    onChannelUserLeaved: ((account: string, uid: number) => void) | null;
    /** Called after joining for each attribute, then for each change. `del` has no value, `clear` has no name either. */
    onChannelAttrUpdated: ((name: string, value: string, type: "update" | "del" | "clear") => void) | null;
    /** Also called for the user's own messages. */
    onMessageChannelReceive: ((account: string, uid: number, msg: string) => void) | null;

    messageChannelSend(msg: string, cb?: Told): void;
    channelSetAttr(name: string, value: string, cb?: Told): void;
    channelDelAttr(name: string, cb?: Told): void;
    channelClearAttr(cb?: Told): void;
    /** With a callback, that is called instead of `onChannelLeaved`. */
    channelLeave(cb?: Told): void;
}

export interface Call {
    readonly channelName: string;
    readonly peer: string;
    readonly extra: string;
    /** On the callee's side: the caller's uid. */
    readonly peerUid: number;

    onInviteReceivedByPeer: ((extra: string) => void) | null;
    onInviteAcceptedByPeer: ((extra: string) => void) | null;
    onInviteRefusedByPeer: ((extra: string) => void) | null;
    /** `extra`: JSON text from the system, or the reason of its refusal. 701 reinvite, 703 peer offline, 704 timeout. */
    onInviteFailed: ((extra: string, ecode: number) => void) | null;
    onInviteEndByPeer: ((extra: string) => void) | null;
    onInviteEndByMyself: ((extra: string) => void) | null;
    /** `extra`: JSON text, `{"msgtype":"dtmf","msgdata":"12#"}`. */
    onInviteMsg: ((extra: string) => void) | null;

    channelInviteAccept(extra?: string): void;
    channelInviteRefuse(extra?: string): void;
    channelInviteEnd(extra?: string): void;
    channelInviteDTMF(digits: string): void;
}
