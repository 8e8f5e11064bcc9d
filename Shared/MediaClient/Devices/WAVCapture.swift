/// Talks from a WAV file of 16 bit PCM with 48 kHz, mono or stereo, of which the mean is sent.
///
/// Its samples are delivered in blocks of 20 ms, as fast as they would be recorded; after its end, and when
/// reading fails, which is reported, silence.
public final class WAVCapture: AudioCapture {
    private let capture: PacedCapture<WAVSource>

    /// Opens the file.
    /// - Parameters:
    ///   - path: where the file is; it may have up to 1 GiB.
    ///   - loops: whether it begins again at its end, without a pause; default false.
    /// - Throws: when it cannot be read, or has another format.
    public convenience init(path: String, loops: Bool = false) throws(AudioFileError) {
        try self.init(path: path, loops: loops, pacer: LoopPacer())
    }

    init(path: String, loops: Bool, pacer: any Pacer) throws(AudioFileError) {
        capture = try PacedCapture(WAVSource(file: PCMFile(reading: path), loops: loops), pacer: pacer)
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

/// Reads the samples of a WAV file.
struct WAVSource: SampleSource {
    private(set) var failure: AudioFileError?
    private let file: PCMFile
    private let layout: WAVLayout
    private let loops: Bool
    private var frame = 0

    init(file: PCMFile, loops: Bool) throws(AudioFileError) {
        guard !file.isPipe else { throw AudioFileError(path: file.path, message: "a pipe, no WAV file") }
        var unreadable: AudioFileError?
        do throws(WAVProblem) {
            layout = try WAVLayout(size: file.size) { Self.bytes($0, at: $1, of: file, failure: &unreadable) }
        } catch {
            throw unreadable ?? AudioFileError(path: file.path, message: error.message, cause: error.cause)
        }
        self.file = file
        self.loops = loops
    }

    mutating func next() -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(PaceSchedule.samples)
        while failure == nil, samples.count < PaceSchedule.samples {
            if frame == layout.frames {
                guard loops else { break }
                frame = 0
            }
            let more = mono(min(PaceSchedule.samples - samples.count, layout.frames - frame))
            // A file that was made shorter meanwhile has come to its end.
            if more.isEmpty { break }
            samples += more
            frame += more.count
        }
        return samples + [Int16](repeating: 0, count: PaceSchedule.samples - samples.count)
    }

    private mutating func mono(_ frames: Int) -> [Int16] {
        let size = layout.frameSize
        let bytes = Self.bytes(frames * size, at: layout.offset + frame * size, of: file, failure: &failure)
        let samples = PCMSamples.samples(bytes.prefix(bytes.count / size * size))
        guard layout.channels == 2 else { return samples }
        return stride(from: 0, to: samples.count, by: 2).map { Int16((Int(samples[$0]) + Int(samples[$0 + 1])) / 2) }
    }

    /// - Parameter failure: becomes why they cannot be read, in which case there are none.
    private static func bytes(
        _ count: Int, at offset: Int, of file: PCMFile, failure: inout AudioFileError?
    ) -> [UInt8] {
        switch file.bytes(count, at: Int64(offset)) {
        case .bytes(let bytes): return bytes
        case .nothingYet: return []
        case .failed(let error):
            failure = error
            return []
        }
    }
}
