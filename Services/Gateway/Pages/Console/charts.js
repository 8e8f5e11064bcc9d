// Small charts of the latest values, as SVG. A screen reader is told the numbers beside them.

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [240, 46];
const LEAST = 12;

function shape(name, properties) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
    return element;
}

function canvas(kind) {
    return shape("svg", { class: `chart ${kind}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
}

/** A line that moves: `push` adds a value, null where there is none. */
export class Sparkline {
    #values = [];
    #bound;

    /** @param bound how many values are shown, the latest at the right */
    constructor(kind = "", bound = 60) {
        this.#bound = bound;
        this.element = canvas(kind);
        this.#draw();
    }

    push(value) {
        this.#values.push(value);
        if (this.#values.length > this.#bound) this.#values.shift();
        this.#draw();
    }

    #draw() {
        const known = this.#values.filter((value) => value !== null);
        const top = Math.max(1e-9, ...known) * 1.15;
        // The first values are drawn wider, so that something can be seen after a minute.
        const shown = Math.min(this.#bound, Math.max(LEAST, this.#values.length));
        const place = (index) => WIDTH - ((this.#values.length - 1 - index) * WIDTH) / (shown - 1);
        const points = this.#values
            .map((value, index) => [place(index), HEIGHT - 1 - ((value ?? 0) / top) * (HEIGHT - 4), value])
            .filter(([, , value]) => value !== null)
            .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
        const base = shape("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 });
        if (points.length < 2) return this.element.replaceChildren(base);
        const [start, end] = [points[0].split(",")[0], points.at(-1).split(",")[0]];
        this.element.replaceChildren(
            shape("polygon", { class: "area", points: `${start},${HEIGHT} ${points.join(" ")} ${end},${HEIGHT}` }), base,
            shape("polyline", { class: "stroke", points: points.join(" ") }));
    }
}

/** Bars from left to right. */
export function bars(values) {
    const element = canvas("bars");
    const top = Math.max(1, ...values);
    const width = WIDTH / Math.max(values.length, 1);
    element.append(
        ...values.map((value, index) => {
            const height = (value / top) * (HEIGHT - 3);
            return shape("rect", {
                class: "bar", x: (index * width + width * 0.14).toFixed(2), y: (HEIGHT - height).toFixed(2),
                width: (width * 0.72).toFixed(2), height: height.toFixed(2),
            });
        }),
        shape("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }));
    return element;
}

/** The metrics of one answer: their sums over all labels, and what histograms say. */
export class Metrics {
    #values = new Map();
    #buckets = new Map();

    /** @param {string} text Prometheus' text format */
    constructor(text) {
        for (const line of text.split("\n")) {
            const match = /^([a-zA-Z_:][\w:]*)(\{.*\})? ([^ ]+)$/.exec(line);
            if (!match) continue;
            const [, name, labels, number] = match;
            this.#values.set(name, (this.#values.get(name) ?? 0) + Number(number));
            const bound = /le="([^"]+)"/.exec(labels ?? "")?.[1];
            if (!bound) continue;
            const buckets = this.#buckets.get(name) ?? new Map();
            this.#buckets.set(name, buckets);
            const key = bound === "+Inf" ? Infinity : Number(bound);
            buckets.set(key, (buckets.get(key) ?? 0) + Number(number));
        }
    }

    value(name) {
        return this.#values.get(name) ?? null;
    }

    /** Per second since an earlier answer of the same process; null when there is none. */
    rate(name, before, seconds) {
        if (!before || this.value(name) === null || seconds <= 0) return null;
        return Math.max(0, (this.value(name) - (before.value(name) ?? 0)) / seconds);
    }

    /** The time within which this share of the events since an earlier answer were done, in seconds; null when there were none. */
    quantile(name, share, before) {
        const [now, then] = [this.#buckets.get(`${name}_bucket`), before?.#buckets.get(`${name}_bucket`)];
        if (!now) return null;
        const counts = [...now].sort(([a], [b]) => a - b).map(([bound, count]) => [bound, count - (then?.get(bound) ?? 0)]);
        const wanted = share * (counts.at(-1)?.[1] ?? 0);
        if (wanted <= 0) return null;
        let [lower, below] = [0, 0];
        for (const [bound, count] of counts) {
            if (count >= wanted) return bound === Infinity ? lower : lower + (bound - lower) * ((wanted - below) / (count - below));
            [lower, below] = [bound, count];
        }
        return lower;
    }
}
