/// What all Sentinels of a URL have answered, before the first connection; no I/O.
package struct SentinelSurvey: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// This is the master, as this Sentinel says.
        case master(NodeAddress, by: NodeAddress)
        /// Ask again; when there is no more time, fail with this.
        case again(RedisError)
        /// Time does not cure it.
        case fail(RedisError)
    }

    private let name: String
    private let sentinels: [NodeAddress]
    private var best: (naming: SentinelReplies.Naming, sentinel: NodeAddress)?
    /// The first answer that time does not cure.
    private var refusal: RedisError?
    private var lastFailure: RedisError?
    private var silent = 0

    package init(name: String, sentinels: [NodeAddress]) {
        self.name = name
        self.sentinels = sentinels
    }

    /// A Sentinel has answered or failed.
    package mutating func add(_ answer: Result<[RedisValue], RedisError>, of sentinel: NodeAddress) {
        do throws(RedisError) {
            let naming = try SentinelReplies.naming(try answer.get(), name: name)
            if best.map({ $0.naming.epoch < naming.epoch }) ?? true { best = (naming, sentinel) }
        } catch {
            lastFailure = error
            if let error = SentinelReplies.refusal(error, sentinel: sentinel, name: name) {
                refusal = refusal ?? error
            } else if error.isLocal {
                silent += 1
            }
        }
    }

    /// How many Sentinels watch the master that the URL does not name.
    package var unnamed: Int { max(0, (best?.naming.sentinels ?? 0) - sentinels.count) }

    /// To be asked when all have answered or failed. One that knows the master suffices.
    package var verdict: Verdict {
        if let best { return .master(best.naming.master, by: best.sentinel) }
        if let refusal { return .fail(refusal) }
        let list = sentinels.map(\.description).joined(separator: ", ")
        let why = lastFailure ?? .timeout
        return .again(
            silent == sentinels.count
                ? RedisError(code: why.code, message: "no Sentinel of \(list) can be reached: \(why.message)") : why)
    }
}
