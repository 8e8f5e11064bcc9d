// What the tests do in a page: users whose every callback is written down.

const users = [];

/** Writes down every call of the object's handlers as [name, ...values]. */
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

/** Logs in; the answer is the user's number. */
function login(appid, account, token, options) {
    const user = { log: [], session: Signal(appid, options).login(account, token) };
    record(user, user.session);
    return users.push(user) - 1;
}

/** Calls a method of the user's session, channel or call; the new channel or call is the user's from then on. */
function act(number, object, method, ...values) {
    const user = users[number];
    const made = user[object][method](...values);
    if (method === "channelJoin") user.channel = record(user, made);
    else if (method.startsWith("channelInviteUser")) user.call = record(user, made);
    else return made;
}

/** The same for methods with a callback last: the values that it gets. */
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
