/// Writes what is heard into a WAV file: 16 bit PCM, 48 kHz, mono.
///
/// A block of 20 ms is asked for every 20 ms. The file is complete after `stop`, and every second meanwhile. At 1 GiB,
/// which are 3 hours, it does not grow any more.
public final class WAVPlayback: AudioPlayback {
    private let playback: PacedPlayback<WAVSink>

    /// Makes the file, readable for its owner only; what was there is lost.
    /// - Throws: when that fails.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(path: path, pacer: LoopPacer())
    }

    init(path: String, pacer: any Pacer) throws(AudioFileError) {
        playback = try PacedPlayback(WAVSink(file: PCMFile(writing: path)), pacer: pacer)
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

    /// Stops, and makes the file complete.
    public func stop() { playback.stop() }
}

/// Writes a WAV file.
struct WAVSink: SampleSink {
    /// Each second the header says how much there is.
    private static let blocksPerHeader = 50

    private(set) var failure: AudioFileError?
    private let file: PCMFile
    private let sizeBound: Int
    private var dataSize = 0
    private var blocks = 0

    /// - Parameter sizeBound: the largest size of the file in bytes.
    init(file: PCMFile, sizeBound: Int = WAVLayout.sizeBound) throws(AudioFileError) {
        guard !file.isPipe else { throw AudioFileError(path: file.path, message: "a pipe cannot become a WAV file") }
        self.file = file
        self.sizeBound = sizeBound
        try file.put(WAVLayout.header(dataSize: 0), at: 0)
    }

    mutating func put(_ samples: [Int16]) {
        guard failure == nil else { return }
        let bytes = PCMSamples.bytes(samples)
        let end = WAVLayout.headerSize + dataSize
        guard end + bytes.count <= sizeBound else {
            finish()
            failure = failure ?? AudioFileError(path: file.path, message: "no more is written than \(sizeBound) bytes")
            return
        }
        do throws(AudioFileError) {
            try file.put(bytes, at: Int64(end))
        } catch {
            failure = error
            return
        }
        dataSize += bytes.count
        blocks += 1
        if blocks % Self.blocksPerHeader == 0 { finish() }
    }

    mutating func finish() {
        do throws(AudioFileError) {
            try file.put(WAVLayout.header(dataSize: dataSize), at: 0)
        } catch {
            failure = failure ?? error
        }
    }
}
