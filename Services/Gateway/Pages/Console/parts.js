// What panels are made of: sections, forms that act, and buttons that ask back.

import { find, make, note } from "/pages/dom.js";

/** Does something, and says how it went. */
export async function attempt(text, act) {
    try {
        await act();
        note(text);
        return true;
    } catch (error) {
        note(error.message, true);
        return false;
    }
}

export const section = (title, ...children) => make("section", { "aria-label": title }, make("h3", {}, title), children);
export const facts = (pairs) => make("dl", { class: "facts" }, pairs.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
export const input = (name, properties = {}) => make("input", { name, spellcheck: "false", autocomplete: "off", ...properties });

/** A form whose button does something; `act` gets the fields' values by name. */
export function acting(name, button, kind, fields, act) {
    const form = make("form", { "aria-label": name, autocomplete: "off" }, fields,
        make("div", { class: "row" }, make("button", { class: kind }, button)));
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const values = Object.fromEntries(new FormData(form));
        find("button", form).disabled = true;
        await act(values, form);
        find("button", form).disabled = false;
    });
    return form;
}

/** A button for what cannot be undone: it asks first, in its own place, and the answer that has the focus is the harmless one. */
export function confirming(name, text, question, act) {
    const group = make("span", { class: "asking", role: "group", "aria-label": name });
    const ask = make("button", {
        type: "button", class: "danger", "aria-label": name,
        onclick() {
            const no = make("button", { type: "button", onclick: back }, "No");
            const yes = make("button", { type: "button", class: "danger", onclick: () => go(yes, no) }, `Yes, ${text.toLowerCase()}`);
            group.replaceChildren(make("span", {}, question), yes, no);
            no.focus();
        },
    }, text);
    const back = () => {
        group.replaceChildren(ask);
        ask.focus();
    };
    const go = async (...buttons) => {
        for (const each of buttons) each.disabled = true;
        await act();
        // What has been deleted is not shown any more.
        if (group.isConnected) back();
    };
    group.append(ask);
    return group;
}
