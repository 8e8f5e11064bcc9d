import Glibc

// The client shows nothing of what it reads: its types are internal, and tests and targets see them alike.
@testable import MediaClient

extension FuzzTarget {
    /// What a media client gets from its node, its gateway and, through these, from the other users; and its files.
    static let mediaClient = [
        FuzzTarget("media-client-audio") { input in
            var target = MediaClientAudio()
            target.run(input.bytes)
        },
        FuzzTarget("media-client-path") { input in
            var target = MediaClientPath()
            target.run(input.bytes)
        },
        FuzzTarget("media-client-srtp") { input in
            var target = MediaClientSRTP()
            target.run(input.bytes)
        },
        FuzzTarget("media-client-control") { input in
            var target = MediaClientControl()
            target.run(input.bytes)
        },
        FuzzTarget("media-client-wav") { input in
            let (how, rest) = input.split
            readWAV(rest.bytes, loops: how & 1 == 1, isCut: how & 2 == 2)
        },
    ]

    /// A file without a name, made once: the fuzzer has one thread.
    private static let wavFile = {
        var path = Array("/tmp/fuzz-wav-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        holds(file >= 0 && unlink(path) == 0, "a file is made")
        return file
    }()

    /// Talks from a file.
    /// - Parameter isCut: whether the file is made shorter after its header was read.
    private static func readWAV(_ bytes: [UInt8], loops: Bool, isCut: Bool) {
        let layout = try? WAVLayout(size: bytes.count) { count, offset in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        if let layout {
            holds(layout.offset + layout.frames * layout.frameSize <= bytes.count, "the samples are in the file")
            holds(layout.frames > 0 && 1...2 ~= layout.channels, "there is something to play")
        }
        holds(ftruncate(wavFile, 0) == 0 && pwrite(wavFile, bytes, bytes.count, 0) == bytes.count, "a file is written")
        guard let file = try? PCMFile(reading: "/proc/self/fd/\(wavFile)") else {
            fatalError("does not hold: a file is opened")
        }
        var made = try? WAVSource(file: file, loops: loops)
        holds((made == nil) == (layout == nil), "a file is played when its header is right")
        for index in 0..<4 {
            guard let samples = made?.next() else { return }
            holds(samples.count == PaceSchedule.samples, "a block is whole")
            if isCut, index == 1 { ftruncate(wavFile, off_t(bytes.count / 2)) }
        }
    }
}
