internal import NIOConcurrencyHelpers

/// Where the samples of a capture device come from.
protocol SampleSource: Sendable {
    /// Why nothing is read any more; nil while all is well, and at the end.
    var failure: AudioFileError? { get }

    /// The next 20 ms: as many samples as `PaceSchedule.samples`, silence where there are none.
    mutating func next() -> [Int16]
}

/// Delivers the samples of a source at the pace at which they would be recorded.
final class PacedCapture<Source: SampleSource>: Sendable {
    private struct State {
        var source: Source
        var report = FailureReport()
    }

    private let state: NIOLockedValueBox<State>
    private let pacer: any Pacer

    init(_ source: Source, pacer: any Pacer) {
        state = NIOLockedValueBox(State(source: source))
        self.pacer = pacer
    }

    /// Who lets go of a device without stopping it, ends it too: the pacer has no strong reference to it.
    deinit { pacer.stop() }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) {
        state.withLockedValue { $0.report.report = report }
    }

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) {
        state.withLockedValue { $0.report.start() }
        pacer.start { [weak self] in
            let next = self?.state.withLockedValue { ($0.source.next(), $0.report.news(of: $0.source.failure)) }
            // The lock is not held during the delivery, which may stop the device.
            guard let (block, news) = next else { return }
            news?()
            block.withUnsafeBufferPointer(deliver)
        }
    }

    func stop() { pacer.stop() }
}
