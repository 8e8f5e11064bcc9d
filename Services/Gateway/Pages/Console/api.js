// The server API as the console uses it. Docs/api.md says what the operations do.

const ANSWER_MS = 15_000;
const RETRY_MS = [1_000, 2_000, 5_000, 10_000];
// A stream has a line every 15 s.
const SILENCE_MS = 40_000;

/** A problem that the API has reported; `status` 0 when there was no answer. */
export class Problem extends Error {
    constructor(status, code, detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }
}

export class API {
    #key;
    /** Called when the key is refused: it was revoked, or has ended. */
    onRefused = () => {};

    constructor(key) {
        this.#key = key;
    }

    /** `get("apps", app, "users")`: each part of the path is escaped. A last object has the parameters. */
    get(...parts) {
        return this.#ask("GET", parts);
    }

    put(body, ...parts) {
        return this.#ask("PUT", parts, body);
    }

    post(body, ...parts) {
        return this.#ask("POST", parts, body);
    }

    delete(...parts) {
        return this.#ask("DELETE", parts);
    }

    /** The metrics of the gateway that answers, as Prometheus' text. */
    async metrics() {
        return (await this.#fetch("GET", "/v1/metrics")).text();
    }

    async #ask(method, parts, body) {
        return (await this.#fetch(method, address(parts), body)).json();
    }

    async #fetch(method, target, body, signal = AbortSignal.timeout(ANSWER_MS), headers = {}) {
        const options = { method, headers: { Authorization: `Bearer ${this.#key}`, ...headers }, signal, cache: "no-store" };
        if (body !== undefined) {
            options.body = JSON.stringify(body);
            options.headers["Content-Type"] = "application/json";
        }
        let answer;
        try {
            answer = await fetch(target, options);
        } catch (error) {
            if (error.name === "AbortError") throw error;
            throw new Problem(0, "unavailable", "the gateway does not answer");
        }
        if (answer.ok) return answer;
        const problem = await answer.json().catch(() => ({}));
        if (answer.status === 401) this.onRefused();
        throw new Problem(answer.status, problem.code ?? "failed", problem.detail ?? `the gateway answered ${answer.status}`);
    }

    /**
     * Follows an app's events until the signal ends it; after a lost connection from where it was.
     * @param {{ event: (event) => void, state: (isOpen: boolean, problem?: Problem) => void }} told
     */
    async follow(app, told, signal) {
        let last;
        for (let attempt = 0; !signal.aborted; attempt += 1) {
            const silence = new AbortController();
            let timer;
            const heard = () => {
                clearTimeout(timer);
                timer = setTimeout(() => silence.abort(), SILENCE_MS);
            };
            try {
                const headers = { Accept: "text/event-stream", ...(last === undefined ? {} : { "Last-Event-ID": last }) };
                heard();
                const either = AbortSignal.any([signal, silence.signal]);
                const answer = await this.#fetch("GET", address(["apps", app, "events"]), undefined, either, headers);
                told.state(true);
                attempt = 0;
                for await (const { id, name, data } of eventsOf(answer.body, heard)) {
                    last = id ?? last;
                    if (data !== "") told.event({ ...JSON.parse(data), event: name });
                }
                // The gateway stops; the next attempt reaches another one, or tells why not.
            } catch (error) {
                if (signal.aborted) return;
                told.state(false, error);
                if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429) return;
            } finally {
                clearTimeout(timer);
            }
            await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], signal);
        }
    }
}

function address(parts) {
    const query = typeof parts.at(-1) === "object" ? parts.at(-1) : {};
    const path = parts.filter((part) => typeof part === "string").map(encodeURIComponent).join("/");
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return `/v1/${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ""}`;
}

function pause(milliseconds, signal) {
    return new Promise((over) => {
        const timer = setTimeout(over, milliseconds);
        signal.addEventListener("abort", () => {
            clearTimeout(timer);
            over();
        }, { once: true });
    });
}

/** The events of a stream, as HTML's "Server-sent events" writes them; also those that only tell where to resume. */
async function* eventsOf(body, heard) {
    let buffer = "";
    let event = { name: "message", data: [] };
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        buffer += value;
        const lines = buffer.split(/\r\n|\n|\r/);
        buffer = lines.pop();
        for (const line of lines) {
            if (line === "") {
                if (event.data.length > 0 || event.id !== undefined) yield { ...event, data: event.data.join("\n") };
                event = { name: "message", data: [] };
                continue;
            }
            const [, field, text] = /^([^:]*):? ?(.*)$/.exec(line);
            if (field === "event") event.name = text;
            if (field === "data") event.data.push(text);
            if (field === "id") event.id = text;
        }
    }
}
