internal import CMedia
internal import MediaEngineLogic

/// What an authentic RTP packet of a node says.
struct AudioDatagram {
    var ssrc: UInt32
    var packet: AudioPacket
    /// The header as C read it, for what is counted there.
    var header: cm_rtp

    /// - Parameter bytes: the decrypted packet.
    /// - Returns: nil for what is no packet of that payload type with one speaker.
    init?(_ bytes: [UInt8], payloadType: UInt8) {
        var rtp = cm_rtp()
        guard cm_rtp_read(&rtp, bytes, bytes.count), rtp.payload_type == payloadType, rtp.csrc_count == 1 else {
            return nil
        }
        let speaker = bytes[Int(CM_RTP_HEADER_SIZE)...].prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let payload = bytes[Int(rtp.payload_offset)...].prefix(Int(rtp.payload_size))
        ssrc = rtp.ssrc
        header = rtp
        packet = AudioPacket(
            sequence: rtp.sequence, timestamp: rtp.timestamp, speaker: speaker, payload: Array(payload))
    }
}
