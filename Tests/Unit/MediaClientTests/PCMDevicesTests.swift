import Testing

@testable import MediaClient

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct PCMDevicesTests {
    private let files = Files()
    private let pacer = ScriptedPacer()

    @Test func filesOfRawSamples() throws {
        let playback = try PCMPlayback(path: files.path("a"), pacer: pacer)
        playback.start { $0.update(repeating: 0x0102) }
        pacer.pass(2)
        playback.stop()
        playback.start { $0.update(repeating: -2) }
        pacer.pass(1)
        playback.stop()
        #expect(playback.failure == nil)
        let written = try files.bytes()
        #expect(written.count == 3 * 1920)
        #expect(written.prefix(2) == [2, 1] && written.suffix(2) == [0xFE, 0xFF])
        // A byte at the end that is no sample is left out.
        _ = try files.write(written + [1, 0, 9])
        let capture = try PCMCapture(path: files.path("a"), pacer: pacer)
        let samples = Samples()
        capture.start { samples.append($0) }
        pacer.pass(5)
        capture.stop()
        var expected = [Int16](repeating: 0x0102, count: 1920) + [Int16](repeating: -2, count: 960)
        expected += [1] + [Int16](repeating: 0, count: 1919)
        #expect(samples.all == expected)
    }

    /// Nobody waits for the other side of a pipe; a block that is not whole waits for its rest.
    @Test func pipes() throws {
        let path = files.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let capture = try PCMCapture(path: path, pacer: pacer)
        let samples = Samples()
        capture.start { samples.append($0) }
        pacer.pass(1)
        let block = (0..<960).map { Int16($0 + 1) }
        let bytes = PCMSamples.bytes(block)
        do {
            let writer = try PCMFile(writing: path)
            #expect(writer.isPipe)
            try writer.put(Array(bytes[..<1001]), at: 0)
            pacer.pass(1)
            try writer.put(Array(bytes[1001...]) + bytes[..<10], at: 0)
            pacer.pass(1)
        }
        // The writer has closed the pipe: what is left is all that comes.
        pacer.pass(2)
        let silence = [Int16](repeating: 0, count: 960)
        #expect(samples.all == silence + silence + block + block[..<5] + silence[5...] + silence)
    }

    /// A pipe that nobody empties takes what it has room for, and afterwards whole samples again.
    @Test func aFullPipe() throws {
        let path = files.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let playback = try PCMPlayback(path: path, pacer: pacer)
        playback.start { $0.update(repeating: 0x0102) }
        pacer.pass(200)
        #expect(playback.failure == nil)
        let reader = try PCMFile(reading: path)
        var read: [UInt8] = []
        while case .bytes(let bytes) = reader.bytes(1920, at: 0), !bytes.isEmpty { read += bytes }
        #expect(read.count >= 1920 && read.count < 200 * 1920)
        pacer.pass(1)
        playback.stop()
        while case .bytes(let bytes) = reader.bytes(1920, at: 0), !bytes.isEmpty { read += bytes }
        #expect(read.count % 2 == 0 && PCMSamples.samples(read).allSatisfy { $0 == 0x0102 })
    }

    @Test func whatCannotBeOpened() throws {
        #expect(throws: AudioFileError(path: files.path("b"), message: "No such file or directory")) {
            try PCMCapture(path: files.path("b"))
        }
        #expect(throws: AudioFileError(path: "/dev/null", message: "neither a regular file nor a pipe")) {
            try PCMPlayback(path: "/dev/null")
        }
        #expect(mkfifo(files.path("pipe"), 0o600) == 0)
        #expect(throws: AudioFileError(path: files.path("pipe"), message: "a pipe, no WAV file")) {
            try WAVCapture(path: files.path("pipe"))
        }
        #expect(throws: AudioFileError(path: files.path("pipe"), message: "a pipe cannot become a WAV file")) {
            try WAVPlayback(path: files.path("pipe"))
        }
    }

    /// A full disk ends the writing, and is told.
    @Test func whatCannotBeWritten() throws {
        let file = try PCMFile(reading: files.write([1]))
        var sink = PCMSink(file: file)
        sink.put([1])
        #expect(sink.failure == AudioFileError(path: files.path("a"), message: "Bad file descriptor"))
    }
}
