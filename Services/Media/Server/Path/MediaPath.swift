internal import CMediaNode
internal import SignalingProtocol

/// A participant's path to the node, before it is opened: the node's settings, and what the participant is told of it.
struct MediaPath: Sendable {
    /// All but the ids, the uid, and what the participant is allowed.
    var settings: cm_participant_settings
    var answer: MediaTransportAnswer
    /// Whether it can send audio, and hear.
    var sends = true
    var hears = true

    /// The settings of a participant.
    func settings(id: UInt64, channel: UInt64, uid: UInt32, flags: MediaFlags) -> cm_participant_settings {
        var settings = settings
        settings.id = id
        settings.channel = channel
        settings.uid = uid
        if hears { settings.allowed |= UInt32(CM_MAY_HEAR) }
        if sends && !flags.contains(.audioMuted) { settings.allowed |= UInt32(CM_MAY_SEND_AUDIO) }
        return settings
    }
}

/// Credentials of ICE, of the node's side (RFC 8445, section 5.3).
struct MediaCredentials: Sendable {
    /// The participant's name on the wire, unique in the node.
    let ufrag: String
    let password: String

    /// New ones: 8 and 24 letters and digits.
    static func random() -> MediaCredentials { MediaCredentials(ufrag: text(8), password: text(24)) }

    private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

    private static func text(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<count).compactMap { _ in letters.randomElement(using: &generator) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension cm_participant_settings {
    /// Writes the credentials and the canonical name of all slots.
    mutating func set(_ credentials: MediaCredentials, name: String) {
        ufrag_size = Self.copy(credentials.ufrag, to: &ufrag)
        password_size = Self.copy(credentials.password, to: &password)
        name_size = Self.copy(name, to: &self.name)
    }

    mutating func set(fingerprint bytes: [UInt8]) {
        withUnsafeMutableBytes(of: &fingerprint) { $0.copyBytes(from: bytes.prefix($0.count)) }
    }

    /// Sets what the participant gets, and with which SSRC the node reports.
    /// - Parameter slots: up to `CM_AUDIO_SLOTS_MAX`, with up to `CM_MID_MAX` bytes of a mid.
    mutating func set(slots given: [(ssrc: UInt32, mid: String)], reports: UInt32) {
        report_ssrc = reports
        slot_count = UInt32(given.count)
        withUnsafeMutableBytes(of: &slots) { bytes in
            let all = bytes.bindMemory(to: cm_slot_settings.self)
            for (index, slot) in given.enumerated() {
                all[index].ssrc = slot.ssrc
                all[index].mid_size = Self.copy(slot.mid, to: &all[index].mid)
            }
        }
    }

    /// Sets the SSRCs of the audio that it sends; up to `CM_SRTP_RECEIVED_SOURCES`.
    mutating func set(sources given: [UInt32]) {
        source_count = UInt32(given.count)
        withUnsafeMutableBytes(of: &sources) { bytes in
            let all = bytes.bindMemory(to: cm_source_settings.self)
            for (index, ssrc) in given.enumerated() {
                all[index] = cm_source_settings(kind: CM_SOURCE_AUDIO, ssrc: ssrc)
            }
        }
    }

    /// - Returns: the bytes of the text.
    private static func copy<Field>(_ text: String, to field: inout Field) -> UInt8 {
        let bytes = Array(text.utf8)
        withUnsafeMutableBytes(of: &field) { $0.copyBytes(from: bytes.prefix($0.count)) }
        return UInt8(min(bytes.count, MemoryLayout<Field>.size))
    }
}
