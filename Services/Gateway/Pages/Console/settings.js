// The views of what is set for apps, and of who set it: webhooks, before-hooks, trunks and the audit trail. For keys of the cluster.

import { make } from "/pages/dom.js";
import { PAGE, heading, link, refresh, search } from "./lists.js";
import { openPanel } from "./panels.js";
import { facts, section } from "./parts.js";
import { Table, badge, moment, number, since, span } from "./table.js";

/** The server counts no further. */
const COUNTED = 10_000;
/** A receiver that works has its events within seconds. */
const LATE_SECONDS = 60;

/** How a webhook is doing, in a word. */
function standing({ failingSince, oldestSeconds, deliveredAt }) {
    if (failingSince !== null) return "failing";
    if (oldestSeconds > LATE_SECONDS) return "late";
    return deliveredAt === null ? "new" : "delivers";
}

const counted = (count) => (count >= COUNTED ? `${number(COUNTED)} or more` : number(count));
/** A number, in the colour of the badge `kind` where it should be 0. */
const coloured = (count, kind) => (count > 0 && kind ? make("span", { class: `badge ${kind}` }, counted(count)) : counted(count));
/** How bad it is that events wait: a few always do. */
const WAITING = { failing: "bad", late: "warn" };

/** As operators write it: the app, with the webhook's name where it is not `default`. */
const named = ({ app, name }) => (name === "default" ? app : `${app}/${name}`);

function openWebhook(webhook) {
    openPanel(
        named(webhook),
        section("Webhook", facts([
            ["State", badge(standing(webhook))], ["Receiver", webhook.url], ["Kinds", webhook.kinds.join(", ")],
            ["Delivered", moment(webhook.deliveredAt)],
        ])),
        section("What waits", facts([
            ["Events", counted(webhook.waiting)], ["The oldest for", span(webhook.oldestSeconds)], ["Dead letters", counted(webhook.dead)],
        ])),
        webhook.failingSince !== null && section("Failures", facts([
            ["Since", moment(webhook.failingSince)], ["Requests", number(webhook.failures)], ["Last error", webhook.lastError ?? "–"],
        ])));
}

export function webhooksView({ api }) {
    const table = new Table("Webhooks", [
        { name: "App", value: (webhook) => link(named(webhook), async () => openWebhook(webhook)) },
        { name: "State", value: (webhook) => badge(standing(webhook)) },
        { name: "Failing for", kind: "extra", value: ({ failingSince }) => since(failingSince) },
        { name: "Waiting", kind: "number extra", value: (webhook) => coloured(webhook.waiting, WAITING[standing(webhook)]) },
        { name: "The oldest for", kind: "number extra", value: ({ oldestSeconds }) => span(oldestSeconds) },
        { name: "Dead letters", kind: "number", value: ({ dead }) => coloured(dead, "bad") },
        { name: "Last error", kind: "extra", value: ({ lastError }) => lastError ?? "–" },
        { name: "Receiver", kind: "extra", value: ({ url }) => url },
    ], async (after) => {
        const { webhooks, next } = await api.get("webhooks", { after, limit: PAGE });
        return { items: webhooks, next };
    }, "No app has a webhook: heliographctl webhook set makes one");
    table.reload();
    return { element: [heading("Webhooks", refresh(table)), table.element] };
}

/** Of the servers that it leaves alone, an event loop of a gateway names so many apps' at most: with as many there may be others. */
const NAMED = 16;

/** How a before-hook's server is doing at the gateways, in a word. */
function asking({ app }, gateways) {
    const told = gateways.map(({ openHooks }) => openHooks).filter(Array.isArray);
    if (told.some((apps) => apps.includes(app))) return "left alone";
    return told.length === 0 || told.some((apps) => apps.length >= NAMED) ? "unknown" : "asked";
}

const outcome = ({ failOpen }) => (failOpen ? "goes on" : "refused");

function openHook(hook, gateways) {
    const by = gateways.filter(({ openHooks }) => openHooks?.includes(hook.app));
    openPanel(
        hook.app,
        section("Before-hook", facts([
            ["State", badge(asking(hook, gateways))], ["Server", hook.url], ["Asked about", hook.on.join(", ")],
            ["Deadline", `${number(hook.deadline)} ms`], ["Without an answer", outcome(hook)],
            ["Questions at once", `${number(hook.requests)} of each event loop`],
            ["Beyond that", hook.refuseBusy ? "refused" : outcome(hook)], ["Set", moment(hook.updatedAt)],
        ])),
        by.length > 0 && section("Left alone by", facts(by.map(({ id, host }) => ["Gateway", `${id}, ${host}`]))));
}

export function hooksView({ api }) {
    let gateways = [];
    const table = new Table("Before-hooks", [
        { name: "App", value: (hook) => link(hook.app, async () => openHook(hook, gateways)) },
        { name: "State", value: (hook) => badge(asking(hook, gateways)) },
        { name: "Asked about", kind: "extra", value: ({ on }) => on.join(", ") },
        { name: "Without an answer", kind: "extra", value: outcome },
        { name: "Deadline", kind: "number extra", value: ({ deadline }) => `${number(deadline)} ms` },
        { name: "Server", kind: "extra", value: ({ url }) => url },
    ], async (after) => {
        // Hooks are listed also while the processes cannot be: the states are unknown then.
        const [{ hooks, next }, { processes }] = await Promise.all([
            api.get("hooks", { after, limit: PAGE }), api.get("processes").catch(() => ({ processes: [] }))]);
        gateways = processes.filter(({ kind }) => kind === "gateway");
        return { items: hooks, next };
    }, "No app has a before-hook: heliographctl hook set makes one");
    table.reload();
    return { element: [heading("Before-hooks", refresh(table)), table.element] };
}

/** How a trunk's registration stands, in a word: the worst that a sip-bridge tells. */
function registration({ register, registrations }) {
    if (!register) return "not asked for";
    const states = registrations.map(({ state }) => state);
    return ["refused", "unanswered", "registered"].find((each) => states.includes(each)) ?? "unknown";
}

function openTrunk(trunk) {
    openPanel(
        trunk.app,
        section("Trunk", facts([
            ["Registration", badge(registration(trunk))], ["Peer", peer(trunk)], ["Transport", trunk.transport], ["SRTP", trunk.srtp],
            ["Set", moment(trunk.updatedAt)],
        ])),
        ...trunk.registrations.map(({ bridge, state, status, since, until }) => section(`Sip-bridge ${bridge}`, facts([
            ["State", badge(state)], ["SIP status", status ?? "–"], ["Since", moment(since)], ["Until", until === null ? "–" : moment(until)],
        ]))));
}

const peer = ({ host, port }) => make("code", {}, `${host.includes(":") ? `[${host}]` : host}:${port}`);

export function trunksView({ api }) {
    const table = new Table("Trunks", [
        { name: "App", value: (trunk) => link(trunk.app, async () => openTrunk(trunk)) },
        { name: "Registration", value: (trunk) => badge(registration(trunk)) },
        { name: "Peer", value: peer },
        { name: "Transport", kind: "extra", value: ({ transport }) => transport },
        { name: "SRTP", kind: "extra", value: ({ srtp }) => srtp },
        { name: "Set", kind: "extra", value: ({ updatedAt }) => moment(updatedAt) },
    ], async (after) => {
        const { trunks, next } = await api.get("trunks", { after, limit: PAGE });
        return { items: trunks, next };
    }, "No app has a trunk: heliographctl trunk set makes one");
    table.reload();
    return { element: [heading("Trunks", refresh(table)), table.element] };
}

const who = ({ by, name }) => `${by} ${name ?? "unknown"}`;

function openEntry(entry) {
    const details = Object.entries(entry.details).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
    openPanel(
        entry.act,
        section("What", facts([
            ["At", new Date(entry.at * 1000).toLocaleString()], ["App", entry.app ?? "–"], ["To", entry.subject ?? "–"], ["By", who(entry)],
        ])),
        details.length > 0 && section("Details", facts(details)),
        (entry.requestId || entry.traceId) && section("Request", facts([["Id", entry.requestId ?? "–"], ["Trace", entry.traceId ?? "–"]])));
}

export function auditView({ api, apps }) {
    const table = new Table("Audit", [
        { name: "At", value: ({ at }) => moment(at) },
        { name: "Act", value: (entry) => link(entry.act, async () => openEntry(entry)) },
        { name: "App", kind: "extra", value: ({ app }) => app ?? "–" },
        { name: "To", value: ({ subject }) => subject ?? "–" },
        { name: "By", kind: "extra", value: who },
        { name: "Details", kind: "extra", value: ({ details }) => (Object.keys(details).length > 0 ? JSON.stringify(details) : "–") },
    ], async (after) => {
        const { entries, next } = await api.get("audit", { app: app.control.value.trim(), after, limit: PAGE });
        return { items: entries, next };
    });
    // A removed app's entries stay, so that apps which are not in the list can be asked for.
    const app = search("App", "all apps, or the id of one", () => table.reload());
    app.control.setAttribute("list", "audit-apps");
    const known = make("datalist", { id: "audit-apps" }, apps.map((name) => make("option", { value: name })));
    table.reload();
    return { element: [heading("Audit", app.element, known, refresh(table)), table.element] };
}
