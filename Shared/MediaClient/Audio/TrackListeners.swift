/// Somebody who is given the frames of one user.
final class TrackListener: Sendable {
    let uid: UInt32
    let continuation: AsyncStream<RemoteFrame>.Continuation

    init(uid: UInt32, _ continuation: AsyncStream<RemoteFrame>.Continuation) {
        self.uid = uid
        self.continuation = continuation
    }
}

/// Those who are given the frames of single users.
struct TrackListeners {
    /// The most listeners of a call.
    static let bound = 100
    /// The most frames that wait for a listener: a second.
    static let frameBound = 50

    private var all: [TrackListener] = []
    /// The samples that were played so far.
    private var position: Int64 = 0

    var count: Int { all.count }

    /// Takes a listener; one beyond the bound is at its end at once.
    mutating func add(_ listener: TrackListener) {
        guard all.count < Self.bound else { return listener.continuation.finish() }
        all.append(listener)
    }

    mutating func remove(_ listener: TrackListener) { all.removeAll { $0 === listener } }

    /// Gives the frames that the mix consists of; they are not copied.
    mutating func hear(_ mix: IncomingAudio.Mix) {
        for listener in all {
            // Somebody who changes slots is in two for a moment.
            guard let voice = mix.voices.first(where: { $0.uid == listener.uid }) else { continue }
            listener.continuation.yield(RemoteFrame(position: position, samples: voice.samples))
        }
        position += Int64(mix.samples.count)
    }

    /// The call is over.
    mutating func end() {
        for listener in all { listener.continuation.finish() }
        all = []
    }
}
