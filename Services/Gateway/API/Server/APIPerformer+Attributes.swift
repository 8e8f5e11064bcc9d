internal import BusProtocol
internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingWire

/// Attributes of users and channels.
extension APIPerformer {
    func perform(_ act: APIAct.Attributes, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .listOfUser(let user): Self.list(try await attributes(of: user))
        case .getOfUser(let user, let name): try Self.find(name, in: try await attributes(of: user))
        case .changeOfUser(let change): try await perform(change, write)
        case .listOfChannel(let channel): Self.list(try await attributes(of: channel))
        case .getOfChannel(let channel, let name): try Self.find(name, in: try await attributes(of: channel))
        case .changeOfChannel(let change): try await perform(change, write)
        }
    }

    private func attributes(of user: UserKey) async throws -> [Attribute] {
        try await shards.next().ask(ListUserAttributes(user: user)).attributes
    }

    private func attributes(of channel: ChannelKey) async throws -> [Attribute] {
        try await shards.next().ask(ListChannelAttributes(channel: channel)).attributes
    }

    private func perform(_ change: ChangeUserAttribute, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(change, as: write?.command)
        return Outcome(Self.attribute(change.name, change.value))
    }

    private func perform(_ change: ChangeChannelAttribute, _ write: BegunWrite?) async throws -> Outcome {
        let limits = try await directory.settings(of: change.channel.app)?.limits ?? AppLimits()
        var change = change
        change.limitPerSecond = limits.channelAttributeChangesPerSecond
        _ = try await shards.next().ask(change, as: write?.command)
        return Outcome(Self.attribute(change.name, change.value))
    }

    private static func list(_ attributes: [Attribute]) -> Outcome {
        let members = attributes.map { JSONMember($0.name.rawValue, $0.value) }
        return Outcome(JSONMember("attributes", .object(members)))
    }

    /// One attribute of a list: the list is read, because an attribute that is not set has an empty value otherwise.
    private static func find(_ name: AttributeName, in attributes: [Attribute]) throws(APIProblem) -> Outcome {
        guard let attribute = attributes.first(where: { $0.name == name }) else {
            throw APIProblem(.notFound, "the attribute is not set")
        }
        let bytes = attributes.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count }
        return Outcome(Self.attribute(name, attribute.value), work: APIWork(bytes: bytes))
    }

    /// - Parameter value: nil when the attribute was deleted.
    private static func attribute(_ name: AttributeName, _ value: String?) -> JSONValue {
        .object([
            JSONMember("name", name.rawValue), JSONMember("value", value),
        ])
    }
}
