// What the console and the playground have in common. Text reaches the page as text nodes only, never as markup.

/** An element: `make("button", { class: "main", onclick }, "Send")`. Names with "on" are listeners, others attributes. */
export function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (key === "value") element.value = value;
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
    return element;
}

export const find = (selector, within = document) => within.querySelector(selector);

/** The time of day of a Date, to the second. */
export const clock = (date) => date.toTimeString().slice(0, 8);

/** A label with its control. */
export function field(text, control) {
    return make("label", {}, text, control);
}

let noteTimer;

/** Says something at the page's foot, and to screen readers. */
export function note(text, isBad = false) {
    const place = find("#note");
    clearTimeout(noteTimer);
    place.className = isBad ? "note bad" : "note";
    place.textContent = text;
    noteTimer = setTimeout(() => { place.textContent = ""; }, isBad ? 8_000 : 4_000);
}

/** The tab list's keys: arrows, Home and End move and select. `select` is called with the chosen tab. */
export function makeTabs(list, select) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const choose = (tab, isFocused) => {
        for (const each of tabs) {
            each.setAttribute("aria-selected", String(each === tab));
            each.tabIndex = each === tab ? 0 : -1;
        }
        if (isFocused) tab.focus();
        select(tab);
    };
    for (const tab of tabs) tab.addEventListener("click", () => choose(tab, false));
    list.addEventListener("keydown", (event) => {
        const here = tabs.indexOf(document.activeElement);
        const last = tabs.length - 1;
        const next = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: last }[event.key];
        if (here < 0 || next === undefined) return;
        event.preventDefault();
        choose(tabs[(next + tabs.length) % tabs.length], true);
    });
    return choose;
}

/** Light or dark as the system is, until the button says otherwise; the choice is kept. */
export function startTheme(button) {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = () => localStorage.getItem("heliograph-theme");
    const show = () => {
        const theme = chosen() ?? (system.matches ? "dark" : "light");
        document.documentElement.dataset.theme = theme;
        button.textContent = theme === "dark" ? "Light" : "Dark";
        button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
    };
    button.addEventListener("click", () => {
        localStorage.setItem("heliograph-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
        show();
    });
    system.addEventListener("change", show);
    show();
}
