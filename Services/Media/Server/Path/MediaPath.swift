internal import CMediaNode
internal import MediaLogic
internal import SignalingProtocol

/// A participant's path to the node, before it is opened: the node's settings, and what the participant is told of it.
struct MediaPath: Sendable {
    /// All but the ids, the uid, and what the participant is allowed.
    var settings: cm_participant_settings
    var answer: MediaTransportAnswer
    var kept: KeptPath

    /// The settings of a participant.
    func settings(id: UInt64, channel: UInt64, uid: UInt32, flags: MediaFlags) -> cm_participant_settings {
        var settings = settings
        settings.id = id
        settings.channel = channel
        settings.uid = uid
        settings.allowed = kept.allowed(flags)
        return settings
    }

    /// The settings with which a participant's path begins anew.
    var restart: cm_restart_settings {
        var restart = cm_restart_settings()
        restart.ufrag = settings.ufrag
        restart.password = settings.password
        restart.ufrag_size = settings.ufrag_size
        restart.password_size = settings.password_size
        restart.keys = settings.keys
        restart.fingerprint = settings.fingerprint
        restart.sources = settings.sources
        restart.source_count = settings.source_count
        restart.opus = settings.opus
        restart.level_id = settings.level_id
        restart.transport_id = settings.transport_id
        restart.ids = settings.ids
        withUnsafeBytes(of: settings.slots) { bytes in
            let slots = bytes.bindMemory(to: cm_slot_settings.self)
            withUnsafeMutableBytes(of: &restart.mids) { bytes in
                let mids = bytes.bindMemory(to: cm_mid.self)
                for index in mids.indices { mids[index] = cm_mid(text: slots[index].mid, size: slots[index].mid_size) }
            }
        }
        return restart
    }
}

/// What of a path stays when it begins anew: who hears the participant, and whom it hears, notices nothing.
struct KeptPath: Equatable, Sendable {
    /// The SSRC that an engine sends with; nil for a page, which chooses its own.
    var source: UInt32?
    /// The SSRCs of its slots.
    var slots: [UInt32]
    /// The SSRC of the node's reports.
    var reports: UInt32
    /// The canonical name of its slots.
    var name: String
    /// Whether it can send audio, and hear.
    var sends = true
    var hears = true

    var isEngine: Bool { source != nil }

    /// What the loop lets a participant do.
    func allowed(_ flags: MediaFlags) -> UInt32 {
        var allowed: UInt32 = 0
        if hears { allowed |= UInt32(CM_MAY_HEAR) }
        if sends && !flags.contains(.audioMuted) { allowed |= UInt32(CM_MAY_SEND_AUDIO) }
        return allowed
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
