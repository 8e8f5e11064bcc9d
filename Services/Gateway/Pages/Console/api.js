// The server API as the console uses it. Docs/api.md says what the operations do.

const ANSWER_MS = 15_000;

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

    async #fetch(method, target, body) {
        const signal = AbortSignal.timeout(ANSWER_MS);
        const options = { method, headers: { Authorization: `Bearer ${this.#key}` }, signal, cache: "no-store" };
        if (body !== undefined) {
            options.body = JSON.stringify(body);
            options.headers["Content-Type"] = "application/json";
        }
        let answer;
        try {
            answer = await fetch(target, options);
        } catch {
            throw new Problem(0, "unavailable", "the gateway does not answer");
        }
        if (answer.ok) return answer;
        const problem = await answer.json().catch(() => ({}));
        if (answer.status === 401) this.onRefused();
        throw new Problem(answer.status, problem.code ?? "failed", problem.detail ?? `the gateway answered ${answer.status}`);
    }
}

function address(parts) {
    const query = typeof parts.at(-1) === "object" ? parts.at(-1) : {};
    const path = parts.filter((part) => typeof part === "string").map(encodeURIComponent).join("/");
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return `/v1/${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ""}`;
}
