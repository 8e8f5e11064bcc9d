internal import MediaEngineLogic

/// Makes the RTP packets of what the user says. Sources: RFC 3550 section 5.1, RFC 6464, RFC 7587, RFC 8285 section
/// 4.2.
struct OutgoingAudio {
    /// A packet before encryption.
    struct Packet {
        /// The header, then the payload.
        var bytes: [UInt8]
        var headerSize: Int
        var timestamp: UInt32
    }

    /// The id of the level's extension, which the node reads.
    private static let levelID: UInt8 = 1
    /// The fixed header, and the level with its extension's header.
    private static let headerSize = 20

    private let encoder: OpusEncoder
    private var voice = VoiceActivity()
    private var sequence: UInt16
    /// Of the next packet.
    private(set) var timestamp: UInt32
    /// Whether the packet before was left out, so that a listener's decoder is told of a beginning by the marker.
    private var isBeginning = true
    /// The packets that were made, and the bytes of their payloads (RFC 3550 section 6.4.1).
    private(set) var packets: UInt32 = 0
    private(set) var payloadBytes: UInt32 = 0

    /// - Throws: ``MediaError/codecFailed``.
    init(bitRate: Int) throws(MediaError) {
        encoder = try OpusEncoder(bitRate: bitRate)
        // Below half, so that a node guesses the number of its wraps right (RFC 3711 section 3.3.1).
        sequence = UInt16.random(in: 0..<0x8000)
        timestamp = UInt32.random(in: 0...UInt32.max)
    }

    /// The packet of the next 20 ms, 960 samples.
    mutating func packet(of frame: [Int16], on transport: TransportAnswer) -> Packet? {
        let level = voice.judge(frame)
        let payload = encoder.encode(frame)
        guard !payload.isEmpty else {
            skip()
            return nil
        }
        let packet = Packet(
            bytes: header(level, ssrc: transport.ssrc, payloadType: transport.payloadType) + payload,
            headerSize: Self.headerSize, timestamp: timestamp)
        sequence &+= 1
        timestamp &+= UInt32(frame.count)
        isBeginning = false
        packets &+= 1
        payloadBytes &+= UInt32(payload.count)
        return packet
    }

    /// Lets 20 ms go by without a packet.
    mutating func skip() {
        timestamp &+= UInt32(AudioPacket.samples)
        isBeginning = true
    }

    /// Provides for a loss of that many percent.
    func expect(loss percent: Int) { encoder.expect(loss: percent) }

    private func header(_ level: AudioLevel, ssrc: UInt32, payloadType: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        bytes.append(0x90)
        bytes.append(payloadType | (isBeginning ? 0x80 : 0))
        bytes.append(bigEndian: sequence)
        bytes.append(bigEndian: timestamp)
        bytes.append(bigEndian: ssrc)
        bytes.append(bigEndian: UInt16(0xBEDE))
        bytes.append(bigEndian: UInt16(1))
        bytes.append(contentsOf: [Self.levelID << 4, level.byte, 0, 0])
        return bytes
    }
}

extension [UInt8] {
    /// Appends a number in network order.
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
