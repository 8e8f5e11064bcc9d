// The live tail of an app's events.

import { clock, field, make } from "/pages/dom.js";
import { openChannel, openUser } from "./panels.js";
import { badge } from "./table.js";

const ROWS_BOUND = 500;
const KINDS = ["online", "offline", "join", "leave"];
const REASONS = { 600: "ended", 601: "kicked", 602: "left", 603: "logged out", 604: "connection lost" };

export function eventsView(context) {
    const { api, app } = context;
    const over = new AbortController();
    const list = make("ol", { class: "tail card", tabindex: "0", "aria-label": "Events, newest first", "data-feed": true });
    const empty = make("li", {}, make("span", { class: "quiet" }, "waiting for events"));
    list.append(empty);
    const filter = make("input", { type: "search", placeholder: "account or channel", spellcheck: "false", autocomplete: "off", oninput: () => show() });
    const boxes = KINDS.map((kind) => make("input", { type: "checkbox", value: kind, checked: true, onchange: () => show() }));
    const state = make("span", { class: "badge dot info", role: "status" }, "connecting");
    let isHeld = false;
    const held = [];
    const hold = make("button", {
        type: "button", "aria-pressed": "false",
        onclick: () => {
            isHeld = !isHeld;
            hold.setAttribute("aria-pressed", String(isHeld));
            hold.textContent = isHeld ? "Go on" : "Hold";
            if (!isHeld) for (const event of held.splice(0)) add(event);
        },
    }, "Hold");

    const isShown = (row) => {
        const kinds = boxes.filter((box) => box.checked).map((box) => box.value);
        return (row.dataset.kind === "gap" || kinds.includes(row.dataset.kind)) && row.textContent.toLowerCase().includes(filter.value.toLowerCase());
    };
    const show = () => { for (const row of list.children) if (row !== empty) row.hidden = !isShown(row); };

    const add = (event) => {
        empty.remove();
        const reason = REASONS[event.reason];
        const what = make("span", {},
            event.channel && make("button", { type: "button", class: "name", onclick: () => openChannel(context, event.channel, () => {}) }, event.channel),
            reason && make("span", { class: "quiet" }, event.channel ? ` – ${reason}` : reason));
        const row = event.event === "gap"
            ? make("li", {}, make("time", {}, clock(new Date())), badge("gap"), make("span", {}, "events may be missing here"))
            : make("li", {}, make("time", {}, clock(new Date(event.time * 1000))), badge(event.event),
                make("b", {}, make("button", { type: "button", class: "name", onclick: () => openUser(context, event.account, () => {}) }, event.account)), what);
        row.dataset.kind = event.event;
        row.hidden = !isShown(row);
        list.prepend(row);
        while (list.childElementCount > ROWS_BOUND) list.lastElementChild.remove();
    };

    api.follow(app, {
        event(event) {
            if (!isHeld) return add(event);
            held.push(event);
            if (held.length > ROWS_BOUND) held.shift();
        },
        state(isOpen, problem) {
            state.className = `badge dot ${isOpen ? "good" : "bad"}`;
            state.textContent = isOpen ? "live" : "not connected";
            state.title = problem?.message ?? "";
        },
    }, over.signal);

    const header = make(
        "header", {}, make("h1", {}, "Events"), state,
        boxes.map((box) => make("label", { class: "check" }, box, box.value)), field("Filter", filter), hold,
        make("button", { type: "button", onclick: () => list.replaceChildren(empty) }, "Clear"));
    return { element: [header, list], end: () => over.abort() };
}
