// Tables of what the API lists page by page, and the words for what is in them.

import { make, note } from "/pages/dom.js";

/** Columns: `{ name, value(item) -> node or text, kind: "number" | "actions" | "extra" }`. */
export class Table {
    #columns;
    #read;
    #body = make("tbody");
    #count = make("span", { class: "quiet", role: "status" });
    #more;
    #nothing;
    #next = null;
    #total = 0;
    /** The latest request, so that an answer that was overtaken is dropped. */
    #turn = 0;

    /** @param read `async (after) -> { items, next }`; `nothing` is said of a list without items. */
    constructor(title, columns, read, nothing = "Nothing here") {
        this.#nothing = nothing;
        this.#columns = columns;
        this.#read = read;
        this.#more = make("button", { type: "button", onclick: () => this.#load(this.#next) }, "More");
        const heads = columns.map(({ name, kind }) => make("th", { scope: "col", class: kind }, kind === "actions" ? make("span", { class: "unseen" }, name) : name));
        this.element = make(
            "div", { class: "card", hidden: true },
            make("div", { class: "list", tabindex: "0", role: "region", "aria-label": title },
                make("table", {}, make("caption", { class: "unseen" }, title), make("thead", {}, make("tr", {}, heads)), this.#body)),
            make("div", { class: "more" }, this.#count, this.#more));
        this.#more.hidden = true;
    }

    /** Reads the first page again. */
    async reload() {
        await this.#load(null);
    }

    async #load(after) {
        const turn = ++this.#turn;
        this.#more.disabled = true;
        try {
            const { items, next } = await this.#read(after);
            if (turn !== this.#turn) return;
            const rows = items.map((item) => this.#row(item));
            if (after === null) this.#body.replaceChildren(...rows);
            else this.#body.append(...rows);
            this.#total = (after === null ? 0 : this.#total) + rows.length;
            this.#next = next;
            if (this.#total === 0) this.#say(this.#nothing);
            this.#count.textContent = next === null ? `${this.#total} in all` : `the first ${this.#total}`;
            this.#more.hidden = next === null;
            // Shown with its first rows, so that nothing moves.
            this.element.hidden = false;
        } catch (error) {
            if (turn === this.#turn) this.#fail(error);
        } finally {
            this.#more.disabled = false;
        }
    }

    /** What was shown stays; where nothing was, the list says why. */
    #fail(error) {
        note(error.message, true);
        if (this.#total > 0) return;
        this.#say(`Could not be read: ${error.message}`);
        this.#count.textContent = "";
        this.#more.hidden = true;
        this.element.hidden = false;
    }

    #say(text) {
        this.#body.replaceChildren(make("tr", {}, make("td", { colspan: this.#columns.length, class: "empty" }, text)));
    }

    #row(item) {
        return make("tr", {}, this.#columns.map(({ value, kind }) => make("td", { class: kind }, value(item))));
    }
}

export const number = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"));

/** A span of seconds in its two largest units. */
export function span(seconds) {
    if (seconds === null || seconds === undefined) return "–";
    const units = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];
    const rest = Math.max(0, Math.round(seconds));
    const first = Math.max(0, units.findIndex(([, size]) => rest >= size));
    if (rest === 0) return "0 s";
    const [[name, size], second] = [units[first], units[first + 1]];
    const text = `${Math.floor(rest / size)} ${name}`;
    const left = second ? Math.floor((rest % size) / second[1]) : 0;
    return left > 0 ? `${text} ${left} ${second[0]}` : text;
}

/** How long ago a time in Unix seconds was, with the time itself as the title. */
export function since(time) {
    if (time === null || time === undefined) return "–";
    return make("time", { title: new Date(time * 1000).toLocaleString() }, span(Date.now() / 1000 - time));
}

const DAY = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false };

/** A time in Unix seconds. */
export function moment(time) {
    if (time === null || time === undefined) return "–";
    const date = new Date(time * 1000);
    const text = date.toDateString() === new Date().toDateString() ? date.toTimeString().slice(0, 8) : date.toLocaleString("en", DAY);
    return make("time", { datetime: date.toISOString() }, text);
}

const STATES = {
    connected: "good", detached: "warn", offline: "", talking: "good", ringing: "info", inviting: "info", ended: "", "not answered": "warn",
    failing: "bad", late: "warn", delivers: "good", new: "", online: "good", join: "accent", leave: "", gap: "bad", message: "info", attribute: "",
    registered: "good", refused: "bad", unanswered: "bad", unknown: "warn", "not asked for": "",
    asked: "good", "left alone": "bad",
};

/** A state as a badge. */
export const badge = (state) => make("span", { class: `badge dot ${STATES[state] ?? ""}` }, state);
