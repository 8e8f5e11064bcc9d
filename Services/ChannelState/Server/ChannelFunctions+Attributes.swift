internal import ChannelStateLogic
internal import RedisStore
internal import SignalingProtocol

/// Attributes in the cache, and the end of empty channels.
extension ChannelFunctions {
    struct Begun: Equatable {
        var attributesAreCached: Bool
        var members: Int
    }

    /// Counts a change that is about to be committed. To be asked again after loading when nothing is cached.
    /// - Throws: `SignalingError` with reason `rate_limited`.
    func begin(
        _ change: AttributeChange, _ channel: ChannelKey, _ id: CommandID, deadline: Int64
    ) async throws(SignalingError) -> Begun {
        let reply = try await one(
            .function(
                "channel_attribute_begin", tag: KeySpace.tag(channel), .string(id.rawValue), .int64(deadline),
                .string(ChannelAttributeRules.countedName(change))))
        guard let parts = reply.array, parts.count == 2, let cached = parts[0].int, let members = parts[1].int else {
            throw Self.shape
        }
        return Begun(attributesAreCached: cached == 1, members: Int(members))
    }

    /// Tells the cache of a committed change, which publishes it.
    func committed(
        _ change: AttributeChange, version: Int64, by actor: Actor, _ channel: ChannelKey
    ) async throws(SignalingError) -> AttributeSettlement.Answer {
        let (verb, name, value) =
            switch change {
            case .update(let attribute): ("update", attribute.name.rawValue, attribute.value)
            case .delete(let name): ("del", name.rawValue, "")
            case .clear: ("clear", "", "")
            }
        let reply = try await one(
            .function(
                "channel_attributes", tag: KeySpace.tag(channel), .int64(version),
                .string(actor.user.account.rawValue), .int(actor.uid), .string(verb), .string(name), .string(value)))
        guard let answer = reply.string.flatMap(AttributeSettlement.Answer.init) else { throw Self.shape }
        return answer
    }

    /// Puts what PostgreSQL has into the cache; differences to what was cached are published in an account's name.
    /// - Returns: false when a later commit is known: read again.
    func load(
        _ attributes: [Attribute], version: Int64, account: Account, uid: UInt32, _ channel: ChannelKey
    ) async throws(SignalingError) -> Bool {
        let head: [RedisArgument] = [.int64(version), .string(account.rawValue), .int(uid)]
        let pairs = attributes.flatMap { [RedisArgument.string($0.name.rawValue), .string($0.value)] }
        let reply = try await one(
            .function("channel_attributes_load", tag: KeySpace.tag(channel), arguments: head + pairs))
        return reply.int == 1
    }

    enum Expiry: Equatable {
        /// Not yet: look again then (ms).
        case wait(until: Int64)
        /// The channel's time is over.
        case due
        /// Nobody ever joined: only the cache is to be dropped.
        case idle
        /// There is no such channel.
        case none
    }

    func expiry(_ channel: ChannelKey) async throws(SignalingError) -> Expiry {
        let texts = Self.texts(try await one(.function("channel_expiry", tag: KeySpace.tag(channel))))
        switch texts.first {
        case "wait":
            guard texts.count == 2, let until = Int64(texts[1]) else { throw Self.shape }
            return .wait(until: until)
        case "due": return .due
        case "idle": return .idle
        default: return .none
        }
    }

    /// Deletes an empty channel's keys.
    /// - Parameter version: of the attributes after they were cleared; 0 when they were not.
    /// - Returns: false when it has members again.
    func delete(_ channel: ChannelKey, version: Int64) async throws(SignalingError) -> Bool {
        try await one(.function("channel_delete", tag: KeySpace.tag(channel), .int64(version))).int == 1
    }
}
