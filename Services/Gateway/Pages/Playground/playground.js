// The playground's page: its users, the code of the last step, and what goes over the wire.

import { clock, find, make, makeTabs, note, startTheme } from "/pages/dom.js";
import { EXAMPLES, highlighted } from "./examples.js";
import { Person, focusOn } from "./person.js";
import { startWire } from "./wire.js";

const NAMES = ["ada", "bob", "cleo", "dan", "eve", "finn", "gwen", "hugo"];
const PEOPLE_BOUND = 8;
const FRAMES_BOUND = 500;

const people = [];
let language = "browser";
let step;

// Users

const context = {
    app() {
        const app = find("#app").value.trim();
        if (!app) {
            note("Which app? heliographctl app create --open makes one", true);
            find("#app").focus();
        }
        return app;
    },
    step(name, values) {
        // Where another client finds the gateway without discovery, for SDKs that cannot be told an address.
        step = EXAMPLES[name]({ origin: location.origin, gateway: `("${location.hostname}", 8080)`, ...values });
        showCode();
    },
    changed() {
        for (const person of people) person.refresh();
        showAccounts();
    },
    others: (account) => people.map((person) => person.account).filter((other) => other && other !== account),
    remove(person) {
        people.splice(people.indexOf(person), 1);
        person.element.remove();
        context.changed();
        find("#people").focus();
    },
};

function addPerson() {
    if (people.length >= PEOPLE_BOUND) return note(`Up to ${PEOPLE_BOUND} users fit on this page`, true);
    const taken = people.map((person) => person.account);
    const person = new Person(NAMES.find((name) => !taken.includes(name)) ?? "", context);
    people.push(person);
    find("#people").append(person.element);
    context.changed();
    return person;
}

// Code

function showCode() {
    find("#step").textContent = step.title;
    find("#code").replaceChildren(...highlighted(step[language], language));
}

// The wire

const frames = find("#frames");

function isShown(element) {
    const account = find("#wire-user").value;
    return (!account || element.dataset.account === account) && (find("#wire-pings").checked || element.dataset.isPing !== "true");
}

function showFrame({ account, isOut, name, why, value, size }) {
    const body = make("pre", {});
    const details = make(
        "details", { ontoggle: () => { body.textContent = JSON.stringify(value, null, 2); } },
        make("summary", {},
            make("span", { class: "way", role: "img", "aria-label": isOut ? "sent" : "received" }, isOut ? "↑" : "↓"),
            make("span", { class: "who" }, account || "?"), make("span", { class: "what" }, name),
            make("time", {}, clock(new Date())), make("span", { class: "why" }, `${why}, ${size} bytes`)),
        body);
    const element = make("li", { class: isOut ? "out" : "in" }, details);
    element.dataset.account = account;
    element.dataset.isPing = String(name === "ping" || name === "pong");
    element.hidden = !isShown(element);
    frames.prepend(element);
    while (frames.childElementCount > FRAMES_BOUND) frames.lastElementChild.remove();
}

function filterFrames() {
    for (const element of frames.children) element.hidden = !isShown(element);
}

function showAccounts() {
    const chosen = find("#wire-user").value;
    const accounts = context.others("");
    find("#wire-user").replaceChildren(
        make("option", { value: "" }, "all users"), ...accounts.map((account) => make("option", { value: account }, account)));
    find("#wire-user").value = accounts.includes(chosen) ? chosen : "";
}

startWire(showFrame);
startTheme(find("#theme"));
makeTabs(find("#languages"), (tab) => {
    language = tab.dataset.language;
    find("#code-panel").setAttribute("aria-labelledby", tab.id);
    if (step) showCode();
})(find("#tab-browser"), false);
find("#wire-user").addEventListener("change", filterFrames);
find("#wire-pings").addEventListener("change", filterFrames);
find("#wire-clear").addEventListener("click", () => frames.replaceChildren());
find("#setup").addEventListener("submit", (event) => {
    event.preventDefault();
    const person = addPerson();
    if (person) focusOn(person);
});
find("#app").value = new URLSearchParams(location.search).get("app") ?? sessionStorage.getItem("heliograph-app") ?? "";
find("#app").addEventListener("change", ({ target }) => sessionStorage.setItem("heliograph-app", target.value.trim()));
addPerson();
addPerson();
context.step("login", { app: find("#app").value || "APP", account: "ada", token: "_no_need_token" });
// Shown when it is whole, so that nothing moves.
find("main").hidden = false;
globalThis.isReady = true;
