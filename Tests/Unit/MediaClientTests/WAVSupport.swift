import NIOConcurrencyHelpers
import Testing

@testable import MediaClient

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A pacer that a test moves by hand.
final class ScriptedPacer: Pacer {
    private let tick = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

    var isRunning: Bool { tick.withLockedValue { $0 != nil } }

    func start(_ tick: @escaping @Sendable () -> Void) { self.tick.withLockedValue { $0 = tick } }

    func stop() { tick.withLockedValue { $0 = nil } }

    /// Lets that many blocks of 20 ms pass.
    func pass(_ blocks: Int) {
        for _ in 0..<blocks { tick.withLockedValue { $0 }?() }
    }
}

/// Files of a test, which are gone with it.
final class Files {
    let directory: String

    init() {
        var template = Array("/tmp/heliograph-media-XXXXXX".utf8CString)
        directory = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let path = mkdtemp(start) else { return "" }
            return String(cString: path)
        }
        precondition(!directory.isEmpty, "no directory can be made in /tmp")
    }

    deinit {
        for name in ["a", "b", "pipe"] { unlink(path(name)) }
        rmdir(directory)
    }

    func path(_ name: String) -> String { directory + "/" + name }

    /// Makes a file, and says where it is.
    func write(_ bytes: [UInt8], to name: String = "a") throws -> String {
        try PCMFile(writing: path(name)).put(bytes, at: 0)
        return path(name)
    }

    /// Makes all readers of a file fail from now on, as a medium that was taken out does.
    func breakReading(_ name: String = "a") throws {
        var file = stat()
        try #require(stat(path(name), &file) == 0)
        let writeOnly = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(writeOnly) }
        for descriptor in 3..<getdtablesize() {
            var other = stat()
            guard fstat(descriptor, &other) == 0, other.st_dev == file.st_dev, other.st_ino == file.st_ino else {
                continue
            }
            #expect(dup2(writeOnly, descriptor) == descriptor)
        }
    }

    func bytes(_ name: String = "a") throws -> [UInt8] {
        let file = try PCMFile(reading: path(name))
        guard case .bytes(let bytes) = file.bytes(file.size, at: 0) else { return [] }
        return bytes
    }
}

/// Samples that a device has delivered.
final class Samples: Sendable {
    private let samples = NIOLockedValueBox<[Int16]>([])

    var all: [Int16] { samples.withLockedValue { $0 } }

    func append(_ more: UnsafeBufferPointer<Int16>) { samples.withLockedValue { $0 += more } }
}

/// Texts that any thread has told.
final class Texts: Sendable {
    private let texts = NIOLockedValueBox<[String]>([])

    var all: [String] { texts.withLockedValue { $0 } }

    func append(_ text: String) { texts.withLockedValue { $0.append(text) } }
}

/// A WAV file of chunks.
enum WAV {
    static func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    static func half(_ number: Int) -> [UInt8] { Array(word(number)[..<2]) }

    static func chunk(_ name: String, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + word(size ?? body.count) + body + [UInt8](repeating: 0, count: body.count % 2)
    }

    static func format(
        tag: Int = 1, channels: Int = 1, rate: Int = 48_000, bits: Int = 16, frame: Int? = nil
    ) -> [UInt8] {
        let frame = frame ?? channels * bits / 8
        return chunk(
            "fmt ", half(tag) + half(channels) + word(rate) + word(rate * frame) + half(frame) + half(bits))
    }

    static func file(_ chunks: [UInt8]...) -> [UInt8] {
        let body = Array("WAVE".utf8) + chunks.flatMap { $0 }
        return Array("RIFF".utf8) + word(body.count) + body
    }

    static func data(_ samples: [Int16]) -> [UInt8] { chunk("data", PCMSamples.bytes(samples)) }
}
