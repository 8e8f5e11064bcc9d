internal import NIOConcurrencyHelpers

/// Where the samples of a capture device come from.
protocol SampleSource: Sendable {
    /// The next 20 ms: as many samples as `PaceSchedule.samples`, silence where there are none.
    mutating func next() -> [Int16]
}

/// Delivers the samples of a source at the pace at which they would be recorded.
final class PacedCapture<Source: SampleSource>: Sendable {
    private let source: NIOLockedValueBox<Source>
    private let pacer: any Pacer

    init(_ source: Source, pacer: any Pacer) {
        self.source = NIOLockedValueBox(source)
        self.pacer = pacer
    }

    /// Who lets go of a device without stopping it, ends it too: the pacer has no strong reference to it.
    deinit { pacer.stop() }

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) {
        pacer.start { [weak self] in
            // The lock is not held during the delivery, which may stop the device.
            guard let block = self?.source.withLockedValue({ $0.next() }) else { return }
            block.withUnsafeBufferPointer(deliver)
        }
    }

    func stop() { pacer.stop() }
}
