/// One Opus frame of 20 ms, as it came in an RTP packet of an audio slot.
package struct AudioPacket: Sendable, Hashable {
    /// The samples of a frame: 20 ms at 48 kHz, which is also the clock of Opus' timestamps (RFC 7587).
    package static let samples: Int64 = 960

    /// The sequence number of the RTP packet, continuous within a slot also when its speaker changes.
    package var sequence: UInt16
    /// The timestamp of the RTP packet, in samples at 48 kHz.
    package var timestamp: UInt32
    /// Who speaks: the uid, which is the packet's one CSRC.
    package var speaker: UInt32
    /// The Opus frame.
    package var payload: [UInt8]

    /// Makes a packet of the fields of its RTP header and its payload.
    package init(sequence: UInt16, timestamp: UInt32, speaker: UInt32, payload: [UInt8]) {
        self.sequence = sequence
        self.timestamp = timestamp
        self.speaker = speaker
        self.payload = payload
    }

    /// Whether the frame is silence whatever was before it: an encoder writes up to 3 bytes only when there is nothing
    /// to say.
    package var isSilence: Bool { payload.count <= 3 }
}
