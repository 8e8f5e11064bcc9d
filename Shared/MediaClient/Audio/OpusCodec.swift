internal import COpus
internal import MediaEngineLogic

/// Makes Opus packets of 20 ms: 48 kHz, mono, with the copies of lost frames that RFC 6716 section 2.1.7 describes.
final class OpusEncoder {
    /// What an encoder can be asked for, in bits per second.
    static let bitRates = 6000...510_000
    /// The most loss, in percent, that the encoder provides for.
    static let greatestLoss = 30
    /// The greatest packet of one frame (RFC 6716 section 3.2.1).
    private static let packetBound = 1275
    private static let complexity: Int32 = 5

    private let state: OpaquePointer
    private var packet = [UInt8](repeating: 0, count: packetBound)
    private var loss = 0

    /// - Throws: ``MediaError/codecFailed`` when libopus has no memory.
    init(bitRate: Int) throws(MediaError) {
        var result: Int32 = 0
        guard let state = opus_encoder_create(48_000, 1, OPUS_APPLICATION_AUDIO, &result), result == OPUS_OK else {
            throw .codecFailed
        }
        self.state = state
        let rate = min(max(bitRate, Self.bitRates.lowerBound), Self.bitRates.upperBound)
        set(OPUS_SET_BITRATE_REQUEST, Int32(rate))
        set(OPUS_SET_COMPLEXITY_REQUEST, Self.complexity)
        set(OPUS_SET_INBAND_FEC_REQUEST, 1)
        set(OPUS_SET_DTX_REQUEST, 0)
    }

    deinit { opus_encoder_destroy(state) }

    /// The packet of a frame of 960 samples; empty when libopus refuses it.
    func encode(_ frame: [Int16]) -> ArraySlice<UInt8> {
        let size = opus_encode(state, frame, Int32(frame.count), &packet, Int32(packet.count))
        return packet[..<max(0, Int(size))]
    }

    /// Spends bits on copies for a loss of that many percent.
    func expect(loss percent: Int) {
        let percent = min(max(percent, 0), Self.greatestLoss)
        guard percent != loss else { return }
        loss = percent
        set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(percent))
    }

    /// All requests are ones that every libopus knows, with numbers within their range.
    private func set(_ request: Int32, _ value: Int32) {
        let result = copus_set(state, request, value)
        precondition(result == OPUS_OK, "libopus refuses \(value) for \(request): \(result)")
    }
}

/// Decodes the packets of one slot. What does not decode is concealed: packets come from other people.
final class OpusDecoder {
    private let state: OpaquePointer
    private var samples = [Int16](repeating: 0, count: Int(AudioPacket.samples))
    /// The frames that libopus could not read.
    private(set) var failures = 0

    /// - Throws: ``MediaError/codecFailed`` when libopus has no memory.
    init() throws(MediaError) {
        var result: Int32 = 0
        guard let state = opus_decoder_create(48_000, 1, &result), result == OPUS_OK else { throw .codecFailed }
        self.state = state
    }

    deinit { opus_decoder_destroy(state) }

    /// Forgets everything that was heard: another stream begins.
    func reset() { _ = copus_reset(state) }

    /// The 960 samples of a packet.
    func decode(_ payload: [UInt8]) -> [Int16] { decode(payload, isCopy: false) }

    /// The 960 samples of the frame before a packet, by the copy in it, or else a likely continuation.
    func recover(from payload: [UInt8]) -> [Int16] { decode(payload, isCopy: true) }

    /// 960 samples that are likely to follow.
    func conceal() -> [Int16] {
        taken(opus_decode(state, nil, 0, &samples, Int32(samples.count), 0))
    }

    private func decode(_ payload: [UInt8], isCopy: Bool) -> [Int16] {
        guard !payload.isEmpty else { return conceal() }
        let count = opus_decode(
            state, payload, Int32(payload.count), &samples, Int32(samples.count), isCopy ? 1 : 0)
        guard count < 0 else { return taken(count) }
        // Longer packets than 20 ms, or nonsense.
        failures += 1
        return isCopy ? taken(count) : conceal()
    }

    /// What libopus has written; a shorter packet is followed by silence.
    private func taken(_ count: Int32) -> [Int16] {
        let count = max(0, Int(count))
        guard count < samples.count else { return samples }
        return Array(samples[..<count]) + [Int16](repeating: 0, count: samples.count - count)
    }
}
