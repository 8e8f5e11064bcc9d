// Test code that runs in the page: users all of whose callbacks are recorded.

const users = [];

/** Records every call of the object's handlers in the user's log, as [name, ...values]. */
function record(user, object) {
    for (const name of Object.keys(object).filter((key) => key.startsWith("on"))) {
        object[name] = (...values) => {
            if (name === "onInviteReceived") {
                const [call] = values;
                user.call = record(user, call);
                values = [call.channelName, call.peer, call.extra, call.peerUid];
            }
            user.log.push([name, ...values]);
        };
    }
    return object;
}

/** Logs in. Returns the user's index, for the functions below. */
function login(appid, account, token, options) {
    const user = { log: [], session: Signal(appid, options).login(account, token) };
    record(user, user.session);
    user.firstStatus = user.session.getStatus();
    return users.push(user) - 1;
}

/** Calls a method of the user's session, channel or call. A channel or call that it creates becomes the user's. */
function act(number, object, method, ...values) {
    const user = users[number];
    const made = user[object][method](...values);
    if (method === "channelJoin") user.channel = record(user, made);
    else if (method.startsWith("channelInviteUser")) user.call = record(user, made);
    else return made;
}

/** Calls a method whose last argument is a callback. Resolves to the values that the callback gets. */
function ask(number, object, method, ...values) {
    return new Promise((tell) => users[number][object][method](...values, (...told) => tell(told)));
}

/** Sends numbered texts at a steady rate; `sent` counts those answered well, `failed` keeps the others' codes. */
function stream(number, object, method, values, count, perSecond) {
    const progress = users[number].progress = { sent: 0, failed: [] };
    let next = 0;
    const timer = setInterval(() => {
        users[number][object][method](...values, String(next), (failed, code) => {
            if (failed) progress.failed.push(code);
            else progress.sent++;
        });
        if (++next === count) clearInterval(timer);
    }, 1000 / perSecond);
}
