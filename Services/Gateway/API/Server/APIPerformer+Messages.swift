internal import BusProtocol
internal import GatewayAPILogic
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire

/// Messages, one or many at once.
extension APIPerformer {
    func perform(_ act: APIAct.Messages, _ write: BegunWrite?, _ known: BatchResults?) async throws -> Outcome {
        switch act {
        case .send(let message): try await send(message, write)
        case .sendAll(let messages): try await sendAll(messages, write, known)
        }
    }

    private func send(_ message: OutgoingMessage, _ write: BegunWrite?) async throws -> Outcome {
        let outcome = try await send([message], [write?.command])[0]
        return Outcome(Self.member(try outcome.get()))
    }

    /// Sends the messages of a batch, or those of them that an earlier attempt has left.
    private func sendAll(
        _ messages: [OutgoingMessage], _ write: BegunWrite?, _ known: BatchResults?
    ) async throws -> Outcome {
        var results = known ?? BatchResults(count: messages.count)
        let open = results.open
        let outcomes = try await send(open.map { messages[$0] }, open.map { write?.request.command($0) })
        for (index, outcome) in zip(open, outcomes) {
            switch outcome {
            case .success(let accepted): results.set(index, .object([Self.member(accepted)]))
            case .failure(let error): results.set(index, APIProblem(error))
            }
        }
        return Outcome(results.json)
    }

    /// Sends messages of one app.
    /// - Parameter commands: the ids by which repetitions of the messages are recognised.
    private func send(_ messages: [OutgoingMessage], _ commands: [CommandID?]) async throws -> [MessageOutcome] {
        guard let app = messages.first?.app else { return [] }
        // The request's app was looked up when the request came.
        let settings = try await directory.settings(of: app)
        let terms = APIShard.MessageTerms(limits: settings?.limits ?? AppLimits(), events: settings?.messageEvents)
        let outcomes = await shards.next().send(messages, terms) { commands[$0] }
        APIMetrics.shared.messages.increment(by: messages.count)
        return outcomes
    }

    private static func member(_ accepted: MessageAccepted) -> JSONMember {
        switch accepted {
        case .user(let version): JSONMember("version", version)
        case .channel(let id): JSONMember("id", id)
        }
    }
}
