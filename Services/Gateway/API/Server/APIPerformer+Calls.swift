internal import BusProtocol
internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// Calls, in which the app's server acts in the name of an account.
extension APIPerformer {
    func perform(_ act: APIAct.Calls, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .start(let invitation): try await start(invitation, write)
        case .act(let call, let verb, let extra): try await perform(verb, in: call, extra: extra, write)
        }
    }

    private func start(_ invitation: CallAct, _ write: BegunWrite?) async throws -> Outcome {
        // The invitation's id becomes the call's.
        let id = write?.command ?? CommandID("api-\(SecureRandom.hex(bytes: 16))")
        _ = try await shards.next().ask(invitation, as: id)
        return Outcome(JSONMember("call", id.rawValue))
    }

    private func perform(
        _ verb: CallVerb, in call: FindCall, extra: String, _ write: BegunWrite?
    ) async throws -> Outcome {
        let shard = shards.next()
        let found = try await shard.ask(call)
        let actor = Actor(user: call.user, uid: 0, session: .server)
        var act = CallAct(
            verb: verb, actor: actor, channel: found.channel, peer: found.peer.rawValue, extra: extra)
        act.call = call.call
        _ = try await shard.ask(act, as: write?.command)
        return Outcome(JSONMember("call", call.call))
    }
}
