// The views of users, channels, calls, bans and processes.

import { field, make, note } from "/pages/dom.js";
import { openChannel, openUser } from "./panels.js";
import { attempt, confirming } from "./parts.js";
import { Table, badge, moment, number, since, span } from "./table.js";

const TYPING_MS = 250;
export const PAGE = 100;

export const heading = (title, ...controls) => make("header", {}, make("h1", {}, title), controls);

/** A field that calls `changed` a moment after the last key. */
export function search(text, placeholder, changed) {
    let timer;
    const control = make("input", {
        type: "search", placeholder, maxlength: 128, spellcheck: "false", autocomplete: "off",
        oninput: () => {
            clearTimeout(timer);
            timer = setTimeout(changed, TYPING_MS);
        },
    });
    return { control, element: field(text, control) };
}

function choice(text, options, changed) {
    const control = make("select", { onchange: changed }, options.map(([value, label]) => make("option", { value }, label)));
    return { control, element: field(text, control) };
}

export const refresh = (table) => make("button", { type: "button", onclick: () => table.reload() }, "Refresh");

/** A name that opens a panel. */
export const link = (name, open) => make("button", { type: "button", class: "name", onclick: () => open().catch((error) => note(error.message, true)) }, name);

export function usersView(context) {
    const { api, app } = context;
    const open = (account) => openUser(context, account, () => table.reload());
    const table = new Table("Users", [
        { name: "Account", value: ({ account }) => link(account, () => open(account)) },
        { name: "State", value: ({ state }) => badge(state) },
        { name: "Online for", value: (user) => since(user.since) },
        { name: "Gateway", kind: "extra", value: ({ gateway }) => gateway ?? "–" },
        { name: "Device", kind: "extra", value: ({ device }) => device || "–" },
        { name: "Uid", kind: "number extra", value: ({ uid }) => String(uid) },
    ], async (after) => {
        const { users, next } = await api.get("apps", app, "users", { state: state.control.value, prefix: prefix.control.value, after, limit: PAGE });
        return { items: users, next };
    });
    const prefix = search("Search", "account begins with…", () => table.reload());
    const state = choice("Who", [["online", "online"], ["all", "all"]], () => table.reload());
    table.reload();
    return { element: [heading("Users", prefix.element, state.element, refresh(table)), table.element] };
}

export function channelsView(context) {
    const { api, app } = context;
    const open = (name) => openChannel(context, name, () => table.reload());
    const table = new Table("Channels", [
        { name: "Channel", value: ({ channel }) => link(channel, () => open(channel)) },
        { name: "Members", kind: "number", value: ({ members }) => number(members) },
        { name: "Attributes", kind: "number", value: ({ attributes }) => number(attributes) },
    ], async (after) => {
        const { channels, next } = await api.get("apps", app, "channels", { prefix: prefix.control.value, after, limit: PAGE });
        return { items: channels, next };
    });
    const prefix = search("Search", "name begins with…", () => table.reload());
    table.reload();
    return { element: [heading("Channels", prefix.element, refresh(table)), table.element] };
}

export function callsView(context) {
    const { api, app } = context;
    const party = (account, isPhone) => (isPhone ? account : link(account, () => openUser(context, account, () => {})));
    const table = new Table("Calls", [
        { name: "Started", value: ({ startedAt }) => moment(startedAt) },
        { name: "Caller", value: ({ caller, direction }) => party(caller, direction === "inbound") },
        { name: "Callee", value: ({ callee, direction }) => party(callee, direction === "outbound") },
        { name: "State", value: ({ state }) => badge(state) },
        { name: "Talked", kind: "number", value: ({ talkSeconds }) => span(talkSeconds) },
        { name: "Kind", kind: "extra", value: ({ kind, direction }) => (kind === "phone" ? `phone, ${direction}` : "users") },
        { name: "Channel", kind: "extra", value: ({ channel }) => channel },
        { name: "Ended by", kind: "extra", value: (call) => (call.sipStatus ? `${call.sipStatus} ${call.sipReason ?? ""}` : call.endCode ? String(call.endCode) : "–") },
    ], async (after) => {
        const { calls, next } = await api.get("apps", app, "calls", { state: state.control.value, after, limit: PAGE });
        return { items: calls, next };
    });
    const state = choice("Which", [["all", "all"], ["open", "in progress"]], () => table.reload());
    table.reload();
    return { element: [heading("Calls", state.element, refresh(table)), table.element] };
}

export function bansView(context) {
    const { api, app, may } = context;
    const remove = (account) => attempt(`${account} is not banned any more`, async () => {
        await api.delete("apps", app, "users", account, "ban");
        await table.reload();
    });
    const table = new Table("Bans", [
        { name: "Account", value: ({ account }) => link(account, () => openUser(context, account, () => table.reload())) },
        { name: "Until", value: ({ until }) => moment(until) },
        { name: "Reason", value: ({ reason }) => reason || "–" },
        { name: "Since", kind: "extra", value: ({ createdAt }) => moment(createdAt) },
        {
            name: "Unban", kind: "actions",
            value: ({ account }) => may("admin") && make("button", { type: "button", "aria-label": `Unban ${account}`, onclick: () => remove(account) }, "Unban"),
        },
    ], async (after) => {
        const { bans, next } = await api.get("apps", app, "bans", { after, limit: PAGE });
        return { items: bans, next };
    });
    table.reload();
    return { element: [heading("Bans", refresh(table)), table.element] };
}

export function processesView({ api, may }) {
    let now = 0;
    let level = null;
    const table = new Table("Processes", [
        { name: "Process", value: ({ id }) => make("code", {}, id) },
        { name: "Kind", kind: "extra", value: ({ kind }) => kind },
        { name: "Runs for", kind: "number", value: ({ since: begun }) => span(now - begun) },
        { name: "Version", kind: "extra", value: ({ version }) => version },
        {
            name: "Level", kind: "number extra",
            value: (process) => (process.level === level ? String(level) : make("span", { class: "badge warn" }, `${process.level}, the cluster is at ${level}`)),
        },
        { name: "Host", kind: "extra", value: ({ host }) => host },
        {
            name: "Drain", kind: "actions",
            value: ({ id, draining }) => (draining ? make("span", { class: "badge" }, "draining")
                : may("admin") && confirming(`Drain ${id}`, "Drain", "Its users move, then it ends?", () => drain(id))),
        },
    ], async () => {
        const { processes, clusterLevel, time } = await api.get("processes");
        [now, level] = [time, clusterLevel];
        return { items: processes, next: null };
    });
    const drain = (id) => attempt("Asked to drain: it ends when its work is done.", async () => {
        await api.post(undefined, "processes", id, "drain");
        await table.reload();
    });
    table.reload();
    return { element: [heading("Processes", refresh(table)), table.element] };
}
