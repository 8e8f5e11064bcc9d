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

    /// Takes a listener; one beyond the bound is at its end at once.
    mutating func add(_ listener: TrackListener) {
        guard all.count < Self.bound else { return listener.continuation.finish() }
        all.append(listener)
    }

    mutating func remove(_ listener: TrackListener) { all.removeAll { $0 === listener } }

    /// Gives the frames that are played next.
    mutating func hear(_ frames: [(uid: UInt32, samples: [Int16])], count: Int) {
        for listener in all {
            guard let frame = frames.first(where: { $0.uid == listener.uid }) else { continue }
            listener.continuation.yield(RemoteFrame(position: position, samples: frame.samples))
        }
        position += Int64(count)
    }

    /// The call is over.
    mutating func end() {
        let last = all
        all = []
        for listener in last { listener.continuation.finish() }
    }
}
