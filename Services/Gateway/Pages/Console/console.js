// The console's page: signing in and out, the choice of the app, and the views.

import { find, make, note, startTheme } from "/pages/dom.js";
import { API } from "./api.js";
import { eventsView } from "./events.js";
import { bansView, callsView, channelsView, processesView, usersView } from "./lists.js";
import { overviewView } from "./overview.js";
import { forgetKey, storeKey, storedKey, watchIdleness } from "./session.js";
import { auditView, hooksView, trunksView, webhooksView } from "./settings.js";

const VIEWS = {
    overview: overviewView, users: usersView, channels: channelsView, calls: callsView, events: eventsView, bans: bansView,
    webhooks: webhooksView, "before-hooks": hooksView, trunks: trunksView, audit: auditView, processes: processesView,
};
/** Those that only a key of the cluster may see. */
const OF_THE_CLUSTER = ["webhooks", "before-hooks", "trunks", "audit", "processes"];
const APPS_BOUND = 1000;

/** What the views need of the session; null when nobody is signed in. */
let context = null;
let shown = null;
let stopWatching = () => {};

// Signing in and out

async function signIn(key, isKept) {
    const api = new API(key);
    const about = await api.get("key");
    const isCluster = about.app === null;
    const apps = isCluster ? (await api.get("apps", { limit: APPS_BOUND })).apps.map(({ app }) => app) : [about.app];
    if (isKept) storeKey(key);
    api.onRefused = () => signOut("The key is not valid any more.");
    context = { api, isCluster, apps, app: apps[0], may: (scope) => about.scopes.includes(scope) };
    const chosen = sessionStorage.getItem("heliograph-console-app");
    if (apps.includes(chosen)) context.app = chosen;
    find("#app").replaceChildren(...apps.map((app) => make("option", { value: app }, app)));
    find("#app").value = context.app ?? "";
    find("#app").disabled = !isCluster;
    find("#state").textContent = isCluster ? "cluster key" : "key of an app";
    find("#state").className = "badge dot good";
    for (const link of document.querySelectorAll("[data-cluster]")) link.hidden = !isCluster;
    stopWatching = watchIdleness(() => signOut("Signed out after 15 minutes without activity."));
    showInside(true);
    showView();
}

function signOut(reason = "") {
    stopWatching();
    forgetKey();
    shown?.end?.();
    [context, shown] = [null, null];
    find("#panel").close();
    find("#view").replaceChildren();
    find("#key").value = "";
    find("#sign-in-problem").textContent = reason;
    showInside(false);
    find("#key").focus();
}

function showInside(isInside) {
    for (const id of ["inside", "app-choice", "state", "sign-out"]) find(`#${id}`).hidden = !isInside;
    find("#entrance").hidden = isInside;
}

// Views

function showView() {
    if (!context) return;
    const name = location.hash.slice(1);
    const isKnown = Object.hasOwn(VIEWS, name) && (context.isCluster || !OF_THE_CLUSTER.includes(name));
    const chosen = isKnown ? name : "overview";
    shown?.end?.();
    for (const link of find("#views").children) {
        link.removeAttribute("aria-current");
        if (link.hash !== `#${chosen}`) continue;
        link.setAttribute("aria-current", "page");
        // On a phone they do not all fit.
        link.scrollIntoView({ block: "nearest", inline: "center" });
    }
    scrollTo(0, 0);
    if (context.app === undefined) {
        shown = null;
        return find("#view").replaceChildren(make("p", { class: "empty" }, "There is no app yet: heliographctl app create makes one."));
    }
    shown = VIEWS[chosen](context);
    document.title = `${chosen[0].toUpperCase()}${chosen.slice(1)} – Heliograph console`;
    find("#view").replaceChildren(...shown.element);
}

startTheme(find("#theme"));
addEventListener("hashchange", showView);
find("#app").addEventListener("change", ({ target }) => {
    context.app = target.value;
    sessionStorage.setItem("heliograph-console-app", target.value);
    showView();
});
find("#sign-out").addEventListener("click", () => signOut());
find("#sign-in").addEventListener("submit", async (event) => {
    event.preventDefault();
    const [button, problem] = [find("#sign-in button"), find("#sign-in-problem")];
    button.disabled = true;
    problem.textContent = "";
    try {
        await signIn(find("#key").value.trim(), find("#keep").checked);
        find("#key").value = "";
        find("#view").focus({ preventScroll: true });
    } catch (error) {
        problem.textContent = error.status === 401 ? "This key is not valid." : error.message;
    }
    button.disabled = false;
});

const kept = storedKey();
if (kept) {
    await signIn(kept, true).catch((error) => {
        forgetKey();
        showInside(false);
        note(error.message, true);
    });
} else {
    showInside(false);
    find("#key").focus();
}
globalThis.isReady = true;
