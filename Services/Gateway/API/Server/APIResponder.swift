internal import BusProtocol
internal import GatewayAPILogic
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire

/// Answers the HTTP requests of the server API: finds the operation, checks the key, the key's rate and the arguments,
/// and performs the act.
struct APIResponder: HTTPResponder {
    /// How long a request's body may take to arrive. Reads with a pause of less than the idle time would otherwise hold
    /// a connection for ever, without a key.
    private static let bodyPatience = TimeAmount.seconds(30)
    /// How long a client may still send after it was told that its body is too large.
    private static let farewell = TimeAmount.seconds(5)

    /// How much of a request's body was read.
    private enum BodyProgress {
        /// Nothing; where it goes depends on the answer.
        case untouched
        /// A part, after which it was too large or broke off.
        case begun
        case read
    }

    /// What is known of a request while it is answered.
    private struct Progress {
        let identity: RequestIdentity
        /// The id of its operation, such as `setBan`; nil before that is known.
        var operation: String?
        /// The id of its key, once that is known to be valid.
        var key: String?
        /// What is left of the key's rate.
        var rate: RequestRate.State?
        var body = BodyProgress.untouched

        init(_ identity: RequestIdentity) { self.identity = identity }
    }

    /// The connection of a request.
    struct Context: InitializableFromSource {
        fileprivate let channel: any Channel

        init(source: ApplicationRequestContextSource) { channel = source.channel }

        fileprivate func close(in time: TimeAmount) -> Scheduled<Void> {
            channel.eventLoop.scheduleTask(in: time) { [channel] in channel.close(promise: nil) }
        }
    }

    private let directory: APIDirectory
    private let performer: APIPerformer
    private let answers: IdempotencyStore
    private let streams: EventStreams
    private let connections: APIConnections
    private let bodies = BodyBudget()
    private let places = ActPlaces()
    private let logger: Logger

    init(
        shards: APIShards, connections: APIConnections, metrics: @escaping @Sendable () async -> String, logger: Logger
    ) {
        self.logger = logger
        directory = APIDirectory(shards: shards)
        performer = APIPerformer(shards: shards, directory: directory, metrics: metrics)
        answers = IdempotencyStore(shards: shards)
        streams = EventStreams(shards: shards, directory: directory)
        self.connections = connections
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        APIMetrics.shared.requests.increment()
        let begin = NIODeadline.now()
        defer { APIMetrics.shared.duration.record(nanoseconds: (NIODeadline.now() - begin).nanoseconds) }
        var progress = Progress(Self.identity(of: request))
        let answer: APIAnswer
        let patience = Self.mayHaveBody(request) ? context.close(in: Self.bodyPatience) : nil
        do throws(APIProblem) {
            answer = try await self.answer(request, context, &progress, patience)
        } catch {
            Self.count(error)
            log(error, progress)
            var problem = error
            problem.requestID = progress.identity.id
            answer = APIAnswer(problem)
        }
        var response = Self.response(answer, progress)
        if let patience {
            let isRead: Bool
            switch progress.body {
            case .read: isRead = true
            case .untouched: isRead = await Self.drop(request.body)
            // What comes after the bound cannot be told from a further request.
            case .begun: isRead = false
            }
            if !isRead {
                response.headers[.connection] = "close"
                _ = context.close(in: Self.farewell)
            }
            patience.cancel()
        }
        return response
    }

    static func mayHaveBody(_ request: Request) -> Bool {
        if let length = request.headers[.contentLength] { return length != "0" }
        return request.headers[.transferEncoding] != nil
    }

    /// Reads a body that nobody needs, so that the next request of the connection can be read.
    /// - Returns: false when it is too large, so that the connection must end.
    private static func drop(_ body: RequestBody) async -> Bool {
        var bytes = 0
        do {
            for try await part in body {
                bytes += part.readableBytes
                guard bytes <= APIOperation.largestBody else { return false }
            }
        } catch {
            return false
        }
        return true
    }

    private func answer(
        _ request: Request, _ context: Context, _ progress: inout Progress, _ patience: Scheduled<Void>?
    ) async throws(APIProblem) -> APIAnswer {
        let target = request.head.path ?? "/"
        var call = try APIRequest(method: request.method.rawValue, target: target)
        call.lastEventID = request.headers[.lastEventID]
        progress.operation = call.operation.id
        if call.operation.isPublic {
            // A stream counts as one of its key's.
            guard case .once(let act) = try call.act(body: nil) else { throw APIDirectory.unauthenticated }
            return APIAnswer(try await performer.perform(act, key: nil, write: nil).json)
        }
        let admission = try await directory.admit(Self.bearer(request), from: connections.key(of: context.channel))
        progress.rate = admission.rate
        progress.key = admission.key.id
        guard admission.isAllowed else { throw APIDirectory.overRate(admission.rate) }
        let key = admission.key
        try await check(call, key)
        let share = try share(of: request, for: call.operation, key)
        defer { withExtendedLifetime(share) {} }
        let body = try await Self.body(of: request, for: call.operation, &progress.body)
        if body != nil { patience?.cancel() }
        let act: APIAct.Once
        switch try call.act(body: body.map { bytes throws(APIProblem) in try Self.json(bytes) }) {
        case .once(let asked): act = asked
        case .follow(let app, let kinds, let after):
            let stream = try await streams.start(app, kinds: kinds, after: after, key: key)
            return follow(stream, key, request, context)
        }
        if act.cost > 1 { progress.rate = try await directory.takeBatch(act.cost, of: key) }
        let write = try Self.write(request, call.operation, target, body, key)
        try await places.enter(key.id)
        defer { places.leave(key.id) }
        return try await perform(act, write, key, &progress)
    }

    /// Sets memory aside for the request's body.
    /// - Throws: ``APIProblem``: it is too large, or too many bodies are in progress.
    private func share(
        of request: Request, for operation: APIOperation, _ key: APIKey
    ) throws(APIProblem) -> BodyBudget.Share? {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > operation.bodyBound { throw Self.tooLarge(operation) }
        guard operation.hasBody else { return nil }
        return try bodies.take(length ?? operation.bodyBound, of: key.id)
    }

    private func follow(
        _ stream: EventStream, _ key: APIKey, _ request: Request, _ context: Context
    ) -> APIAnswer {
        APIAnswer { [streams, directory] writer in
            // Ends with the connection: else its place would be free only when the next line cannot be written.
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await streams.run(stream, key: key) { text in
                    let cost = APIWork(calls: 0).cost(answer: text.utf8.count)
                    if cost > 1 { _ = await directory.charge(cost, to: key) }
                    // Waits while the reader takes nothing: until `APIConnection` ends that.
                    try await writer.write(ByteBuffer(string: text))
                }
            }
            try await writer.finish(nil)
        }
    }

    /// Checks what the key may do, and that the app exists.
    private func check(_ call: APIRequest, _ key: APIKey) async throws(APIProblem) {
        if let scope = call.operation.scope, !key.scopes.contains(scope) {
            throw APIProblem(.forbidden, "the key does not have the scope", bound: scope.rawValue)
        }
        if call.operation.needsClusterKey, key.app != nil {
            throw APIProblem(.forbidden, "the operation needs a key of the cluster", bound: "a cluster key")
        }
        guard let app = try call.app() else { return }
        // Before the app is looked up: a key of another app does not learn which apps there are.
        if let own = key.app, own != app { throw APIProblem(.forbidden, "the key is for another app") }
        guard try await directory.settings(of: app) != nil else {
            throw APIProblem(.notFound, "there is no such app", field: "app")
        }
    }

    private func perform(
        _ act: APIAct.Once, _ request: IdempotentRequest?, _ key: APIKey, _ progress: inout Progress
    ) async throws(APIProblem) -> APIAnswer {
        let performer = self.performer.acting(for: progress.identity.cause(key: key.id))
        guard let request else {
            return await charge(try await performer.perform(act, key: key, write: nil), of: act, to: key, &progress)
        }
        return try await perform(act, request, performer, key, &progress)
    }

    /// Charges a key for what an act has cost, unless that was known before.
    private func charge(
        _ outcome: APIPerformer.Outcome, of act: APIAct.Once, to key: APIKey, _ progress: inout Progress
    ) async -> APIAnswer {
        let answer = APIAnswer(outcome.json)
        let cost = outcome.work.cost(answer: answer.body.count)
        if cost > 1, act.cost == 1 { progress.rate = await directory.charge(cost, to: key) }
        return answer
    }

    private func perform(
        _ act: APIAct.Once, _ request: IdempotentRequest, _ performer: APIPerformer, _ key: APIKey,
        _ progress: inout Progress
    ) async throws(APIProblem) -> APIAnswer {
        let write: BegunWrite
        var known: BatchResults?
        switch try await answers.begin(request) {
        case .answered(let answer): return answer
        case .fresh(let begun): write = begun
        case .partly(let begun, let answer): (write, known) = (begun, BatchResults(answer))
        }
        do {
            let outcome = try await performer.perform(act, key: key, write: write, known: known)
            let answer = await charge(outcome, of: act, to: key, &progress)
            await answers.answered(request, answer, isOpen: BatchResults(answer.body)?.isOpen == true)
            return answer
        } catch {
            if error.code.isPassing {
                await answers.forget(request)
            } else {
                // A repetition is told of the request that was carried out, which the log has.
                var problem = error
                problem.requestID = progress.identity.id
                await answers.answered(request, APIAnswer(problem), isOpen: false)
            }
            throw error
        }
    }

    // MARK: - Requests

    private static func identity(of request: Request) -> RequestIdentity {
        RequestIdentity(
            given: request.headers[.requestID], traceparents: request.headers[values: .traceparent],
            random: SecureRandom.hex(bytes:))
    }

    /// Logs a failure of the cluster. Only for requests with a valid key, whose rate bounds the lines.
    private func log(_ problem: APIProblem, _ progress: Progress) {
        guard problem.code.status >= 500, let operation = progress.operation, let key = progress.key else { return }
        logger.warning(
            "a request of the server API has failed",
            metadata: [
                "operation": "\(operation)",
                "code": "\(problem.code.rawValue)", "error": "\(problem.detail)", "key": "\(key)",
                "request": "\(progress.identity.id)", "trace": "\(progress.identity.trace.trace)",
            ])
    }

    /// The key that the request presents.
    private static func bearer(_ request: Request) -> String? {
        guard let value = request.headers[.authorization], value.count > 7,
            value.prefix(7).lowercased() == "bearer "
        else { return nil }
        return String(value.dropFirst(7))
    }

    /// The body of an operation that has one; others' bodies are not looked at.
    private static func body(
        of request: Request, for operation: APIOperation, _ progress: inout BodyProgress
    ) async throws(APIProblem) -> ByteBuffer? {
        guard operation.hasBody else { return nil }
        let body: ByteBuffer
        do {
            progress = .begun
            body = try await request.body.collect(upTo: operation.bodyBound)
            progress = .read
        } catch is NIOTooManyBytesError {
            throw tooLarge(operation)
        } catch {
            throw APIProblem(.malformed, "the body could not be read")
        }
        // A body that is missing has no type; it is no JSON either.
        guard body.readableBytes == 0 || request.headers[.contentType].map(isJSON) == true else {
            throw APIProblem(
                .unsupportedMediaType, "the body must be JSON", field: "Content-Type", bound: "application/json")
        }
        return body
    }

    private static func tooLarge(_ operation: APIOperation) -> APIProblem {
        APIProblem(
            .bodyTooLarge, "a body may have up to \(operation.bodyBound) bytes here",
            bound: "\(operation.bodyBound) bytes")
    }

    private static func isJSON(_ type: String) -> Bool {
        // What nearly all clients say.
        if type == "application/json" { return true }
        let name = type.prefix { $0 != ";" }.lowercased()
        return name.split(separator: " ").joined() == "application/json"
    }

    private static func json(_ bytes: ByteBuffer) throws(APIProblem) -> JSONValue {
        do {
            return try JSONValue.parse(bytes.readableBytesView)
        } catch {
            throw APIProblem(.malformed, "the body is not JSON")
        }
    }

    private static func write(
        _ request: Request, _ operation: APIOperation, _ target: String, _ body: ByteBuffer?, _ key: APIKey
    ) throws(APIProblem) -> IdempotentRequest? {
        guard operation.isWrite, let name = request.headers[.idempotencyKey] else { return nil }
        let text = body.map { String(buffer: $0) } ?? ""
        return try IdempotentRequest(name, key: key.id, request: "\(request.method.rawValue) \(target)\n\(text)")
    }

    // MARK: - Answers

    private static func count(_ problem: APIProblem) {
        switch problem.code {
        case .unauthenticated: APIMetrics.shared.unauthenticated.increment()
        case .rateLimited: APIMetrics.shared.limited.increment()
        default: break
        }
        if problem.code.status >= 500 {
            APIMetrics.shared.failed.increment()
        } else {
            APIMetrics.shared.refused.increment()
        }
    }

    private static func response(_ answer: APIAnswer, _ progress: Progress) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = answer.contentType
        headers[.cacheControl] = "no-store"
        headers[.contentTypeOptions] = "nosniff"
        headers[.requestID] = progress.identity.id
        headers[.traceparent] = progress.identity.trace.header
        if let rate = progress.rate {
            headers[.rateLimit] = String(rate.limit)
            headers[.rateRemaining] = String(rate.remaining)
            headers[.rateReset] = String(rate.reset)
        }
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: HTTPResponse.Status(code: answer.status), headers: headers,
            body: answer.stream.map { ResponseBody($0) } ?? ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = known("Last-Event-ID")
    fileprivate static let idempotencyKey = known("Idempotency-Key")
    fileprivate static let requestID = known("X-Request-Id")
    fileprivate static let traceparent = known("traceparent")
    fileprivate static let contentTypeOptions = known("X-Content-Type-Options")
    fileprivate static let rateLimit = known("RateLimit-Limit")
    fileprivate static let rateRemaining = known("RateLimit-Remaining")
    fileprivate static let rateReset = known("RateLimit-Reset")

    private static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no header") }
        return name
    }
}
