/// What a WAV file says about its samples: which of its bytes they are, and of how many channels.
struct WAVLayout: Hashable {
    /// The largest file that is read or written, in bytes: 3 hours of one channel.
    static let sizeBound = 1 << 30
    /// The most chunks that are looked at, so that a file of empty ones is no work.
    static let chunkBound = 1000
    static let rate = 48_000
    /// The size of the header that `header` makes.
    static let headerSize = 44
    private static let accepted = "accepted are 16 bit PCM, \(rate) Hz, 1 or 2 channels"

    let channels: Int
    /// Where the samples begin.
    let offset: Int
    /// How many moments have a sample of each channel.
    let frames: Int

    /// The bytes of a frame.
    var frameSize: Int { channels * PCMSamples.size }

    /// The header of a file of one channel with that many bytes of samples.
    static func header(dataSize: Int) -> [UInt8] {
        func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let format: [UInt8] = [1, 0, 1, 0] + word(rate) + word(rate * PCMSamples.size) + [2, 0, 16, 0]
        let riff = Array("RIFF".utf8) + word(headerSize - 8 + dataSize) + Array("WAVE".utf8)
        return riff + Array("fmt ".utf8) + word(format.count) + format + Array("data".utf8) + word(dataSize)
    }

    /// Reads the chunks of a file, which may come in any order.
    ///
    /// - Parameters:
    ///   - size: the size of the file.
    ///   - read: up to so many bytes at an offset.
    /// - Throws: a text that says what is wrong, and what is accepted.
    init(size: Int, read: (_ count: Int, _ offset: Int) -> [UInt8]) throws(WAVProblem) {
        guard size <= Self.sizeBound else { throw WAVProblem("larger than \(Self.sizeBound) bytes") }
        let start = read(12, 0)
        guard start.count == 12, start.starts(with: "RIFF".utf8), start.dropFirst(8).elementsEqual("WAVE".utf8)
        else { throw WAVProblem("no WAV file (RIFF, WAVE)") }
        var channels: Int?
        var data: Range<Int>?
        var place = 12
        for _ in 0..<Self.chunkBound where channels == nil || data == nil {
            let head = read(8, place)
            guard head.count == 8 else { break }
            let isFormat = head.starts(with: "fmt ".utf8)
            let isData = head.starts(with: "data".utf8)
            // Compared as what a file can hold: where Int has 32 bits, a chunk may claim more than fits into one.
            guard place + 8 <= size, Int64(Self.number(head[4...])) <= Int64(size - place - 8) else {
                if isFormat { throw WAVProblem("its format goes beyond the end of the file") }
                if isData { throw WAVProblem("its samples go beyond the end of the file") }
                break
            }
            let body = place + 8..<place + 8 + Int(Self.number(head[4...]))
            if isFormat { channels = try Self.channels(read(min(body.count, 40), body.lowerBound)) }
            if isData { data = body }
            // Chunks of an odd size have one more byte.
            place = body.upperBound + body.count % 2
        }
        guard let channels else { throw WAVProblem("it has no chunk `fmt ` among the first \(Self.chunkBound)") }
        guard let data else { throw WAVProblem("it has no chunk `data` among the first \(Self.chunkBound)") }
        self.channels = channels
        offset = data.lowerBound
        frames = data.count / (channels * PCMSamples.size)
        guard frames > 0 else { throw WAVProblem("it has no samples") }
    }

    /// The number of channels by the chunk `fmt `, whose format must be one that is accepted.
    private static func channels(_ format: [UInt8]) throws(WAVProblem) -> Int {
        guard format.count >= 16 else { throw WAVProblem("its format has \(format.count) bytes, not 16") }
        var tag = number(format[0..<2])
        // The extensible format has its tag later, as the first bytes of an id.
        if tag == 0xFFFE, format.count >= 40 { tag = number(format[24..<26]) }
        let channels = Int(number(format[2..<4]))
        let rate = number(format[4..<8])
        let frame = Int(number(format[12..<14]))
        let bits = number(format[14..<16])
        guard tag == 1 else { throw WAVProblem("format \(tag) instead of 1 (PCM); \(accepted)") }
        guard bits == 16 else { throw WAVProblem("\(bits) bits instead of 16; \(accepted)") }
        guard rate == UInt32(Self.rate) else { throw WAVProblem("\(rate) Hz; \(accepted)", cause: .sampleRate) }
        guard 1...2 ~= channels else { throw WAVProblem("\(channels) channels; \(accepted)") }
        guard frame == channels * PCMSamples.size else {
            throw WAVProblem("\(frame) bytes for a moment of \(channels) channels; \(accepted)")
        }
        return channels
    }

    /// The number of up to four bytes.
    private static func number(_ bytes: some BidirectionalCollection<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// What is wrong with a WAV file, in words.
struct WAVProblem: Error, Hashable {
    let message: String
    let cause: DeviceFailure.Cause

    init(_ message: String, cause: DeviceFailure.Cause = .preparation) {
        self.message = message
        self.cause = cause
    }
}
