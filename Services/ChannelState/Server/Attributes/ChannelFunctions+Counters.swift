internal import ChannelStateLogic
internal import ClusterState
internal import RedisStore
internal import SignalingProtocol

/// Numbers that the system keeps and tells.
extension ChannelFunctions {
    /// When counters are to be told (Redis clock, ms); those that are off or have nothing new are missing.
    typealias Telling = [ChannelCounter: Int64]

    /// Reads the times of `num` and `total`; 0 stands for never.
    static func telling(_ texts: some Collection<String>) throws(SignalingError) -> Telling {
        let order: [ChannelCounter] = [.members, .total]
        var telling: Telling = [:]
        for (counter, text) in zip(order, texts) {
            guard let due = Int64(text) else { throw .unreadableAnswer }
            if due > 0 { telling[counter] = due }
        }
        return telling
    }

    /// What is still to be told.
    func counters(_ channel: ChannelKey) async throws(SignalingError) -> Telling {
        try Self.telling(try await redis.answer(to: .function("channel_counters", tag: KeySpace.tag(channel))).texts)
    }

    enum Told: Equatable {
        /// The members were told.
        case told
        /// Too early: look again then (ms).
        case wait(until: Int64)
        /// The number is the one told last, the counter is off, or nobody is there.
        case nothing
    }

    /// Tells a counter's number, if there is a new one and it is time.
    func tell(_ counter: ChannelCounter, _ channel: ChannelKey) async throws(SignalingError) -> Told {
        let texts = try await redis.answer(
            to: .function("channel_counter_tell", tag: KeySpace.tag(channel), .string(counter.rawValue))
        ).texts
        switch texts.first {
        case "told": return .told
        case "wait":
            guard texts.count == 2, let until = Int64(texts[1]) else { throw .unreadableAnswer }
            return .wait(until: until)
        default: return .nothing
        }
    }
}
