// Search, the light and dark theme, the menu of small screens, copying code. The pages can be read without it.
"use strict";
(() => {
    const root = document.currentScript.dataset.root;
    const find = (selector) => document.querySelector(selector);

    // The theme: the system's until a reader chooses.
    find("#ui-theme").addEventListener("click", () => {
        const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
        const next = now === "dark" ? "light" : "dark";
        document.documentElement.dataset.theme = next;
        try { localStorage.setItem("theme", next) } catch { /* Not remembered where pages may not store anything. */ }
    });

    const menu = find("#ui-menu"), navigation = find("#ui-navigation");
    const openMenu = (open) => {
        navigation.classList.toggle("open", open);
        menu.setAttribute("aria-expanded", String(open));
    };
    menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"));
    find("#ui-navigation [aria-current]")?.scrollIntoView({ block: "nearest" });

    for (const figure of document.querySelectorAll("figure[data-copy]")) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "Copy";
        button.addEventListener("click", async () => {
            try {
                await navigator.clipboard.writeText(figure.querySelector("code").textContent);
                button.textContent = "Copied";
            } catch {
                getSelection().selectAllChildren(figure.querySelector("code"));
                button.textContent = "Selected";
            }
        });
        figure.append(button);
    }

    // The section in view is shown in the list of contents.
    const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
    const headings = [...document.querySelectorAll("main :is(h2, h3)[id]")];
    const mark = () => {
        const above = headings.filter((heading) => heading.getBoundingClientRect().top < 120).pop() ?? headings[0];
        for (const [anchor, link] of links) link.classList.toggle("here", anchor === above?.id);
    };
    if (links.size > 0) {
        addEventListener("scroll", mark, { passive: true });
        mark();
    }

    // The search: every word must begin a word of the section; titles count more than text. The index is loaded when it is needed, as
    // a script, because pages opened from a disk may not fetch.
    const input = find("#ui-search"), results = find("#ui-results");
    let index = null, chosen = -1;
    const load = () => {
        if (index) return;
        index = [];
        const script = document.createElement("script");
        script.src = root + "search.js";
        script.onload = () => {
            index = window.searchIndex.map(([page, section, place, text]) =>
                ({ page, section, place, text, lower: [page, section, text].map((part) => part.toLowerCase()) }));
            show();
        };
        document.head.append(script);
    };
    const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
    const begins = (text, word) => {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
            if (at === 0 || !/[a-z0-9]/.test(text[at - 1]) || !/[a-z0-9]/.test(word[0])) return at;
        }
        return -1;
    };
    const score = (entry, words, phrase) => {
        let sum = entry.lower[1] === phrase || (!entry.section && entry.lower[0] === phrase) ? 60 : 0;
        for (const word of words) {
            const [page, section, text] = entry.lower.map((part) => begins(part, word));
            if (page < 0 && section < 0 && text < 0) return 0;
            sum += (section >= 0 ? 20 : 0) + (page >= 0 ? (entry.section ? 4 : 16) : 0);
            if (text >= 0) sum += Math.min(6, entry.lower[2].split(word).length);
        }
        // Decisions tell why, and the table of tests where; most readers look for how.
        return /^(decisions\/|conformance)/.test(entry.place) ? sum * .4 : sum;
    };
    const marked = (text, words) => {
        const pattern = words.map((word) => word.replace(/[^\w]/g, "\\$&")).join("|");
        return escaped(text).replace(new RegExp(`(${pattern})(?![^&]{0,6};)`, "gi"), "<mark>$1</mark>");
    };
    const excerpt = (entry, words) => {
        const first = Math.max(0, Math.min(...words.map((word) => begins(entry.lower[2], word)).filter((at) => at >= 0), entry.text.length));
        const from = first === entry.text.length ? 0 : Math.max(0, first - 50);
        return (from > 0 ? "... " : "") + entry.text.slice(from, from + 150);
    };
    const choose = (number) => {
        const all = [...results.querySelectorAll("a")];
        chosen = all.length ? (number + all.length) % all.length : -1;
        all.forEach((link, place) => link.setAttribute("aria-selected", String(place === chosen)));
        all[chosen]?.scrollIntoView({ block: "nearest" });
        input.setAttribute("aria-activedescendant", chosen >= 0 ? all[chosen].id : "");
    };
    const close = () => {
        results.hidden = true;
        input.setAttribute("aria-expanded", "false");
    };
    const show = () => {
        const phrase = input.value.trim().toLowerCase();
        const words = phrase.split(/\s+/).filter(Boolean);
        if (!words.length) return close();
        const found = index.map((entry) => [score(entry, words, phrase), entry]).filter(([points]) => points > 0)
            .sort((one, other) => other[0] - one[0]).slice(0, 20);
        results.innerHTML = found.length ? found.map(([, entry], place) =>
            `<a id="result${place}" role="option" href="${root}${entry.place}"><b>${marked(entry.section || entry.page, words)}</b>` +
            `${entry.section ? ` <span>&middot; ${escaped(entry.page)}</span>` : ""}<small>${marked(excerpt(entry, words), words)}</small></a>`).join("")
            : `<p>Nothing found.</p>`;
        results.hidden = false;
        input.setAttribute("aria-expanded", "true");
        choose(0);
    };
    input.addEventListener("focus", () => { load(); if (input.value) show() });
    input.addEventListener("input", () => { load(); show() });
    input.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
        } else if (event.key === "Enter") {
            results.querySelectorAll("a")[chosen]?.click();
            close();
        } else if (event.key === "Escape") {
            close();
            input.blur();
        }
    });
    document.addEventListener("click", (event) => { if (!event.target.closest(".search") || event.target.closest("#ui-results a")) close() });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape") openMenu(false);
        if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
            event.preventDefault();
            input.focus();
        }
    });
})();
