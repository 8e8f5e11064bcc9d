internal import ClusterBus
internal import ClusterState
internal import GatewayAPILogic
internal import RedisClient
internal import SignalingProtocol

/// The answers to writes with an idempotency key, in Redis, so that every gateway knows them.
struct IdempotencyStore: Sendable {
    /// How long an answer is kept.
    static let lifetime = Duration.seconds(3600)
    /// How long a request may be in progress; longer than any command's deadline.
    private static let patience = Duration.seconds(30)

    let shards: APIShards

    /// What is known of a request.
    enum Known: Sendable {
        /// No answer: it is to be carried out now, and ``answered(_:_:isOpen:)`` or ``forget(_:)`` must follow.
        case fresh(BegunWrite)
        /// A batch of which a part has failed that may be tried again: that part is to be carried out now, as above.
        case partly(BegunWrite, answer: [UInt8])
        /// It was answered so.
        case answered(APIAnswer)
    }

    /// Looks a request up.
    /// - Throws: ``APIProblem``: the key was used for another request, or the request is in progress.
    func begin(_ request: IdempotentRequest) async throws(APIProblem) -> Known {
        let times: [RedisArgument] = [.milliseconds(Self.patience), .milliseconds(Self.lifetime)]
        let words = try await call("api_begin", request, times).array ?? []
        switch words.first?.string {
        case "fresh" where words.count == 2, "partly" where words.count == 3:
            guard let begun = words[1].string.flatMap({ RedisTime(text: $0) }) else { break }
            let write = BegunWrite(request: request, begun: begun.milliseconds / 1000)
            guard words.count == 3 else { return .fresh(write) }
            guard let answer = words[2].bytes else { break }
            return .partly(write, answer: answer)
        case "running":
            var problem = APIProblem(.requestInProgress, "a request with this idempotency key is in progress")
            problem.retryAfter = 1
            throw problem
        case "other":
            throw APIProblem(
                .keyReused, "the idempotency key was used for another request", field: "Idempotency-Key")
        case "done" where words.count == 3:
            guard let status = words[1].string.flatMap({ Int($0) }), let body = words[2].bytes else { break }
            return .answered(APIAnswer(repeating: body, status: status))
        default: break
        }
        throw APIProblem(SignalingError.unreadableAnswer)
    }

    /// Keeps the answer of a request that was begun. Where that fails, the repetition is refused for 30 s and carried
    /// out again afterwards.
    /// - Parameter isOpen: whether a part of it has failed and may be tried again.
    func answered(_ request: IdempotentRequest, _ answer: APIAnswer, isOpen: Bool) async {
        _ = try? await call(
            "api_answered", request,
            [
                .int(answer.status), .string(String(decoding: answer.body, as: UTF8.self)),
                .milliseconds(Self.lifetime), .int(isOpen ? 1 : 0),
            ])
    }

    /// Lets a request that has failed be tried again.
    func forget(_ request: IdempotentRequest) async { _ = try? await call("api_forget", request, []) }

    private func call(
        _ function: String, _ request: IdempotentRequest, _ arguments: [RedisArgument]
    ) async throws(APIProblem) -> RedisValue {
        let tag = KeySpace.apiTag(key: request.key, idempotencyKey: request.name)
        do {
            return try await shards.next().redis.answer(
                to: .function(function, tag: tag, arguments: [.string(request.digest)] + arguments))
        } catch {
            throw APIProblem(error)
        }
    }
}
