import NIOConcurrencyHelpers
import Testing

@testable import MediaClient

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct WAVDevicesTests {
    private let files = Files()
    private let pacer = ScriptedPacer()

    private func delivered(_ blocks: Int, _ path: String, loops: Bool = false) throws -> [Int16] {
        let capture = try WAVCapture(path: path, loops: loops, pacer: pacer)
        let samples = Samples()
        capture.start { samples.append($0) }
        pacer.pass(blocks)
        capture.stop()
        pacer.pass(1)
        return samples.all
    }

    /// What is played into a file, another device reads from it.
    @Test func roundTrip() throws {
        let samples = (0..<960 * 3).map { Int16(truncatingIfNeeded: $0 * 31) }
        let playback = try WAVPlayback(path: files.path("a"), pacer: pacer)
        let next = NIOLockedValueBox(0)
        playback.start { buffer in
            next.withLockedValue { next in
                _ = buffer.update(from: samples[next..<next + buffer.count])
                next += buffer.count
            }
        }
        pacer.pass(3)
        playback.stop()
        playback.stop()
        #expect(playback.failure == nil)
        #expect(try files.bytes() == WAV.file(WAV.format(), WAV.data(samples)))
        #expect(try delivered(3, files.path("a")) == samples)
    }

    @Test func silenceAfterTheEnd() throws {
        let samples = (1...1000).map { Int16($0) }
        let path = try files.write(WAV.file(WAV.format(), WAV.data(samples)))
        let all = try delivered(3, path)
        #expect(all == samples + [Int16](repeating: 0, count: 960 * 3 - 1000))
    }

    @Test func loopsWithoutAPause() throws {
        let samples = (1...700).map { Int16($0) }
        let path = try files.write(WAV.file(WAV.format(), WAV.data(samples), WAV.chunk("LIST", [1, 2, 3])))
        let all = try delivered(2, path, loops: true)
        #expect(all == (0..<1920).map { Int16($0 % 700 + 1) })
    }

    @Test(arguments: [false, true])
    func silenceWhenTheFileBecomesShorter(loops: Bool) throws {
        let path = try files.write(WAV.file(WAV.format(), WAV.data([Int16](repeating: 5, count: 5000))))
        let capture = try WAVCapture(path: path, loops: loops, pacer: pacer)
        let samples = Samples()
        capture.start { samples.append($0) }
        pacer.pass(1)
        _ = try files.write([UInt8](repeating: 5, count: 44 + 2000))
        pacer.pass(2)
        #expect(
            samples.all == [Int16](repeating: 5, count: 960) + [Int16](repeating: 0x0505, count: 40)
                + [Int16](repeating: 0, count: 960 * 2 - 40))
    }

    @Test func channelsAreAveraged() throws {
        let samples: [Int16] = [100, 200, -100, 100, .max, .max, .min, .min, 3, 4]
        let path = try files.write(WAV.file(WAV.format(channels: 2), WAV.data(samples)))
        #expect(try delivered(1, path).prefix(6) == [150, 0, .max, .min, 3, 0])
    }

    /// The file is complete each second, before its device stops; a new start appends.
    @Test func completeEachSecond() throws {
        let playback = try WAVPlayback(path: files.path("a"), pacer: pacer)
        playback.start { $0.update(repeating: 7) }
        #expect(try files.bytes() == WAVLayout.header(dataSize: 0))
        pacer.pass(70)
        #expect(try files.bytes().prefix(44) == WAVLayout.header(dataSize: 50 * 1920)[...])
        #expect(try files.bytes().count == 44 + 70 * 1920)
        playback.stop()
        #expect(try files.bytes().prefix(44) == WAVLayout.header(dataSize: 70 * 1920)[...])
        playback.start { $0.update(repeating: 8) }
        pacer.pass(1)
        playback.stop()
        #expect(try files.bytes().suffix(1922).prefix(4) == [7, 0, 8, 0])
        #expect(try files.bytes().prefix(44) == WAVLayout.header(dataSize: 71 * 1920)[...])
    }

    @Test func theFileHasABound() throws {
        var sink = try WAVSink(file: PCMFile(writing: files.path("a")), sizeBound: 44 + 3 * 1920)
        for _ in 0..<5 { sink.put([Int16](repeating: 1, count: 960)) }
        #expect(sink.failure?.message == "no more is written than 5804 bytes")
        #expect(try files.bytes().count == 5804)
        #expect(try files.bytes().prefix(44) == WAVLayout.header(dataSize: 3 * 1920)[...])
    }

    @Test func whatCannotBeOpened() throws {
        let missing = files.path("b")
        #expect(throws: AudioFileError(path: missing, message: "No such file or directory")) {
            try WAVCapture(path: missing)
        }
        #expect(throws: AudioFileError(path: files.directory, message: "Is a directory")) {
            try WAVPlayback(path: files.directory)
        }
        #expect(throws: AudioFileError(path: files.directory, message: "neither a regular file nor a pipe")) {
            try WAVCapture(path: files.directory)
        }
        let path = try files.write([1, 2, 3])
        #expect(throws: AudioFileError(path: path, message: "no WAV file (RIFF, WAVE)")) { try WAVCapture(path: path) }
    }

    /// Apps treat these otherwise than a broken file: they ask for a permission, or convert.
    @Test func whatAFileFailsAt() throws {
        let path = try files.write(WAV.file(WAV.format(rate: 44_100), WAV.data([1])))
        let rate = #expect(throws: AudioFileError.self) { try WAVCapture(path: path) }
        #expect(rate?.cause == .sampleRate)
        // By the numbers of errors: tests may run as root, who may open every file.
        #expect(
            PCMFile.failure("a", EACCES) == AudioFileError(path: "a", message: "Permission denied", cause: .permission))
        #expect(PCMFile.failure("a", EPERM).cause == .permission && PCMFile.failure("a", ENOSPC).cause == .preparation)
        let missing = #expect(throws: AudioFileError.self) { try WAVCapture(path: files.path("b")) }
        #expect(missing?.cause == .preparation)
    }

    /// A device may be stopped by what it delivers to, and by being let go of.
    @Test func stopsFromWithin() throws {
        let path = try files.write(WAV.file(WAV.format(), WAV.data([1])))
        let capture = try WAVCapture(path: path, loops: true, pacer: pacer)
        let samples = Samples()
        capture.start { block in
            samples.append(block)
            capture.stop()
        }
        pacer.pass(3)
        #expect(samples.all.count == 960)
        let playback = try WAVPlayback(path: files.path("b"), pacer: pacer)
        playback.start { _ in playback.stop() }
        pacer.pass(2)
        #expect(try files.bytes("b") == WAVLayout.header(dataSize: 0))
        var forgotten: WAVCapture? = try WAVCapture(path: path, loops: true, pacer: pacer)
        forgotten?.start { samples.append($0) }
        #expect(pacer.isRunning)
        forgotten = nil
        #expect(!pacer.isRunning)
    }
}
