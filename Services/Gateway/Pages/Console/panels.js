// The panels of one user and one channel, over the view from which they were opened.

import { field, find, make, note } from "/pages/dom.js";
import { history, mailbox } from "./messages.js";
import { acting, attempt, facts, input, section } from "./parts.js";
import { badge, moment, number, since, span } from "./table.js";

const BAN_SECONDS = [[3_600, "an hour"], [86_400, "a day"], [7 * 86_400, "a week"], [365 * 86_400, "a year"]];

/** Opens the panel with a title; what has the focus gets it back. */
export function openPanel(title, ...children) {
    const panel = find("#panel");
    panel.replaceChildren(
        make("div", { class: "head" }, make("h2", { id: "panel-title" }, title), make("button", { type: "button", onclick: () => panel.close() }, "Close")),
        ...children);
    if (!panel.open) panel.showModal();
}

/** A list of attributes, which can be set and deleted by who may. */
async function attributes(context, place) {
    const { api, app, may } = context;
    const list = make("ul", { class: "pairs" });
    const reload = async () => {
        const { attributes: found } = await api.get("apps", app, ...place, "attributes");
        const remove = (name) => attempt("The attribute is deleted", async () => {
            await api.delete("apps", app, ...place, "attributes", name);
            await reload();
        });
        const rows = Object.entries(found).map(([name, value]) => make("li", {}, make("code", {}, name), make("code", {}, value),
            may("admin") && make("button", { type: "button", class: "danger", "aria-label": `Delete ${name}`, onclick: () => remove(name) }, "Delete")));
        list.replaceChildren(...(rows.length > 0 ? rows : [make("li", { class: "quiet" }, "none")]));
    };
    await reload();
    const set = may("admin") && acting(
        "Set an attribute", "Set", "",
        make("div", { class: "row" }, field("Name", input("name", { required: true, maxlength: 128 })), field("Value", input("value"))),
        ({ name, value }, form) => attempt("The attribute is set", async () => {
            await api.put({ value }, "apps", app, ...place, "attributes", name);
            form.reset();
            await reload();
        }));
    return section("Attributes", list, set);
}

const sending = (context, place, placeholder, sent) => context.may("send") && section("Send a message", acting(
    "Send a message", "Send", "main",
    make("div", { class: "row" }, field("From", input("from", { value: "console", required: true, maxlength: 128 })),
        field("Message", input("message", { required: true, placeholder }))),
    ({ from, message }, form) => attempt("The message is sent", async () => {
        await context.api.post({ from, message }, "apps", context.app, ...place, "messages");
        form.elements.message.value = "";
        await sent();
    })));

/** A name that opens another panel in this one's place. */
const chip = (name, show) => make("button", { type: "button", onclick: () => show().catch((error) => note(error.message, true)) }, name);

/** Waits until a user is offline: gateways end a session after the answer. Not for long, because users may log in again at once. */
async function untilOffline({ api, app }, place) {
    for (let turn = 0; turn < 10 && (await api.get("apps", app, ...place)).online; turn += 1) {
        await new Promise((resume) => { setTimeout(resume, 300); });
    }
}

/** The panel of a user. */
export async function openUser(context, account, changed) {
    const { api, app, may } = context;
    const place = ["users", account];
    const [user, listed, ban, waiting] = await Promise.all([
        api.get("apps", app, ...place),
        // For the device, which only lists have; they are up to a second behind.
        api.get("apps", app, "users", { state: "all", prefix: account, limit: 1 }).catch(() => ({ users: [] })),
        api.get("apps", app, ...place, "ban").catch((problem) => {
            if (problem.status !== 404) throw problem;
        }),
        mailbox(context, account),
    ]);
    const last = listed.users.find((each) => each.account === account);
    const device = user.online && last?.state !== "offline" ? last?.device : null;
    const channels = user.channels.map((name) => chip(name, () => openChannel(context, name, changed)));
    const again = async () => {
        changed();
        await openUser(context, account, changed);
    };
    openPanel(
        account,
        section("User", facts([
            ["State", badge(user.state)],
            ["Uid", String(user.uid ?? last?.uid ?? "–")], ["Gateway", user.gateway ?? "–"], ["Device", device || "–"],
            // Told to keys that may act on it only.
            ...("address" in user ? [["Address", user.address ?? "–"]] : []),
            ["Online for", since(user.since)],
            ["Channels", channels.length > 0 ? make("div", { class: "chips" }, channels) : "–"],
        ])),
        sending(context, place, "waits while the user is offline", waiting.reload),
        await attributes(context, place),
        may("admin") && section("Session", make("p", { class: "quiet" }, "Ends the session; the user may log in again."),
            acting("End the session", "Disconnect", "danger", [], () => attempt(`${account} is disconnected`, async () => {
                await api.post(undefined, "apps", app, ...place, "disconnect");
                await untilOffline(context, place);
                await again();
            }))),
        (ban || may("admin")) && banning(context, account, ban, again),
        // Last, so that nothing else moves when it grows or shrinks.
        waiting.element);
}

/** The section of a user's ban. */
function banning({ api, app, may }, account, ban, again) {
    const place = ["apps", app, "users", account, "ban"];
    if (ban) {
        return section("Ban", facts([["Until", moment(ban.until)], ["Reason", ban.reason || "–"]]),
            may("admin") && acting("End the ban", "Unban", "", [], () => attempt(`${account} is not banned any more`, async () => {
                await api.delete(...place);
                await again();
            })));
    }
    const duration = make("select", { name: "seconds" }, BAN_SECONDS.map(([seconds, text]) => make("option", { value: seconds }, text)));
    return section("Ban", make("p", { class: "quiet" }, "Ends the session, and refuses logins for a time."), acting(
        "Ban the user", "Ban", "danger",
        make("div", { class: "row" }, field("For", duration), field("Reason", input("reason", { maxlength: 512 }))),
        ({ seconds, reason }) => attempt(`${account} is banned for ${span(Number(seconds))}`, async () => {
            await api.put({ seconds: Number(seconds), reason }, ...place);
            await untilOffline({ api, app }, ["users", account]);
            await again();
        })));
}

/** The panel of a channel. */
export async function openChannel(context, name, changed) {
    const { api, app } = context;
    const place = ["channels", name];
    const openAccount = (account) => openUser(context, account, changed);
    const [{ total, members }, past] = await Promise.all([
        api.get("apps", app, ...place, "members", { limit: 100 }),
        history(context, name, (account) => openAccount(account).catch((error) => note(error.message, true))),
    ]);
    const chips = members.map(({ account }) => chip(account, () => openAccount(account)));
    openPanel(
        name,
        section(`Members (${number(total)})`,
            make("div", { class: "chips" }, chips.length > 0 ? chips : make("span", { class: "quiet" }, "none"),
                total > members.length && make("span", { class: "badge" }, `and ${number(total - members.length)} more`))),
        sending(context, place, "to all members", past.reload),
        await attributes(context, place),
        past.element);
}
