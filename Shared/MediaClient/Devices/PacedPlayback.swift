internal import NIOConcurrencyHelpers

/// Where the samples of a playback device go.
protocol SampleSink: Sendable {
    /// Why nothing is kept any more; nil while all is well.
    var failure: AudioFileError? { get }

    /// Keeps 20 ms.
    mutating func put(_ samples: [Int16])

    /// Makes the file complete as it is now; more may follow.
    mutating func finish()
}

/// Asks for samples at the pace at which they would be played.
final class PacedPlayback<Sink: SampleSink>: Sendable {
    private struct State {
        var sink: Sink
        var isRunning = false
        var report = FailureReport()
    }

    private let state: NIOLockedValueBox<State>
    private let pacer: any Pacer

    init(_ sink: Sink, pacer: any Pacer) {
        state = NIOLockedValueBox(State(sink: sink))
        self.pacer = pacer
    }

    deinit { stop() }

    var failure: AudioFileError? { state.withLockedValue { $0.sink.failure } }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) {
        state.withLockedValue { $0.report.report = report }
    }

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {
        state.withLockedValue { state in
            state.isRunning = true
            state.report.start()
        }
        pacer.start { [weak self] in
            guard let self else { return }
            var block = [Int16](repeating: 0, count: PaceSchedule.samples)
            block.withUnsafeMutableBufferPointer { request($0) }
            let news = state.withLockedValue { state in
                // The request may have stopped the device, whose file is complete then.
                if state.isRunning { state.sink.put(block) }
                return state.report.news(of: state.sink.failure)
            }
            news?()
        }
    }

    func stop() {
        pacer.stop()
        state.withLockedValue { state in
            if state.isRunning { state.sink.finish() }
            state.isRunning = false
        }
    }
}
