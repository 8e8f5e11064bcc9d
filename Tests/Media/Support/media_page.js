// A page that is a participant: it sends what its microphone gives, and keeps the last samples of each slot.

const SLOTS = 6;
// At 48 kHz.
const KEPT_SECONDS = 1.5;
const BITRATE = 96000;

const events = [];
const slots = [];
const states = [];
const waiting = new Map();
let socket, connection, line, me, answeredAfter = 0, connectedAfter = 0, number = 0;

function hello(gateway, app) {
    return new Promise((resolve, reject) => {
        socket = new WebSocket(gateway);
        socket.onopen = () => socket.send(JSON.stringify(["media_hello", { vid: app, device: "test", sdk: "page" }]));
        socket.onclose = () => reject(new Error("closed"));
        socket.onmessage = ({ data }) => {
            const [name, argument] = JSON.parse(data);
            if (name === "media_hello_ret") {
                const [error, text] = argument;
                line = JSON.parse(text).line;
                if (error) reject(new Error(error)); else resolve();
            } else if (name === "call2-ret") {
                const [id, error, text] = argument;
                waiting.get(id)(error ? Promise.reject(new Error(text)) : JSON.parse(text));
                waiting.delete(id);
            } else if (name === "notify" && argument[0] === "media") {
                events.push(argument[1]);
            }
        };
    });
}

function call(name, values) {
    return new Promise((resolve) => {
        waiting.set(++number, resolve);
        socket.send(JSON.stringify(["call2", [name, number, { line, ...values }]]));
    });
}

/** Keeps the samples of a track in a ring, and plays it: what nobody plays is not decoded. */
async function listen(receiver) {
    const slot = { receiver, element: new Audio(), ring: new Float32Array(0), at: 0, count: 0, rate: 0 };
    slots.push(slot);
    slot.element.srcObject = new MediaStream([receiver.track]);
    slot.element.play();
    const reader = new MediaStreamTrackProcessor({ track: receiver.track }).readable.getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const samples = new Float32Array(value.numberOfFrames);
        value.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
        if (slot.rate !== value.sampleRate) {
            slot.rate = value.sampleRate;
            slot.ring = new Float32Array(Math.round(KEPT_SECONDS * slot.rate));
            slot.at = slot.count = 0;
        }
        value.close();
        for (const sample of samples) {
            slot.ring[slot.at] = sample;
            slot.at = (slot.at + 1) % slot.ring.length;
        }
        slot.count += samples.length;
    }
}

/**
 * Joins; media go to the address `through`, [host, port], when there is one. Returns the answer of the gateway, with the offer; the
 * connection may not be there yet.
 */
async function join(gateway, app, values, through) {
    await hello(gateway, app);
    connection = new RTCPeerConnection();
    const stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 } });
    connection.addTransceiver(stream.getAudioTracks()[0], { direction: "sendonly", sendEncodings: [{ maxBitrate: BITRATE }] });
    for (let slot = 0; slot < SLOTS; slot++) listen(connection.addTransceiver("audio", { direction: "recvonly" }).receiver);
    await connection.setLocalDescription();
    const { sdp } = connection.localDescription;
    const asked = performance.now();
    connection.onconnectionstatechange = () => {
        states.push(connection.connectionState);
        if (connection.connectionState === "connected" && !connectedAfter) connectedAfter = performance.now() - asked;
    };
    const answer = await call("media.join", { ...values, kind: "web", offer: sdp });
    answeredAfter = performance.now() - asked;
    const there = through ? answer.answer.replace(/^(a=candidate:.* udp \d+) \S+ \d+/gim, `$1 ${through.join(" ")}`) : answer.answer;
    await connection.setRemoteDescription({ type: "answer", sdp: there });
    me = { channel: values.channel, pid: answer.pid };
    return { ...answer, offer: sdp };
}

/** Calls for the participant. */
function ask(name, values) {
    return call(name, { ...me, ...values });
}

/** Restarts ICE, as after a change of networks: another path to the same slots. Returns the answer of the gateway, with the offer. */
async function restart(secret) {
    connection.restartIce();
    await connection.setLocalDescription();
    const { sdp } = connection.localDescription;
    const answer = await ask("media.restart", { secret, kind: "web", offer: sdp });
    await connection.setRemoteDescription({ type: "answer", sdp: answer.answer });
    return { ...answer, offer: sdp };
}

/** The events of these kinds that came. */
function told(...kinds) {
    return events.filter(({ t }) => kinds.includes(t));
}

/** The slots that somebody speaks in: the speaker, the rate, and the last samples as 16-bit numbers in base64, oldest first. */
function sound() {
    return slots.map(({ receiver, ring, at, count, rate }) => {
        const [speaker] = receiver.getContributingSources().sort((one, other) => other.timestamp - one.timestamp);
        if (!speaker || count < ring.length) return null;
        const samples = new Int16Array(ring.length);
        for (let index = 0; index < ring.length; index++) samples[index] = 32767 * ring[(at + index) % ring.length];
        const bytes = new Uint8Array(samples.buffer);
        let text = "";
        for (let from = 0; from < bytes.length; from += 8192) text += String.fromCharCode(...bytes.subarray(from, from + 8192));
        return { uid: speaker.source, rate, count, pcm: btoa(text) };
    }).filter((slot) => slot);
}

/** What was received and lost in all slots. */
async function counts() {
    let received = 0, lost = 0;
    for (const report of (await connection.getStats()).values()) {
        if (report.type === "inbound-rtp") [received, lost] = [received + report.packetsReceived, lost + report.packetsLost];
    }
    return { received, lost };
}

window.isReady = true;
