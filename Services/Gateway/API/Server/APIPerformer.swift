internal import BusProtocol
internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingWire

/// Carries out the acts of the server API. Each group of acts has a file of its own, with a method per act.
struct APIPerformer: Sendable {
    private(set) var shards: APIShards
    let directory: APIDirectory
    /// The metrics of this process, in Prometheus' text format.
    let metrics: @Sendable () async -> String

    init(shards: APIShards, directory: APIDirectory, metrics: @escaping @Sendable () async -> String) {
        self.shards = shards
        self.directory = directory
        self.metrics = metrics
    }

    /// The same, for one request: what it sends to services says so.
    func acting(for cause: CommandCause) -> APIPerformer {
        var performer = self
        performer.shards = shards.acting(for: cause)
        return performer
    }

    /// What was done.
    struct Outcome: Sendable {
        /// What is answered.
        let json: JSONValue
        /// What it has cost besides the answer.
        let work: APIWork

        init(_ json: JSONValue, work: APIWork = APIWork()) {
            self.json = json
            self.work = work
        }

        /// An object is answered.
        init(_ members: JSONMember..., work: APIWork = APIWork()) { self.init(.object(members), work: work) }
    }

    /// Carries out an act.
    /// - Parameters:
    ///   - key: the key of the request; nil where none is needed.
    ///   - write: the request's idempotency key, if it has one.
    ///   - known: the results of an earlier attempt, of which what failed is tried again.
    func perform(
        _ act: APIAct.Once, key: APIKey?, write: BegunWrite?, known: BatchResults? = nil
    ) async throws(APIProblem) -> Outcome {
        do {
            return switch act {
            case .cluster(let act): try await perform(act, key: key, write)
            case .lists(let act): try await perform(act)
            case .messages(let act): try await perform(act, write, known)
            case .calls(let act): try await perform(act, write)
            case .users(let act): try await perform(act, key: key, write)
            case .attributes(let act): try await perform(act, write)
            case .channels(let act): try await perform(act)
            case .moderation(let act): try await perform(act, write)
            case .addressBans(let act): try await perform(act, write)
            case .mailbox(let act): try await perform(act, write)
            case .settings(let act): try await perform(act)
            case .keys(let act): try await perform(act, write)
            }
        } catch let error as SignalingError {
            throw APIProblem(error)
        } catch let problem as APIProblem {
            throw problem
        } catch {
            throw APIProblem(.failed, "the request was interrupted")
        }
    }

    // MARK: - Parts of answers

    static func account(_ account: Account) -> JSONMember { JSONMember("account", account.rawValue) }
}

extension BegunWrite {
    /// The id by which repetitions of its only command are recognised.
    var command: CommandID { request.command(0) }
}
