internal import BusProtocol
internal import ClusterBus
internal import GatewayAPILogic
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// Keys of the server API itself.
extension APIPerformer {
    func perform(_ act: APIAct.Keys, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .create(let new): try await create(new)
        case .revoke(let id): try await revoke(id, write)
        }
    }

    /// The secret is made here, so that only its digest passes through Redis.
    private func create(_ new: NewAPIKey) async throws -> Outcome {
        let text = APIKeyText.random()
        let key = APIKey(
            id: text.id, digest: text.digest, app: new.app, scopes: new.scopes,
            requestsPerSecond: new.requestsPerSecond, expiry: new.seconds.map { WallClock.seconds + Int64($0) })
        let created = try await shards.next().ask(CreateAPIKey(key, note: new.note))
        guard case .object(let members)? = try? JSONValue.parse(created.record.utf8) else {
            throw SignalingError.unreadableAnswer
        }
        return Outcome(.object(members + [JSONMember("key", text.text)]))
    }

    private func revoke(_ id: String, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(RevokeAPIKey(id: id), as: write?.command)
        return Outcome(JSONMember("id", id))
    }
}
