internal import GatewayLogic
internal import MessageStore
internal import Pacing
internal import ServiceMetrics
internal import SignalingProtocol

/// What a gateway counts. All of it is declared with ``shared``, so that everything is shown from the start.
struct GatewayMetrics: Sendable {
    /// The metrics of this process.
    static let shared = GatewayMetrics()

    // MARK: Connections and logins

    let connections = Gauge("heliograph_gateway_connections", "Connected clients.")
    let sessions = Gauge("heliograph_gateway_sessions", "Sessions of connected clients.")
    let logins = Counter("heliograph_gateway_logins_total", "Logins that opened a session.")
    let resumes = Counter("heliograph_gateway_resumes_total", "Sessions that clients resumed on a new connection.")
    let loginFailures = Counter("heliograph_gateway_login_failures_total", "Logins and resumes that were refused.")
    let loginsLimited = Counter(
        "heliograph_gateway_logins_limited_total",
        "Logins and resumes refused because too many from their address had failed.")
    let refused = Counter(
        "heliograph_gateway_connections_refused_total", "Connections refused because the gateway had too many clients.")
    let timedOut = Counter(
        "heliograph_gateway_idle_clients_total",
        "Clients disconnected because they were silent for too long, or did not log in.")
    let addressRefused = Counter(
        "heliograph_gateway_address_refusals_total",
        "Connections refused because their address had too many, or opened them too fast.")
    let addressBans = Gauge(
        "heliograph_gateway_address_bans", "Networks whose clients are refused, because they are banned.")
    let bannedRefused = Counter(
        "heliograph_gateway_banned_addresses_total",
        "Connections refused or closed because their address is banned.")
    let socketsRefused = Counter(
        "heliograph_gateway_sockets_refused_total",
        "Connections refused because too many handshakes were unfinished.")
    let proxyRefused = Counter(
        "heliograph_gateway_proxy_refusals_total",
        "Connections refused because a required PROXY header was missing or wrong.")
    let appQuestionsRefused = Counter(
        "heliograph_gateway_app_questions_refused_total", "Logins refused because of too many unknown app ids.")
    let certificateReloads = Counter(
        "heliograph_gateway_certificate_reloads_total", "TLS certificates loaded again on SIGHUP.")
    let certificateReloadFailures = Counter(
        "heliograph_gateway_certificate_reload_failures_total",
        "TLS certificates that could not be loaded again; the old one stays in use.")
    let cutOff = Counter(
        "heliograph_gateway_slow_clients_total", "Clients disconnected because they did not read.")
    let violations = Counter(
        "heliograph_gateway_protocol_violations_total", "Clients disconnected because they violated the protocol.")
    let ghosts = Counter(
        "heliograph_gateway_ghost_sessions_total",
        "Sessions that Redis placed at this gateway but that it did not have; they were detached.")
    let lost = Counter(
        "heliograph_gateway_lost_sessions_total",
        "Sessions closed because, according to Redis, they had ended or moved to another gateway.")
    let abandonedResumes = Counter(
        "heliograph_gateway_abandoned_resumes_total",
        "Connections closed for a resume because events of the session's channel could not be read.")

    let loginDuration = Histogram(
        "heliograph_gateway_login_duration_seconds", "Time from a login or resume to its answer, if it succeeds.")

    // MARK: Calls

    let calls = CallDurations()
    let requests = Gauge(
        "heliograph_gateway_pending_requests", "Commands to services that wait for their replies.")
    let loginsWaiting = Gauge(
        "heliograph_gateway_logins_waiting", "Logins and resumes that wait until presence may be asked for them.")
    let detaches = Gauge(
        "heliograph_gateway_detaches_waiting", "Lost connections of which presence has yet to be told.")
    let detachesDropped = Counter(
        "heliograph_gateway_detaches_dropped_total",
        "Failed logins and resumes that presence was not asked to undo, because too many waited for that.")
    let detachedForgotten = Counter(
        "heliograph_gateway_detached_forgotten_total",
        "Sessions without a connection that a loss of Redis' data would end, because too many were to be remembered.")
    let callFailures = Counter("heliograph_gateway_call_failures_total", "Calls answered with an error.")
    let overdue = Counter(
        "heliograph_gateway_calls_overdue_total", "Calls whose deadline passed before their turn came.")
    let limited = Counter(
        "heliograph_gateway_rate_limited_total", "Messages refused because their session sent too many.")
    let channelLimited = Counter(
        "heliograph_gateway_channel_rate_limited_total", "Messages refused because their channel got too many.")
    let actsLimited = Counter(
        "heliograph_gateway_acts_limited_total",
        "Attribute changes and other acts refused because of a session's rate limit.")
    let pollsDelayed = Counter(
        "heliograph_gateway_polls_delayed_total", "Polls answered late because the client polled too often.")
    let pauses = Counter(
        "heliograph_gateway_reading_paused_total",
        "Times that reading from a client stopped because its output or calls were queued.")
    let inputPaced = Counter(
        "heliograph_gateway_input_paced_total",
        "Times that a client's frames had to wait because it sent too many pings or calls that are refused.")
    let specialRefused = Counter(
        "heliograph_gateway_special_channel_refusals_total",
        "Messages to special channels, and joins of closed ones, that were refused.")
    let unsettledJoins = Counter(
        "heliograph_gateway_unsettled_joins_total",
        "Joins without an answer, after which the gateway had to ask in which channel the session is.")

    // MARK: Media

    let participants = Gauge(
        "heliograph_gateway_media_participants",
        "Participants in media channels whose events go to clients of this gateway.")
    let mediaRefusals = CounterSet<MediaRefusal>(
        "heliograph_gateway_media_refusals_total", "Media calls and hellos that were refused.", label: "reason")

    // MARK: Before-hooks

    let hookAnswers = CounterSet<HookOutcome>(
        "heliograph_gateway_hook_answers_total", "Valid answers of apps' servers to before-hooks.", label: "answer")
    let hookFailures = CounterSet<HookFailure>(
        "heliograph_gateway_hook_failures_total",
        "Before-hooks without a valid answer; the app's setting decided what happened.", label: "cause")
    let hookDuration = Histogram(
        "heliograph_gateway_hook_duration_seconds", "Time from asking an app's server to its answer or failure.")
    let hooksUnderWay = Gauge(
        "heliograph_gateway_hooks_pending", "Questions to apps' servers that wait for their answers.")
    let hooksOpen = Gauge(
        "heliograph_gateway_hooks_open",
        "Apps whose circuit breaker is open: questions failed, so the server is not asked for a while.")

    // MARK: Messages and deliveries

    let channels = Gauge("heliograph_gateway_channels", "Channels with members at this gateway.")
    let rings = Gauge(
        "heliograph_gateway_rings",
        "Event loops that send channels' events by io_uring; the others need a system call for each member.")
    let deliveries = Counter("heliograph_gateway_deliveries_total", "Channel events written to members.")
    let deliveryDelay = Histogram(
        "heliograph_gateway_channel_delivery_seconds",
        "Time from storing a channel message to writing it to the members at this gateway, of every 16th write.")
    let outputWaiting = Gauge(
        "heliograph_gateway_output_waiting_bytes", "Bytes queued for clients that read slowly.")
    let outputFull = Counter(
        "heliograph_gateway_output_full_total",
        "Clients disconnected because the queues of all clients together were too long.")
    let mailboxesFull = Counter(
        "heliograph_gateway_mailbox_full_total", "Messages refused because the receiver's mailbox was full.")
    let memoryFull = Counter(
        "heliograph_gateway_memory_full_total", "Messages refused because Redis used more than 80 % of maxmemory.")
    let mailboxResets = Counter(
        "heliograph_gateway_mailbox_resets_total",
        "Mailboxes whose numbers went backwards because Redis came back with older data.")
    let channelResets = Counter(
        "heliograph_gateway_channel_resets_total",
        "Channels whose numbers went backwards because Redis came back with older data.")
    let channelGaps = Counter(
        "heliograph_gateway_channel_gaps_total",
        "Reads of a channel's log in which events were missing: older than the latest 2,000, or lost.")
    let unknownEvents = EventMetrics.shared.unknown

    /// Shows what the shards of this process have to do.
    func show(_ loads: [ShardLoad]) {
        connections.set(loads.reduce(0) { $0 + $1.connections })
        sessions.set(loads.reduce(0) { $0 + $1.sessions })
        channels.set(loads.reduce(0) { $0 + $1.channels })
        participants.set(loads.reduce(0) { $0 + $1.participants })
        outputWaiting.set(loads.reduce(0) { $0 + $1.outputBytes })
        requests.set(loads.reduce(0) { $0 + $1.requests })
        loginsWaiting.set(loads.reduce(0) { $0 + $1.logins })
        detaches.set(loads.reduce(0) { $0 + $1.detaches })
        hooksUnderWay.set(loads.reduce(0) { $0 + $1.hooksUnderWay })
        hooksOpen.set(loads.reduce(0) { $0 + $1.hooksOpen })
        rings.set(loads.reduce(0) { $0 + ($1.hasRing ? 1 : 0) })
    }
}

/// What a shard has to do at a moment.
struct ShardLoad: Sendable, Equatable {
    /// The number of connected clients.
    var connections = 0
    /// The number of their sessions.
    var sessions = 0
    /// The number of channels with members here.
    var channels = 0
    /// The number of participants in media channels.
    var participants = 0
    /// The bytes that are queued for clients.
    var outputBytes = 0
    /// The number of commands to services that wait for their replies.
    var requests = 0
    /// The number of logins and resumes that wait for their turns.
    var logins = 0
    /// The number of lost connections of which presence has yet to be told.
    var detaches = 0
    /// The number of questions to apps' servers that wait for their answers.
    var hooksUnderWay = 0
    /// The number of apps whose breakers are open.
    var hooksOpen = 0
    /// Whether channels' events are sent by io_uring.
    var hasRing = false
}

/// The answers that are counted.
enum HookOutcome: String, CaseIterable, Sendable {
    case allow, deny, rewrite
}

/// The time from the arrival of calls to their answers, by what is called.
struct CallDurations: Sendable {
    let message = duration("message")
    let channelMessage = duration("channel_message")
    let join = duration("join")
    let leave = duration("leave")
    let logout = duration("logout")
    let user = duration("user")
    let channel = duration("channel")
    let invitation = duration("invitation")
    let mediaJoin = duration("media_join")
    /// Resumes and restarts.
    let mediaResume = duration("media_resume")
    let mediaRenew = duration("media_renew")
    let mediaMute = duration("media_mute")
    let mediaLeave = duration("media_leave")

    private static func duration(_ call: String) -> Histogram {
        Histogram(
            "heliograph_gateway_call_duration_seconds",
            "Time from a call's arrival to its answer, by what is called; a message is answered when it is stored.",
            labels: ["call": call])
    }
}

extension Histogram {
    /// Counts the time since a moment.
    func record(since begin: LocalTime) { record(nanoseconds: LocalTime.now.nanoseconds - begin.nanoseconds) }
}
