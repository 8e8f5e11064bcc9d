internal import ServiceMetrics
internal import SignalingProtocol

/// What a media node counts, besides commands and queries.
struct MediaMetrics: Sendable {
    /// The metrics of this process.
    static let shared = MediaMetrics()

    // Of the commands.
    let joins = Counter("heliograph_media_joins_total", "Joins that were answered with a path.")
    let refused = CounterSet<MediaRefusal>(
        "heliograph_media_joins_refused_total", "Joins that were refused, by reason.", label: "reason")
    let pathsFailed = Counter(
        "heliograph_media_paths_failed_total", "Joins that were refused because the loop did not open their path.")
    let events = Counter(
        "heliograph_media_events_total", "Publications of events in media channels, one for each gateway concerned.")
    let eventsLost = Counter(
        "heliograph_media_events_lost_total",
        "Publications that Redis did not take, or beyond the 20,000 that may wait; clients see the gap.")

    // Of the loop.
    let participants = Gauge("heliograph_media_participants", "Participants of this node.")
    let channels = Gauge("heliograph_media_channels", "Channels of this node.")
    let packets = CounterSet<MediaDirection>(
        "heliograph_media_packets_total", "Datagrams that the node has received and sent.", label: "direction")
    let bytes = CounterSet<MediaDirection>(
        "heliograph_media_bytes_total", "Bytes of these datagrams.", label: "direction")
    let dropped = CounterSet<MediaDrop>(
        "heliograph_media_dropped_total", "Datagrams that were not used, or not sent, by reason.", label: "reason")
    let checks = Counter("heliograph_media_checks_total", "Connectivity checks (ICE) that were answered.")
    let checksRefused = Counter(
        "heliograph_media_checks_refused_total", "Connectivity checks that were answered with an error.")
    let handshakes = CounterSet<HandshakeResult>(
        "heliograph_media_handshakes_total", "Handshakes (DTLS) with pages.", label: "result")
    let slotSwitches = Counter(
        "heliograph_media_slot_switches_total", "Times that a receiver's audio slot got another speaker.")
    let happenings = CounterSet<MediaHappening>(
        "heliograph_media_path_changes_total", "What has happened to participants' paths.", label: "change")
    let delay = Histogram(
        "heliograph_media_forwarding_seconds",
        "Time from the arrival of an audio packet in the kernel until it was sent to the last receiver.", .packets)
    let audioExpected = CounterSet<MediaWay>(
        "heliograph_media_audio_expected_total",
        "Packets of audio that should have come to the node (uplink), and that it sent to participants who report "
            + "(downlink).",
        label: "direction")
    let audioLost = CounterSet<MediaWay>(
        "heliograph_media_audio_lost_total",
        """
        Of these, the packets that did not come to the node (uplink), and that participants report as lost, less those of the uplink \
        (downlink).
        """,
        label: "direction")
    let jitter = HistogramSet<MediaWay>(
        "heliograph_media_audio_jitter_seconds",
        "Jitter of audio (RFC 3550), once for each receiver report that the node has sent (uplink) or got (downlink).",
        .packets, label: "direction")
    let ticks = Counter("heliograph_media_ticks_total", "Ticks of the loop, every 10 ms.")
    let lag = Gauge(
        "heliograph_media_loop_lag_seconds",
        "How late ticks of the loop were in the mean, since the metrics were last shown.")
    let lagMost = Gauge("heliograph_media_loop_lag_most_seconds", "How late the latest tick was since the node began.")

    func count(_ answer: RecentJoins.Answer) {
        switch answer {
        case .success: joins.increment()
        case .failure(let refusal): refused.increment(refusal)
        }
    }
}

enum MediaDirection: String, CaseIterable, Sendable {
    case received, sent
}

/// The two ways of audio.
enum MediaWay: String, CaseIterable, Sendable {
    case uplink, downlink
}

enum HandshakeResult: String, CaseIterable, Sendable {
    case done, failed
}
