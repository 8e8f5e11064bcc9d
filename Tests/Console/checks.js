// What is checked of a page in every state, as axe would: names, roles, references, contrast, sizes, overflow. Returns complaints.

/** The complaints about what the page shows now. */
function complaints() {
    const found = [];
    const complain = (element, what) => {
        const id = element.id ? `#${element.id}` : "";
        found.push(`${element.tagName.toLowerCase()}${id} "${element.textContent.trim().slice(0, 30)}": ${what}`);
    };
    const visible = [...document.body.querySelectorAll("*")].filter(
        (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));

    if (!document.documentElement.lang) found.push("the page has no language");
    if (!document.title) found.push("the page has no title");
    if (visible.filter((element) => element.matches("main")).length !== 1) found.push("the page does not have exactly one main");
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`the id ${id} is given twice`);

    let level = 0;
    for (const element of visible) {
        const role = element.getAttribute("role");
        if (element.matches("input, select, textarea, button, a[href], summary, [role=tab]") && !nameOf(element)) complain(element, "has no name");
        if (element.matches("section, nav, article, form, table, [role=dialog], [role=log], [role=region], [role=group]")
            && !nameOf(element, false) && !element.querySelector("caption")) complain(element, "a region without a name");
        if (element.matches("img") && !element.hasAttribute("alt")) complain(element, "has no alternative text");
        if (element.matches("svg") && element.getAttribute("aria-hidden") !== "true" && !(role === "img" && nameOf(element, false))) {
            complain(element, "is neither hidden nor named");
        }
        for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls", "for"]) {
            for (const id of (element.getAttribute(attribute) ?? "").split(" ").filter(Boolean)) {
                if (!document.getElementById(id)) complain(element, `${attribute} names nothing: ${id}`);
            }
        }
        if (element.tabIndex > 0) complain(element, "has a place of its own in the order of the keyboard");
        if (element.matches("th") && !element.hasAttribute("scope")) complain(element, "has no scope");
        if (role === "tab" && !element.closest("[role=tablist]")) complain(element, "is a tab outside of a list of tabs");
        if (element.hasAttribute("style") && /^\s*$/.test(element.getAttribute("style")) === false && !element.matches("svg *, svg")) {
            complain(element, "has a style of its own");
        }
        const heading = /^H([1-6])$/.exec(element.tagName)?.[1];
        if (heading) {
            if (level && Number(heading) > level + 1) complain(element, `a heading of level ${heading} after one of level ${level}`);
            level = Number(heading);
        }
        if (hasText(element)) checkContrast(element, complain);
        checkSize(element, complain);
    }
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) {
        found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
        for (const element of visible) if (element.getBoundingClientRect().right > width + 1) complain(element, "reaches out of the window");
    }
    return found;
}

/** The accessible name; for regions without the content. */
function nameOf(element, hasContent = true) {
    const labels = (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "");
    const texts = [
        element.getAttribute("aria-label"), labels.join(" "), element.getAttribute("title"), element.getAttribute("alt"),
        ...[...(element.labels ?? [])].map((label) => label.textContent)];
    if (hasContent && element.matches("button, a, summary")) texts.push(element.textContent, element.querySelector("img")?.alt);
    return texts.map((text) => (text ?? "").trim()).find(Boolean) ?? "";
}

const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()) || element.matches("input, select");

/** Text differs from what is behind it by 4.5 to 1, large text by 3 to 1; what is disabled may differ less. */
function checkContrast(element, complain) {
    if (element.closest(":disabled, .unseen, .skip, option, svg, label:has(:disabled)")) return;
    const style = getComputedStyle(element);
    const behind = background(element);
    const over = blend(parse(style.color), behind);
    const [light, dark] = [luminance(over), luminance(behind)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) complain(element, `contrast ${ratio.toFixed(2)}`);
}

/** What can be pressed is at least 24 by 24, unless it is within a text. */
function checkSize(element, complain) {
    if (!element.matches("button, a[href], input, select, summary") || element.matches(".skip, input[type=checkbox]")) return;
    const { width, height } = element.getBoundingClientRect();
    if (width < 24 || height < 24) complain(element, `is ${Math.round(width)} by ${Math.round(height)}`);
}

const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
};

const blend = (over, under) => {
    const mix = (name) => over[name] * over.alpha + under[name] * (1 - over.alpha);
    return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
};

function background(element) {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
        const colour = parse(getComputedStyle(each).backgroundColor);
        layers.push(colour);
        if (colour.alpha === 1) break;
    }
    return layers.reverse().reduce((under, over) => blend(over, under), { red: 255, green: 255, blue: 255, alpha: 1 });
}

function luminance({ red, green, blue }) {
    const [r, g, b] = [red, green, blue].map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// What the browser's policy refused, and what moved without the user's doing.
window.refused = [];
window.shifted = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(`${event.violatedDirective} ${event.blockedURI}`));
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
        // What is new in a log or in a list of the latest moves what is older.
        const nodes = entry.sources.map(({ node }) => node).filter((node) => node?.closest && !node.closest("[data-feed]"));
        if (!entry.hadRecentInput && nodes.length > 0) window.shifted.push([entry.value, nodes.map((node) => node.outerHTML.slice(0, 80))]);
    }
}).observe({ type: "layout-shift", buffered: true });
