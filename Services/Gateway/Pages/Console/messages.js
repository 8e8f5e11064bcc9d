// Lists that grow in panels: what waits in a user's mailbox, and what has happened in a channel, backwards.

import { find, make } from "/pages/dom.js";
import { attempt, confirming, section } from "./parts.js";
import { badge, moment, number } from "./table.js";

const PAGE = 20;
/** Longer texts are opened by a press. */
const LONG = 240;

/** What a user has written, as text. */
function words(text) {
    const characters = Array.from(text);
    if (characters.length <= LONG) return make("p", { class: "words" }, text);
    return make("details", { class: "words" }, make("summary", {}, `${characters.slice(0, LONG).join("")}…`), make("p", {}, text));
}

/**
 * A section with a list, acts on all of it, and a button for the next page.
 * @param read `async (after) -> { rows, next, end, count }`: `end` is said below the last page, and `count` beside the title
 */
function growing(title, acts, more, read) {
    const list = make("ul", { class: "feed", tabindex: "-1", "aria-label": title });
    const end = make("span", { class: "quiet small", role: "status" });
    const button = make("button", { type: "button", hidden: true, onclick: () => load(next) }, more);
    const element = section(title, acts, list, make("div", { class: "row" }, button, end));
    element.dataset.feed = "";
    let next = null;
    /** The latest request, so that an answer that was overtaken is dropped. */
    let latest = 0;

    async function load(after) {
        const turn = ++latest;
        button.disabled = true;
        try {
            const page = await read(after);
            if (turn !== latest) return;
            if (after === null) list.replaceChildren(...page.rows);
            else list.append(...page.rows);
            next = page.next;
            button.hidden = next === null;
            end.textContent = next === null ? page.end : "";
            if (page.count !== undefined) find("h3", element).textContent = `${title} (${number(page.count)})`;
        } catch (error) {
            // The rest of the panel is of use without the list.
            if (turn === latest) end.textContent = error.message;
        } finally {
            if (turn === latest) button.disabled = false;
        }
    }

    return { element, list, reload: () => load(null) };
}

/** The messages that wait for a user, oldest first; who may can recall one, or all. */
export async function mailbox({ api, app, may }, account) {
    const place = ["apps", app, "users", account, "mailbox"];
    // The button that had the focus is gone, or asks again.
    const again = async () => {
        await waiting.reload();
        waiting.list.focus();
    };
    const recall = ({ version, account: sender }) => confirming(
        `Recall the message of ${sender}`, "Recall", "Recall it?",
        async () => {
            await attempt("The message is recalled", () => api.delete(...place, String(version)));
            await again();
        });
    const row = (message) => make("li", {},
        make("div", { class: "about" }, make("b", {}, message.account), moment(message.time), make("span", {}, "until ", moment(message.expiresAt))),
        words(message.message), may("admin") && recall(message));
    const empty = may("admin") && confirming("Empty the mailbox", "Empty", "Delete all that waits?", async () => {
        await attempt("The mailbox is empty", () => api.delete(...place));
        await again();
    });
    const waiting = growing("Mailbox", empty, "More", async (after) => {
        const { count, messages, next } = await api.get(...place, { after, limit: PAGE });
        if (empty) empty.hidden = count === 0;
        return { rows: messages.map(row), next, count, end: count === 0 ? "nothing waits" : "" };
    });
    await waiting.reload();
    return waiting;
}

const HAPPENED = {
    message: ({ message }) => words(message),
    join: () => false,
    leave: () => false,
    attribute_set: ({ name, value }) => make("p", { class: "words" }, make("code", {}, name), " is ", make("code", {}, value)),
    attribute_deleted: ({ name }) => make("p", { class: "words" }, make("code", {}, name), " is deleted"),
    attributes_cleared: () => make("p", { class: "words" }, "all are deleted"),
};

/** What has happened in a channel, the latest first. */
export async function history({ api, app }, channel, openAccount) {
    const row = (event) => make("li", {},
        make("div", { class: "about" }, badge(event.event.split("_")[0]),
            make("button", { type: "button", class: "name", onclick: () => openAccount(event.account) }, event.account), moment(event.time)),
        HAPPENED[event.event](event));
    const past = growing("History", null, "Older", async (after) => {
        const { events, complete, next } = await api.get("apps", app, "channels", channel, "events", { order: "descending", after, limit: PAGE });
        return { rows: events.map(row), next, end: complete ? "that is all" : "what came before is not kept" };
    });
    await past.reload();
    return past;
}
