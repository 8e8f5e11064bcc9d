/// Talks from raw samples: 16 bits, the low byte first, 48 kHz, mono; of a file, or a pipe with a name (FIFO).
///
/// They are delivered in blocks of 20 ms, as fast as they would be recorded. After the end of a file, and while a pipe
/// has no whole block, silence is delivered; so it is when reading fails, which is reported. What is in a pipe waits
/// there: who writes faster than that is not heard sooner.
public final class PCMCapture: AudioCapture {
    private let capture: PacedCapture<PCMSource>

    /// Opens the file or pipe.
    /// - Throws: when that fails.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(path: path, pacer: LoopPacer())
    }

    init(path: String, pacer: any Pacer) throws(AudioFileError) {
        capture = try PacedCapture(PCMSource(file: PCMFile(reading: path)), pacer: pacer)
    }

    /// Takes what is to be told when the file cannot be read any more.
    public func reportFailures(to report: @escaping @Sendable (String) -> Void) {
        capture.reportFailures(to: report)
    }

    /// Begins to deliver, where the latest stop left off.
    public func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) { capture.start(deliver) }

    /// Stops.
    public func stop() { capture.stop() }
}

/// Reads raw samples.
struct PCMSource: SampleSource {
    private(set) var failure: AudioFileError?
    private let file: PCMFile
    /// In 64 bits also where Int has 32: raw samples have no bound, and 6 hours of them fill those.
    private var offset: Int64 = 0
    /// What has come of a block that is not whole.
    private var waiting: [UInt8] = []

    init(file: PCMFile) { self.file = file }

    mutating func next() -> [Int16] {
        let size = PaceSchedule.samples * PCMSamples.size
        reading: while failure == nil, waiting.count < size {
            switch file.bytes(size - waiting.count, at: offset) {
            case .nothingYet: return [Int16](repeating: 0, count: PaceSchedule.samples)
            case .failed(let error): failure = error
            case .bytes(let bytes):
                if bytes.isEmpty { break reading }
                waiting += bytes
                offset += Int64(bytes.count)
            }
        }
        let samples = PCMSamples.samples(waiting)
        waiting = []
        return samples + [Int16](repeating: 0, count: PaceSchedule.samples - samples.count)
    }
}
