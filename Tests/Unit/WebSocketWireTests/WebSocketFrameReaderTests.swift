import SignalingProtocol
import Testing

@testable import WebSocketWire

@Suite struct WebSocketFrameReaderTests {
    /// What the reader reports.
    private enum Read: Equatable {
        case text([UInt8])
        case binary([UInt8])
        case ping([UInt8])
        case close
        case violation(WebSocketCloseCode)

        static func text(_ text: String) -> Self { .text(Array(text.utf8)) }
        static func ping(_ text: String) -> Self { .ping(Array(text.utf8)) }
    }

    /// Feeds the reader as the gateway's connections do.
    private struct Connection {
        var reader = WebSocketFrameReader()
        var payload: [UInt8] = []
        var read: [Read] = []

        mutating func receive(_ bytes: [UInt8]) {
            var position = 0
            do {
                while let message = try reader.next(in: bytes.span.bytes, from: &position, payload: &payload) {
                    switch message {
                    case .text: read.append(.text(payload))
                    case .binary: read.append(.binary(payload))
                    case .ping: read.append(.ping(payload))
                    case .close: read.append(.close)
                    }
                }
                #expect(position == bytes.count)
            } catch {
                read.append(.violation(error.code))
            }
        }
    }

    private func read(_ reads: [UInt8]..., by reader: WebSocketFrameReader = .init()) -> [Read] {
        var connection = Connection(reader: reader)
        for bytes in reads { connection.receive(bytes) }
        return connection.read
    }

    /// Text messages of all kinds, with control frames between and inside them.
    private static let conversation: (bytes: [UInt8], read: [Read]) = {
        let long = String(repeating: "0123456789", count: 20)
        let frames: [MaskedFrame] = [
            .text("hello"), .text(""), .pong("ignored"), .ping("between"), .text(long), .text("one, ", isFinal: false),
            .ping("within"), .pong(""), .continuation("", isFinal: false), .continuation(long, isFinal: false),
            .ping(""), .continuation(" end"), .text("", isFinal: false), .continuation(""), .close(),
        ]
        return (
            frames.flatMap(\.bytes),
            [
                .text("hello"), .text(""), .ping("between"), .text(long), .ping("within"), .ping(""),
                .text("one, \(long) end"), .text(""), .close,
            ]
        )
    }()

    @Test(arguments: [[0x37, 0xFA, 0x21, 0x3D], [0, 0, 0, 0], [0xFF, 0, 0x80, 1]] as [[UInt8]])
    func everyLengthIsUnmasked(key: [UInt8]) {
        for length in Array(0..<40) + [125, 126, 127, 128, 65_535, 65_536] {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            let frame = MaskedFrame(opcode: 1, payload: payload, key: key).bytes
            #expect(read(frame) == [.text(payload)])
            // The frame may begin in the middle of the buffer, after another one.
            #expect(read(MaskedFrame.text("x").bytes + frame) == [.text("x"), .text(payload)])
        }
    }

    @Test func severalFramesInOneRead() {
        #expect(read(Self.conversation.bytes) == Self.conversation.read)
    }

    @Test func oneByteAtATime() {
        var connection = Connection()
        for byte in Self.conversation.bytes { connection.receive([byte]) }
        #expect(connection.read == Self.conversation.read)
    }

    @Test func splitAtEveryPosition() {
        let bytes = Self.conversation.bytes
        for position in 0...bytes.count {
            #expect(read(Array(bytes[..<position]), Array(bytes[position...])) == Self.conversation.read)
        }
    }

    @Test func framesAreTakenOneByOne() throws {
        var reader = WebSocketFrameReader()
        var payload: [UInt8] = []
        let first = MaskedFrame.text("first").bytes
        let bytes = first + MaskedFrame.ping("second").bytes
        var position = 0
        #expect(try reader.next(in: bytes.span.bytes, from: &position, payload: &payload) == .text)
        #expect(position == first.count)
        #expect(payload == Array("first".utf8))
        #expect(try reader.next(in: bytes.span.bytes, from: &position, payload: &payload) == .ping)
        #expect(try reader.next(in: bytes.span.bytes, from: &position, payload: &payload) == nil)
    }

    @Test func onlyWhatIsNotWholeIsKept() {
        var connection = Connection()
        let text = MaskedFrame.text("hello").bytes
        connection.receive(text + text[..<4])
        #expect(connection.reader.kept == Array(text[..<4]))
        // Once the kept frame is complete, whole frames after it are not copied, only an incomplete one at the end.
        connection.receive(text[4...] + text + text[..<1])
        #expect(connection.reader.kept == Array(text[..<1]))
        connection.receive(Array(text[1...]))
        #expect(connection.reader.kept.capacity == 0)
        connection.receive(MaskedFrame.text("a", isFinal: false).bytes)
        #expect(connection.reader.gathered == Array("a".utf8))
        connection.receive(MaskedFrame.continuation("b").bytes)
        #expect(connection.reader.gathered == nil)
        #expect(connection.reader.kept.capacity == 0)
        #expect(connection.read == [.text("hello"), .text("hello"), .text("hello"), .text("hello"), .text("ab")])
    }

    @Test func theLargestFrame() {
        let largest = [UInt8](repeating: 7, count: Limits.frameBytes)
        #expect(read(MaskedFrame(opcode: 1, payload: largest).bytes) == [.text(largest)])
        // One byte too many: detected from the header, before the payload arrives.
        #expect(read(MaskedFrame(opcode: 1, payload: largest + [7]).header) == [.violation(.messageTooLarge)])
        let huge = MaskedFrame(opcode: 1, payload: [], claimedLength: UInt64(Int64.max))
        #expect(read(huge.bytes) == [.violation(.messageTooLarge)])
    }

    @Test func theLargestMessageInFragments() {
        let half = [UInt8](repeating: 7, count: Limits.frameBytes / 2)
        let first = MaskedFrame(opcode: 1, payload: half, isFinal: false).bytes
        #expect(read(first, MaskedFrame(opcode: 0, payload: half).bytes) == [.text(half + half)])
        let more = MaskedFrame(opcode: 0, payload: half + [7], isFinal: false)
        #expect(read(first, more.header) == [.violation(.messageTooLarge)])
        // The bound applies to each message, not to the whole connection.
        let message = first + MaskedFrame(opcode: 0, payload: half).bytes
        #expect(read(message, message) == [.text(half + half), .text(half + half)])
    }

    @Test func controlFramesAreShort() {
        // The longest payload of a control frame; for a close frame it is the code 1000 and a reason.
        let longest: [UInt8] = [3, 0xE8] + [UInt8](repeating: 7, count: 123)
        for opcode: UInt8 in [8, 9, 10] {
            let expected: [[Read]] = [[.close], [.ping(longest)], []]
            #expect(read(MaskedFrame(opcode: opcode, payload: longest).bytes) == expected[Int(opcode) - 8])
            #expect(read(MaskedFrame(opcode: opcode, payload: longest + [7]).bytes) == [.violation(.protocolError)])
            let fragment = MaskedFrame(opcode: opcode, payload: [], isFinal: false)
            #expect(read(fragment.bytes) == [.violation(.protocolError)])
        }
    }

    @Test func closeCodesAreThoseThatMayBeSent() {
        func closing(_ code: UInt16) -> [Read] {
            read(MaskedFrame.close([UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]).bytes)
        }
        for code: UInt16 in [1000, 1001, 1002, 1003, 1007, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
            #expect(closing(code) == [.close], "\(code)")
        }
        for code: UInt16 in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535] {
            #expect(closing(code) == [.violation(.protocolError)], "\(code)")
        }
    }

    @Test func theBoundAndBinaryMessagesAreTheOwnersChoice() {
        let reader = WebSocketFrameReader(bound: 3, takesBinary: true)
        let binary = MaskedFrame(opcode: 2, payload: [1, 2, 3])
        #expect(read(binary.bytes, by: reader) == [.binary([1, 2, 3])])
        let parts: [MaskedFrame] = [
            MaskedFrame(opcode: 2, payload: [1], isFinal: false), .ping("x"), .continuation("", isFinal: false),
            MaskedFrame(opcode: 0, payload: [0xFF]), .text("abc"),
        ]
        #expect(read(parts.flatMap(\.bytes), by: reader) == [.ping("x"), .binary([1, 0xFF]), .text("abc")])
        let within = [MaskedFrame(opcode: 2, payload: [1], isFinal: false), binary].flatMap(\.bytes)
        #expect(read(within, by: reader) == [.violation(.protocolError)])
        let long = [MaskedFrame(opcode: 2, payload: [1, 2], isFinal: false), .continuation("xy")].flatMap(\.bytes)
        #expect(read(long, by: reader) == [.violation(.messageTooLarge)])
    }

    @Test func closeFramesHaveACodeOrNothing() {
        #expect(read(MaskedFrame.close([]).bytes) == [.close])
        #expect(read(MaskedFrame.close([3]).bytes) == [.violation(.protocolError)])
        #expect(read(MaskedFrame.close([3, 0xE8]).bytes) == [.close])
        #expect(read(MaskedFrame.close([3, 0xE8] + Array("bye".utf8)).bytes) == [.close])
        #expect(read(MaskedFrame.close([3, 0xE8, 0xFF]).bytes) == [.violation(.inconsistentData)])
    }

    @Test(arguments: [
        MaskedFrame(opcode: 1, payload: [65], key: nil),
        MaskedFrame(opcode: 9, payload: [], key: nil),
        MaskedFrame(opcode: 1, payload: [], reserved: 1),
        MaskedFrame(opcode: 1, payload: [], reserved: 2),
        MaskedFrame(opcode: 9, payload: [], reserved: 4),
        MaskedFrame(opcode: 3, payload: []),
        MaskedFrame(opcode: 7, payload: []),
        MaskedFrame(opcode: 11, payload: []),
        MaskedFrame(opcode: 15, payload: []),
        MaskedFrame(opcode: 1, payload: [], lengthBytes: 2),
        MaskedFrame(opcode: 1, payload: [UInt8](repeating: 65, count: 125), lengthBytes: 2),
        MaskedFrame(opcode: 1, payload: [], lengthBytes: 8),
        MaskedFrame(opcode: 1, payload: [], lengthBytes: 8, claimedLength: 65_535),
        MaskedFrame(opcode: 1, payload: [], lengthBytes: 8, claimedLength: 1 << 63),
        MaskedFrame(opcode: 1, payload: [], lengthBytes: 8, claimedLength: .max),
        .continuation("x"),
    ])
    func theProtocolIsKept(frame: MaskedFrame) {
        #expect(read(frame.bytes) == [.violation(.protocolError)])
        // Detected from the header alone, after other frames, and when it arrives byte by byte.
        #expect(read(MaskedFrame.text("x").bytes + frame.header) == [.text("x"), .violation(.protocolError)])
        var connection = Connection()
        for byte in frame.header where connection.read.isEmpty { connection.receive([byte]) }
        #expect(connection.read == [.violation(.protocolError)])
    }

    @Test func messagesDoNotMix() {
        let first = MaskedFrame.text("a", isFinal: false).bytes
        #expect(read(first + MaskedFrame.text("b").bytes) == [.violation(.protocolError)])
        #expect(read(first + MaskedFrame.text("b", isFinal: false).bytes) == [.violation(.protocolError)])
        let whole = first + MaskedFrame.continuation("b").bytes
        #expect(read(whole + MaskedFrame.continuation("c").bytes) == [.text("ab"), .violation(.protocolError)])
    }

    @Test func binaryMessagesAreRefused() {
        let binary = MaskedFrame(opcode: 2, payload: [1, 2, 3])
        #expect(read(binary.bytes) == [.violation(.unacceptableData)])
        #expect(read(MaskedFrame.text("a", isFinal: false).bytes + binary.header) == [.violation(.unacceptableData)])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func randomConversations(seed: UInt64) {
        var random = SplitMix(state: seed)
        var bytes: [UInt8] = []
        var expected: [Read] = []
        func append(_ opcode: UInt8, _ payload: some Collection<UInt8>, isFinal: Bool = true) {
            let key = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes += MaskedFrame(opcode: opcode, payload: Array(payload), isFinal: isFinal, key: key).bytes
        }
        func payload(_ bound: Int) -> [UInt8] {
            (0..<Int.random(in: 0...bound, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        for _ in 0..<30 {
            let text = payload([10, 200, 3000].randomElement(using: &random) ?? 0)
            let cuts = (0..<Int.random(in: 0...3, using: &random))
                .map { _ in Int.random(in: 0...text.count, using: &random) }.sorted()
            for (index, (start, end)) in zip([0] + cuts, cuts + [text.count]).enumerated() {
                append(index == 0 ? 1 : 0, text[start..<end], isFinal: index == cuts.count)
                if index == cuts.count { expected.append(.text(text)) }
                if Bool.random(using: &random) {
                    let ping = payload(125)
                    append(9, ping)
                    expected.append(.ping(ping))
                }
            }
        }
        var connection = Connection()
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Int.random(in: 1...1500, using: &random))
            connection.receive(Array(part))
            rest = rest.dropFirst(part.count)
        }
        #expect(connection.read == expected)
    }

    /// A random number generator that yields the same sequence in every run.
    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return word ^ word >> 31
        }
    }
}
