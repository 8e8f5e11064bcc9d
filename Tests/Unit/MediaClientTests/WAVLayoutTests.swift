import Testing

@testable import MediaClient

@Suite struct WAVLayoutTests {
    private func layout(_ file: [UInt8], size: Int? = nil) throws(WAVProblem) -> WAVLayout {
        try WAVLayout(size: size ?? file.count) { count, offset in Array(file.dropFirst(offset).prefix(count)) }
    }

    private func problem(_ file: [UInt8], size: Int? = nil) -> String? {
        do throws(WAVProblem) {
            _ = try layout(file, size: size)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func chunksInAnyOrder() throws {
        let plain = try layout(WAV.file(WAV.format(), WAV.data([1, 2, 3])))
        #expect(plain.channels == 1 && plain.offset == 44 && plain.frames == 3)
        let list = WAV.chunk("LIST", Array("odd".utf8))
        let turned = try layout(WAV.file(list, WAV.data([1, 2, 3, 4]), list, WAV.format(channels: 2)))
        #expect(turned.channels == 2 && turned.offset == 12 + 12 + 8 && turned.frames == 2)
        // Half a frame at the end is left out.
        #expect(try layout(WAV.file(WAV.format(channels: 2), WAV.data([1, 2, 3]))).frames == 1)
    }

    @Test func theExtensibleFormat() throws {
        let plain = Array(WAV.format(tag: 0xFFFE).dropFirst(8))
        let id = WAV.half(1) + [UInt8](repeating: 9, count: 14)
        let format = WAV.chunk("fmt ", plain + WAV.half(22) + WAV.half(16) + WAV.word(4) + id)
        #expect(try layout(WAV.file(format, WAV.data([1]))).frames == 1)
        #expect(problem(WAV.file(WAV.chunk("fmt ", plain), WAV.data([1])))?.hasPrefix("format 65534") == true)
    }

    @Test func ourHeader() throws {
        let header = WAVLayout.header(dataSize: 4)
        #expect(header == WAV.file(WAV.format(), WAV.chunk("data", [0, 0, 0, 0])).dropLast(4))
        #expect(header.count == WAVLayout.headerSize)
    }

    /// What is wrong, and the beginning of the text that says so.
    private static let malformed: [(String, [UInt8])] = [
        ("no WAV file", []),
        ("no WAV file", Array("RIFF".utf8)),
        ("no WAV file", Array("RIFX".utf8) + WAV.word(4) + Array("WAVE".utf8)),
        ("no WAV file", Array("RIFF".utf8) + WAV.word(4) + Array("AVI ".utf8)),
        ("it has no chunk `fmt `", WAV.file()),
        ("it has no chunk `fmt `", WAV.file(WAV.data([1]))),
        ("it has no chunk `data`", WAV.file(WAV.format())),
        ("it has no chunk `data`", WAV.file(WAV.format(), Array("dat".utf8))),
        ("it has no chunk `data`", WAV.file(WAV.format(), WAV.chunk("LIST", [1], size: 0xFFFF_FFFF), WAV.data([1]))),
        ("it has no samples", WAV.file(WAV.format(), WAV.data([]))),
        ("it has no samples", WAV.file(WAV.format(), WAV.chunk("data", [1]))),
        ("its samples go beyond", WAV.file(WAV.format(), WAV.chunk("data", [1, 2], size: 4))),
        ("its samples go beyond", WAV.file(WAV.format(), WAV.chunk("data", [1, 2], size: 0xFFFF_FFFF))),
        ("its format goes beyond", WAV.file(WAV.chunk("fmt ", [1, 0], size: 16))),
        ("its format has 14 bytes", WAV.file(WAV.chunk("fmt ", [UInt8](repeating: 1, count: 14)), WAV.data([1]))),
        ("its format has 0 bytes", WAV.file(WAV.chunk("fmt ", []), WAV.data([1]))),
        ("44100 Hz; accepted are 16 bit PCM, 48000 Hz, 1 or 2", WAV.file(WAV.format(rate: 44_100), WAV.data([1]))),
        ("8 bits instead of 16; accepted", WAV.file(WAV.format(bits: 8), WAV.data([1]))),
        ("format 3 instead of 1 (PCM); accepted", WAV.file(WAV.format(tag: 3, bits: 32), WAV.data([1]))),
        ("6 channels; accepted", WAV.file(WAV.format(channels: 6), WAV.data([1]))),
        ("0 channels; accepted", WAV.file(WAV.format(channels: 0), WAV.data([1]))),
        ("4 bytes for a moment of 1 channels", WAV.file(WAV.format(frame: 4), WAV.data([1]))),
    ]

    @Test(arguments: malformed.indices)
    func whatIsRefused(_ place: Int) {
        let (text, file) = Self.malformed[place]
        #expect(problem(file)?.hasPrefix(text) == true, "\(problem(file) ?? "accepted") instead of \(text)")
    }

    /// Each beginning of a file, and each byte of its header changed, is refused or read, without a crash.
    @Test func truncatedAndDamaged() {
        let file = WAV.file(WAV.format(channels: 2), WAV.chunk("LIST", [1, 2, 3]), WAV.data([1, 2, 3, 4]))
        for count in file.indices { #expect(problem(Array(file.prefix(count))) != nil) }
        for place in file.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = file
                damaged[place] = value
                if let layout = try? layout(damaged) {
                    #expect(layout.offset + layout.frames * layout.frameSize <= damaged.count)
                }
            }
        }
    }

    /// Nothing beyond the file is looked at: where Int has 32 bits, a place after such a chunk would be no number.
    @Test func aChunkBeyondTheFileIsTheLast() {
        for chunk in [WAV.chunk("LIST", [1], size: 0xFFFF_FFFF), WAV.chunk("LIST", [1], size: 0x7FFF_FFF0)] {
            let file = WAV.file(WAV.format(), chunk, WAV.data([1]))
            var places: [Int] = []
            #expect(throws: WAVProblem("it has no chunk `data` among the first \(WAVLayout.chunkBound)")) {
                try WAVLayout(size: file.count) { count, place in
                    places.append(place)
                    return Array(file.dropFirst(place).prefix(count))
                }
            }
            #expect(places.allSatisfy { $0 <= file.count })
        }
    }

    @Test func bounds() {
        let file = WAV.file(WAV.format(), WAV.data([1]))
        #expect(problem(file, size: WAVLayout.sizeBound) == nil)
        #expect(problem(file, size: WAVLayout.sizeBound + 1) == "larger than 1073741824 bytes")
        let empty = [UInt8](Array(repeating: WAV.chunk("none", []), count: WAVLayout.chunkBound).joined())
        #expect(problem(WAV.file(empty, WAV.format(), WAV.data([1])))?.hasSuffix("among the first 1000") == true)
    }
}
