internal import ClusterState
internal import Logging
internal import NIOCore

extension CommandPipeline {
    /// Loads the libraries again, after someone flushed them or Redis came back empty behind a proxy. Then repeats the
    /// failed calls, which had no effect, in order, and after them sends the calls held back meanwhile.
    func reloadLibraries(for pending: Pending) {
        var pending = pending
        pending.isRetry = true
        if awaitingLibraries != nil {
            awaitingLibraries?.append(pending)
            return
        }
        awaitingLibraries = [pending]
        logger.warning("functions are missing in Redis; loading them again")
        let results = ResultCollector(count: libraries.count) { self.librariesLoaded($0) }
        for (index, library) in libraries.enumerated() { send(library.load) { results.set(index, $0) } }
    }

    private func librariesLoaded(_ results: [Result<RedisValue, RedisError>]) {
        let calls = awaitingLibraries ?? []
        let held = behindLibraries
        awaitingLibraries = nil
        behindLibraries = []
        let failure = results.lazy.compactMap { result -> RedisError? in
            if case .failure(let error) = result, !error.isLibraryThere { error } else { nil }
        }.first
        if link.isUp {
            for call in calls {
                if let failure { complete(call, .failure(failure)) } else { write(call) }
            }
            for call in held { write(call) }
        } else if node != nil {
            for call in calls + held { complete(call, .failure(.unsent)) }
        } else if isClosed {
            for call in calls + held { complete(call, .failure(.shutDown)) }
        } else {
            // The connection broke. The next handshake loads what is missing, so the calls wait for it.
            waiting.append(contentsOf: calls + held)
            armTimer(.now())
        }
    }
}
