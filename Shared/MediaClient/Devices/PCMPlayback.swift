/// Writes what is heard as raw samples: 16 bits, the low byte first, 48 kHz, mono; into a file, or a pipe with a name
/// (FIFO).
///
/// A block of 20 ms is asked for every 20 ms. What a pipe has no room for is left out, as are samples that cannot be
/// written.
public final class PCMPlayback: AudioPlayback {
    private let playback: PacedPlayback<PCMSink>

    /// Makes an empty file, readable for its owner only, or opens the pipe that is there.
    /// - Throws: when that fails.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(path: path, pacer: LoopPacer())
    }

    init(path: String, pacer: any Pacer) throws(AudioFileError) {
        playback = try PacedPlayback(PCMSink(file: PCMFile(writing: path)), pacer: pacer)
    }

    /// Why nothing is written any more, as a full disk; nil while all is well.
    public var failure: AudioFileError? { playback.failure }

    /// Takes what is to be told when nothing can be written any more.
    public func reportFailures(to report: @escaping @Sendable (String) -> Void) {
        playback.reportFailures(to: report)
    }

    /// Begins to ask for samples, which are appended to those before a stop.
    public func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {
        playback.start(request)
    }

    /// Stops.
    public func stop() { playback.stop() }
}

/// Writes raw samples.
struct PCMSink: SampleSink {
    private(set) var failure: AudioFileError?
    private let file: PCMFile
    /// In 64 bits, as that of ``PCMSource``.
    private var offset: Int64 = 0
    /// What a pipe has not taken of a block that it has begun to take: samples have two bytes.
    private var rest: [UInt8] = []

    init(file: PCMFile) { self.file = file }

    mutating func put(_ samples: [Int16]) {
        guard failure == nil else { return }
        do throws(AudioFileError) {
            try write(rest)
            if rest.isEmpty { try write(PCMSamples.bytes(samples)) }
        } catch {
            failure = error
        }
    }

    private mutating func write(_ bytes: [UInt8]) throws(AudioFileError) {
        let count = try file.put(bytes, at: offset)
        offset += Int64(count)
        if count > 0 { rest = Array(bytes[count...]) }
    }

    func finish() {}
}
