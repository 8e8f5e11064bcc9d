internal import GatewayAPILogic
internal import ServiceMetrics
internal import Synchronization

/// The bytes of memory that bodies of requests in progress may take.
final class BodyBudget: Sendable {
    /// Bytes of all keys of this process, and of one key.
    static let bound = 64 << 20
    /// The bytes of one key.
    static let keyBound = 16 << 20

    private struct Bytes {
        var all = 0
        var ofKeys: [String: Int] = [:]
    }

    private let bytes = Mutex(Bytes())

    /// The share of one body; it is given back when nobody has it any more.
    final class Share: Sendable {
        private let size: Int
        private let key: String
        private let budget: BodyBudget

        fileprivate init(_ size: Int, _ key: String, _ budget: BodyBudget) {
            self.size = size
            self.key = key
            self.budget = budget
        }

        deinit { budget.give(back: size, of: key) }
    }

    /// Sets bytes aside for a body that is about to be read.
    /// - Throws: ``APIProblem``: ``APIErrorCode/rateLimited`` when the key has its share, ``APIErrorCode/unavailable``
    ///   when the process has.
    func take(_ size: Int, of key: String) throws(APIProblem) -> Share {
        let problem = bytes.withLock { bytes -> APIProblem? in
            guard bytes.ofKeys[key, default: 0] + size <= Self.keyBound else {
                let bound = "\(Self.keyBound) bytes of bodies at once"
                return APIProblem(.rateLimited, "the key's other requests have \(bound)", bound: bound)
            }
            guard bytes.all + size <= Self.bound else {
                let bound = "\(Self.bound) bytes of bodies at once"
                return APIProblem(.unavailable, "all requests of the gateway have \(bound)", bound: bound)
            }
            bytes.all += size
            bytes.ofKeys[key, default: 0] += size
            APIMetrics.shared.bodyBytes.set(bytes.all)
            return nil
        }
        guard var problem else { return Share(size, key, self) }
        APIMetrics.shared.bodiesRefused.increment()
        problem.retryAfter = 1
        throw problem
    }

    private func give(back size: Int, of key: String) {
        bytes.withLock { bytes in
            bytes.all -= size
            let left = bytes.ofKeys[key, default: 0] - size
            bytes.ofKeys[key] = left > 0 ? left : nil
            APIMetrics.shared.bodyBytes.set(bytes.all)
        }
    }
}
