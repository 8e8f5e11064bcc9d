// The key with which the console is signed in, and when it is forgotten.

const STORED = "heliograph-key";
/** The key is forgotten after this time without a sign of the user. */
export const IDLE_MS = 15 * 60_000;

/** The key that was kept for the tab; empty when there is none. */
export const storedKey = () => sessionStorage.getItem(STORED) ?? "";

export function storeKey(key) {
    sessionStorage.setItem(STORED, key);
}

export function forgetKey() {
    sessionStorage.removeItem(STORED);
}

/** Calls `end` once nobody has moved or typed for that long; returns how to stop watching. */
export function watchIdleness(end) {
    let lastSign = Date.now();
    const sign = () => { lastSign = Date.now(); };
    const signs = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];
    for (const name of signs) addEventListener(name, sign, { passive: true });
    // A clock instead of one timer, because timers stand still while the machine sleeps.
    const timer = setInterval(() => { if (Date.now() - lastSign >= IDLE_MS) end(); }, 1_000);
    return () => {
        clearInterval(timer);
        for (const name of signs) removeEventListener(name, sign);
    };
}
