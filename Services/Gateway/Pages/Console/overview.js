// The view of live numbers: what the app has, and how the gateway that answers is doing.

import { make } from "/pages/dom.js";
import { Metrics, Sparkline, bars } from "./charts.js";
import { Table, number, span } from "./table.js";

const PAUSE_MS = 5_000;
const DAYS = 30;

/** A number with its chart. */
function tile(title, about, kind = "") {
    const value = make("p", { class: "number" }, "–");
    const remark = make("p", { class: "about" }, about);
    const chart = new Sparkline(kind);
    return {
        element: make("article", { class: "card tile", "aria-label": title }, make("h2", {}, title), value, remark, chart.element),
        /** Shows a value, or that there is none. */
        show(text, point, unit = "") {
            value.replaceChildren(text, unit && make("small", {}, ` ${unit}`));
            chart.push(point);
        },
        say(text) {
            remark.textContent = text;
        },
    };
}

const perSecond = (rate) => (rate === null ? "–" : rate >= 100 ? number(rate) : rate.toFixed(1));
const milliseconds = (seconds) => (seconds === null ? "–" : (seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0));
const mebibytes = (bytes) => (bytes === null ? "–" : number(bytes / 1_048_576));

/** The gateways that run, whichever of them answers. */
function allGateways(api) {
    let found = { gateways: [], time: 0 };
    const table = new Table("All gateways", [
        { name: "Gateway", value: ({ id }) => make("code", {}, id) },
        { name: "Version", value: ({ version }) => version },
        { name: "Runs for", kind: "number", value: ({ since: begun }) => span(found.time - begun) },
        { name: "Connections", kind: "number", value: ({ connections }) => number(connections) },
        { name: "Host", kind: "extra", value: ({ host }) => host },
    ], async () => ({ items: found.gateways, next: null }));
    const title = make("h2", { hidden: true });
    return {
        title, element: table.element,
        async read() {
            const { processes, time } = await api.get("processes");
            found = { gateways: processes.filter(({ kind }) => kind === "gateway"), time };
        },
        async show() {
            const connections = found.gateways.reduce((sum, gateway) => sum + (gateway.connections ?? 0), 0);
            title.textContent = `All gateways: ${number(connections)} connections`;
            title.hidden = false;
            await table.reload();
        },
    };
}

/** The servers of Redis and PostgreSQL. */
function allStores(api) {
    let found = { redis: [], postgres: [], postgresProblem: null };
    const state = ({ answers, problem }) => (answers ? "answers" : make("span", { class: "badge bad" }, problem ?? "does not answer"));
    const of = (used, most) => (used === null ? "–" : most === null ? used : `${used} of ${most}`);
    const redis = new Table("Redis", [
        { name: "Redis", value: ({ server }) => make("code", {}, server) },
        { name: "State", value: state },
        { name: "Memory (MiB)", kind: "number", value: ({ usedBytes, maxBytes }) => of(mebibytes(usedBytes), maxBytes && mebibytes(maxBytes)) },
        { name: "Clients", kind: "number", value: ({ clients }) => number(clients) },
        { name: "Replicas", kind: "number", value: ({ replicas }) => number(replicas) },
        { name: "Version", kind: "extra", value: ({ version }) => version ?? "–" },
    ], async () => ({ items: found.redis, next: null }));
    const postgres = new Table("PostgreSQL", [
        { name: "PostgreSQL", value: ({ server }) => make("code", {}, server) },
        { name: "State", value: (each) => (each.answers ? each.role : state(each)) },
        { name: "Connections", kind: "number", value: ({ connections, maxConnections }) => of(connections, maxConnections) },
        { name: "Standbys", kind: "number", value: ({ standbys }) => number(standbys) },
        { name: "Behind (MiB)", kind: "number", value: ({ lagBytes }) => mebibytes(lagBytes) },
        { name: "Version", kind: "extra", value: ({ version }) => version ?? "–" },
    ], async () => {
        if (found.postgresProblem !== null) throw new Error(found.postgresProblem);
        return { items: found.postgres, next: null };
    });
    const title = make("h2", { hidden: true }, "Stores");
    return {
        elements: [title, redis.element, postgres.element],
        async read() {
            found = await api.get("stores");
        },
        async show() {
            title.hidden = false;
            await Promise.all([redis.reload(), postgres.reload()]);
        },
    };
}

export function overviewView(context) {
    const { api, app, isCluster } = context;
    const own = {
        online: tile("Users online", "of the app"), channels: tile("Channels", "with members or attributes"),
        members: tile("Members", "of all channels together"), calls: tile("Calls", "in the last day"),
    };
    const gateway = {
        connections: tile("Connections", "clients of this gateway", "calm"),
        logins: tile("Logins", "with resumes", "calm"),
        calls: tile("Calls of functions", "messages, joins, attributes…", "calm"),
        deliveries: tile("Deliveries", "events written to members", "calm"),
        latency: tile("Answer time", "95 % of calls within", "calm"),
        login: tile("Login time", "95 % of logins within", "calm"),
        delivery: tile("Delivery time", "95 % of messages within", "calm"),
        backlog: tile("Commands waiting", "for services and Redis", "calm"),
        redis: tile("Redis", "connections", "calm"),
        errors: tile("Failures", "calls, logins, API requests", "alarm"),
        api: tile("Server API", "requests", "calm"),
        memory: tile("Memory", "of the gateway process", "calm"),
    };
    const all = allGateways(api);
    const stores = allStores(api);
    const days = make("section", { class: "card block", "aria-label": "Logins by day" }, make("h2", {}, "Logins by day"));
    const elements = (group) => Object.values(group).map(({ element }) => element);
    const problem = make("p", { class: "problem", role: "alert" });
    const stamp = make("span", { class: "quiet small" });
    let before = null;
    let beforeAt = 0;
    let timer;
    let isOver = false;

    async function showApp() {
        const usage = await api.get("apps", app, "usage", { days: DAYS });
        own.online.show(number(usage.online), usage.online, `of ${number(usage.users)}`);
        own.channels.show(number(usage.channels), usage.channels);
        own.members.show(number(usage.members), usage.members);
        own.calls.show(number(usage.callsLastDay), usage.callsLastDay);
        own.calls.say(usage.phoneNumbers > 0 ? `in the last day; ${usage.phoneNumbers} telephone numbers` : "in the last day");
        showDays(usage.days);
    }

    function showDays(logins) {
        const counts = new Map(logins.map(({ day, logins: count }) => [day, count]));
        const dates = Array.from({ length: DAYS }, (_, index) => new Date(Date.now() - (DAYS - 1 - index) * 86_400_000).toISOString().slice(0, 10));
        const values = dates.map((day) => counts.get(day) ?? 0);
        const chart = bars(values);
        chart.classList.add("bars");
        days.replaceChildren(
            make("h2", {}, "Logins by day"), chart,
            make("p", { class: "axis" }, make("span", {}, dates[0]), make("span", {}, `today ${number(values.at(-1))}, in all ${number(values.reduce((a, b) => a + b, 0))}`), make("span", {}, dates.at(-1))));
    }

    async function showGateway() {
        const now = new Metrics(await api.metrics());
        const at = performance.now();
        // Behind a load balancer the next answer may be another gateway's; its counters are not compared with this one's.
        const isSame = before?.value("process_start_time_seconds") === now.value("process_start_time_seconds");
        const earlier = isSame ? before : null;
        const seconds = (at - beforeAt) / 1000;
        const rate = (...names) => {
            const rates = names.map((name) => now.rate(`heliograph_${name}`, earlier, seconds));
            return rates.includes(null) ? null : rates.reduce((a, b) => a + b, 0);
        };
        const within = (name) => now.quantile(`heliograph_${name}`, 0.95, earlier);
        const shown = (card, value, text, unit) => card.show(text(value), value, value === null ? "" : unit);
        const gauge = (name) => now.value(`heliograph_${name}`);
        shown(gateway.connections, gauge("gateway_connections"), number);
        shown(gateway.logins, rate("gateway_logins_total", "gateway_resumes_total"), perSecond, "/s");
        shown(gateway.calls, rate("gateway_call_duration_seconds_count"), perSecond, "/s");
        shown(gateway.deliveries, rate("gateway_deliveries_total"), perSecond, "/s");
        shown(gateway.latency, within("gateway_call_duration_seconds"), milliseconds, "ms");
        shown(gateway.login, within("gateway_login_duration_seconds"), milliseconds, "ms");
        shown(gateway.delivery, within("gateway_channel_delivery_seconds"), milliseconds, "ms");
        shown(gateway.backlog, gauge("gateway_pending_requests") + gauge("redis_pending_commands"), number);
        const lost = gauge("redis_connections_lost_total");
        gateway.redis.show(gauge("redis_connected") > 0 ? "connected" : "lost", gauge("redis_pending_commands"));
        gateway.redis.say(lost > 0 ? `connections lost: ${number(lost)}` : "commands that wait");
        shown(gateway.errors, rate("gateway_call_failures_total", "gateway_login_failures_total", "gateway_api_failures_total"), perSecond, "/s");
        shown(gateway.api, rate("gateway_api_requests_total"), perSecond, "/s");
        shown(gateway.memory, now.value("process_resident_memory_bytes"), mebibytes, "MiB");
        [before, beforeAt] = [now, at];
    }

    async function turn() {
        // Nobody looks at a hidden page.
        if (!document.hidden) {
            // Each part shows what it has found: which of them cannot be read says what is wrong.
            const parts = [showApp(), ...(isCluster ? [showGateway(), all.read(), stores.read()] : [])];
            const read = await Promise.allSettled(parts);
            const isRead = (index) => read[index]?.status === "fulfilled";
            // Below all else, so that nothing moves when they are shown.
            await Promise.all([isRead(2) && all.show(), isRead(3) && stores.show()]);
            const failed = read.find(({ status }) => status === "rejected");
            problem.textContent = failed?.reason.message ?? "";
            if (!failed) stamp.textContent = `at ${new Date().toTimeString().slice(0, 8)}, every ${PAUSE_MS / 1000} s`;
        }
        if (!isOver) timer = setTimeout(turn, PAUSE_MS);
    }

    turn();
    return {
        element: [
            make("header", {}, make("h1", {}, "Overview"), problem, stamp),
            make("div", { class: "tiles four" }, elements(own)),
            isCluster && make("h2", {}, "This gateway"),
            isCluster && make("div", { class: "tiles" }, elements(gateway)),
            days,
            isCluster && all.title,
            isCluster && all.element,
            ...(isCluster ? stores.elements : []),
        ].filter(Boolean),
        end() {
            isOver = true;
            clearTimeout(timer);
        },
    };
}
