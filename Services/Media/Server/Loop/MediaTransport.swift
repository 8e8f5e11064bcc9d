internal import CMediaNode
internal import Glibc

/// What a node needs of its loop: participants' paths come and go.
protocol MediaPaths: Sendable {
    /// Opens a participant's path.
    /// - Parameter replacing: the id of a participant that is closed before.
    /// - Returns: 0, or why not, as `cm_node_add` says it.
    func open(_ settings: cm_participant_settings, replacing: UInt64?) async -> Int32
    /// Begins a path anew, with the participant's slots.
    /// - Returns: 0, or why not, as `cm_node_restart` says it.
    func restart(_ id: UInt64, _ settings: cm_restart_settings) async -> Int32
    /// Lets a participant do no more than that; nothing follows for an unknown id.
    func allow(_ id: UInt64, _ allowed: UInt32) async
    /// What has come from participants; without unknown ones.
    func uplinks(of ids: [UInt64]) async -> [UInt64: MediaUplinkCounts]
    /// Closes a path; nothing follows for an unknown id.
    /// - Returns: what it has carried.
    func close(_ id: UInt64) async -> MediaTraffic
}

/// The paths of all participants: the UDP socket and what C does behind it. Runs on the loop's thread and only calls C,
/// so that no packet waits for it.
actor MediaTransport: MediaPaths {
    /// The port in use.
    nonisolated let port: Int
    /// The SHA-256 of the certificate that pages are told.
    nonisolated let fingerprint: [UInt8]
    nonisolated let events: AsyncStream<MediaTransportEvent>

    private nonisolated let loop: MediaLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Binds the socket and begins to serve it.
    /// - Throws: the system's error.
    init(_ settings: MediaTransportSettings) throws(MediaTransportError) {
        loop = try MediaLoop(settings)
        port = Int(loop.port)
        fingerprint = loop.fingerprint
        events = loop.events
        try loop.start()
    }

    func open(_ settings: cm_participant_settings, replacing: UInt64?) -> Int32 {
        guard let node = loop.node else { return ESHUTDOWN }
        if let replacing { cm_node_remove(node, replacing) }
        var settings = settings
        return cm_node_add(node, &settings)
    }

    func restart(_ id: UInt64, _ settings: cm_restart_settings) -> Int32 {
        guard let node = loop.node else { return ESHUTDOWN }
        var settings = settings
        return cm_node_restart(node, id, &settings)
    }

    func allow(_ id: UInt64, _ allowed: UInt32) {
        if let node = loop.node { cm_node_allow(node, id, allowed) }
    }

    func uplinks(of ids: [UInt64]) -> [UInt64: MediaUplinkCounts] {
        guard let node = loop.node else { return [:] }
        var uplinks: [UInt64: MediaUplinkCounts] = [:]
        var counts = cm_participant_counts()
        for id in ids where cm_node_participant_counts(node, id, &counts) {
            uplinks[id] = MediaUplinkCounts(
                expected: counts.audio_expected, received: counts.audio_received,
                roundTrip: .microseconds(Int64(clamping: counts.round_trip)))
        }
        return uplinks
    }

    func close(_ id: UInt64) -> MediaTraffic {
        guard let node = loop.node else { return MediaTraffic() }
        var counts = cm_participant_counts()
        _ = cm_node_participant_counts(node, id, &counts)
        cm_node_remove(node, id)
        return MediaTraffic(bytesReceived: counts.bytes_received, bytesSent: counts.bytes_sent)
    }

    /// What the node has counted; nil after its end.
    func counts() -> cm_node_counts? {
        guard let node = loop.node else { return nil }
        var counts = cm_node_counts()
        cm_node_counts(node, &counts)
        return counts
    }

    /// Ends the loop after this turn: pages are told goodbye, and the socket is closed.
    func stop() {
        if let node = loop.node { cm_node_stop(node) }
    }
}
