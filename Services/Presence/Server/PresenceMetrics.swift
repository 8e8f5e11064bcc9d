internal import ServiceMetrics

/// What presence counts, besides commands, timers and queries.
struct PresenceMetrics: Sendable {
    /// The metrics of this process.
    static let shared = PresenceMetrics()

    let opened = Counter("heliograph_presence_sessions_opened_total", "Sessions opened by a login.")
    let resumed = Counter("heliograph_presence_sessions_resumed_total", "Sessions resumed on a new connection.")
    let detached = Counter("heliograph_presence_sessions_detached_total", "Sessions that lost their connection.")
    let closed = Counter("heliograph_presence_sessions_closed_total", "Sessions that ended.")
    let forgotten = Counter(
        "heliograph_presence_sessions_forgotten_total", "Sessions ended because only PostgreSQL's copy had them.")
    let gatewaysLost = Counter(
        "heliograph_presence_gateways_lost_total", "Gateways that ended without a shutdown.")
    let listsRefused = Counter(
        "heliograph_presence_lists_refused_total",
        "Lists of the server API that were refused because as many of the app, or of all apps, waited as may.")
    let listsDropped = Counter(
        "heliograph_presence_lists_dropped_total",
        "Lists of the server API that were not read because their turn came after their deadline.")
    let listsEnded = Counter(
        "heliograph_presence_lists_ended_total",
        "Lists of the server API that PostgreSQL ended because they took too long.")
    let attributesRefused = Counter(
        "heliograph_user_attributes_refused_total",
        "Attribute changes refused because the user would have had too many or too large attributes.")
    let bansRefused = Counter(
        "heliograph_presence_bans_refused_total",
        "Bans and revocations refused because the app had as many as it may.")
    let attributeOwnersRefused = Counter(
        "heliograph_user_attribute_owners_refused_total",
        "Attribute changes refused because as many users of the app had attributes as may.")
    let attributesReloaded = Counter(
        "heliograph_user_attributes_reloaded_total",
        "Caches of users' attributes loaded again because PostgreSQL had lost changes that they contained.")
}
