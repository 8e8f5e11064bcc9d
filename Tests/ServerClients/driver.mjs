// Lets a test in Python use the client for Node: a line of JSON for each act, a line for its outcome.

import { createInterface } from "node:readline";
import { HeliographError, HeliographServer, isGenuine } from "../../Clients/server-node/heliograph-server.mjs";

const [key, ...urls] = process.argv.slice(2);
const server = new HeliographServer(urls, key, { timeout: 5_000, attempts: 4 });

const acts = {
    call: (operation, ...values) => server[operation](...values),
    async each(operation, ...values) {
        const found = [];
        for await (const record of server.each(operation, ...values)) found.push(record);
        return found;
    },
    async follow(app, count, options) {
        const told = [];
        const stop = new AbortController();
        for await (const event of server.followEvents(app, { ...options, signal: stop.signal })) {
            // The loop must end by itself.
            if (told.push(event) === count) stop.abort();
        }
        return told;
    },
    genuine: (header, body, secret) => isGenuine(header, Buffer.from(body, "base64"), secret),
};

for await (const line of createInterface({ input: process.stdin })) {
    const [act, ...values] = JSON.parse(line);
    let outcome;
    try {
        outcome = { result: await acts[act](...values) };
    } catch (error) {
        if (!(error instanceof HeliographError)) throw error;
        const { status, code, field = null, bound = null, retryAfter = null, requestId = null, message: text } = error;
        outcome = { error: { status, code, field, bound, retryAfter, requestId, text } };
    }
    console.log(JSON.stringify(outcome));
}
