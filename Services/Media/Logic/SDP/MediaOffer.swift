/// A browser's offer, as this server understands it: one bundle that sends at most one audio and one video, and
/// receives the rest.
package struct MediaOffer: Equatable, Sendable {
    /// What the server does with a section.
    package enum Role: Equatable, Sendable {
        /// The participant's own media.
        case uplink
        /// The slot with that number, counted by kind.
        case slot(Int)
        /// Nothing: the section is rejected.
        case none
    }

    /// The payload types of a section; nil for codecs that the offer does not have.
    package struct PayloadTypes: Equatable, Sendable {
        package var opus: UInt8?
        package var vp8: UInt8?
        package var vp8Retransmission: UInt8?
        package var h264: UInt8?
        package var h264Retransmission: UInt8?
        /// The format parameters of H.264, repeated in the answer.
        package var h264Parameters = ""

        var all: [UInt8] { [opus, vp8, vp8Retransmission, h264, h264Retransmission].compactMap { $0 } }
    }

    package struct Section: Equatable, Sendable {
        package var offered: SDPSection
        package var role: Role
        package var payloadTypes = PayloadTypes()
    }

    /// In the order of the offer, which the answer repeats.
    package var sections: [Section] = []
    /// The SHA-256 of the peer's certificate: 32 bytes.
    package var fingerprint: [UInt8]

    /// Header extensions that the server reads or writes.
    package enum Extension: String, CaseIterable, Sendable {
        case level = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
        case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
        case transportSequence = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        case sendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    }

    /// Reads and judges an offer.
    /// - Parameters:
    ///   - audioSlots: the slots of one receiver; further sections are rejected, not the offer.
    ///   - videoSlots: 0 for a participant that receives no video.
    package init(_ text: String, audioSlots: Int, videoSlots: Int) throws(SDPError) {
        let description = try SDPDescription(text)
        fingerprint = try Self.fingerprint(of: description)
        let live = description.sections.filter(\.isLive)
        try Self.checkTransport(of: description, live: live)
        var slots: [SDPSection.Kind: Int] = [:]
        var senders: Set<SDPSection.Kind> = []
        for section in description.sections {
            var taken = Section(offered: section, role: .none)
            let payloadTypes = PayloadTypes(section)
            if section.isLive, !payloadTypes.all.isEmpty {
                switch section.direction {
                case .sendOnly, .sendRecv:
                    guard senders.insert(section.kind).inserted else { throw .unsuitable(.senders) }
                    taken.role = .uplink
                case .recvOnly:
                    let slot = slots[section.kind, default: 0]
                    if slot < (section.kind == .audio ? audioSlots : videoSlots) {
                        taken.role = .slot(slot)
                        slots[section.kind] = slot + 1
                    }
                case .inactive: break
                }
            }
            if taken.role != .none { taken.payloadTypes = payloadTypes }
            sections.append(taken)
        }
        guard sections.contains(where: { $0.role != .none }) else {
            let hasCodecs = live.contains { !PayloadTypes($0).all.isEmpty }
            throw .unsuitable(live.isEmpty || hasCodecs ? .nothing : .codecs)
        }
    }

    /// One SHA-256 fingerprint, wherever it is repeated.
    private static func fingerprint(of description: SDPDescription) throws(SDPError) -> [UInt8] {
        let texts = description.fingerprints + description.sections.flatMap(\.fingerprints)
        var found: [UInt8]?
        for text in texts {
            guard let (function, value) = Substring(text).cut(at: " "), function.lowercased() == "sha-256" else {
                continue
            }
            let bytes = value.split(separator: ":").compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
            guard bytes.count == 32, value.utf8.count == 95, found == nil || found == bytes else {
                throw .unsuitable(.fingerprint)
            }
            found = bytes
        }
        guard let found else { throw .unsuitable(.fingerprint) }
        return found
    }

    private static func checkTransport(of description: SDPDescription, live: [SDPSection]) throws(SDPError) {
        let mids = live.compactMap(\.mid)
        guard mids.count == live.count, Set(mids).count == mids.count,
            mids.isEmpty || description.bundles.contains(where: { Set(mids).isSubset(of: $0) })
        else { throw .unsuitable(.bundle) }
        // The first section of a bundle speaks for all (RFC 8843, section 7.1.3).
        guard let first = live.first else { return }
        guard description.ice.areComplete || first.ice.areComplete else { throw .unsuitable(.ice) }
        for section in live {
            // The server is passive: it waits for the peer's handshake.
            switch section.setup ?? description.setup {
            case "actpass", "active": break
            default: throw .unsuitable(.setup)
            }
            guard section.isMultiplexed,
                section.transport == "UDP/TLS/RTP/SAVPF" || section.transport == "TCP/DTLS/RTP/SAVPF"
            else { throw .unsuitable(.transport) }
        }
    }
}

extension SDPSection {
    /// Whether this is audio or video that the peer wants to exchange.
    fileprivate var isLive: Bool { !isRejected && kind != .other }
}

extension MediaOffer.PayloadTypes {
    /// The codecs of a section that this server forwards; of each the first.
    init(_ section: SDPSection) {
        for codec in section.codecs {
            switch (section.kind, codec.name) {
            case (.audio, "opus") where codec.clockRate == 48_000 && codec.channels == 2 && opus == nil:
                opus = codec.payloadType
            case (.video, "vp8") where codec.clockRate == 90_000 && vp8 == nil: vp8 = codec.payloadType
            case (.video, "h264") where codec.clockRate == 90_000 && h264 == nil && Self.isBaseline(codec.parameters):
                h264 = codec.payloadType
                h264Parameters =
                    "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id="
                    + (codec.parameters["profile-level-id"] ?? "42e01f").lowercased()
            default: break
            }
        }
        for codec in section.codecs where codec.name == "rtx" && section.kind == .video {
            guard let original = codec.parameters["apt"].flatMap({ UInt8($0) }) else { continue }
            if original == vp8, vp8Retransmission == nil { vp8Retransmission = codec.payloadType }
            if original == h264, h264Retransmission == nil { h264Retransmission = codec.payloadType }
        }
    }

    /// Constrained baseline, in packets that may be fragments.
    private static func isBaseline(_ parameters: [String: String]) -> Bool {
        guard parameters["packetization-mode"] == "1", let profile = parameters["profile-level-id"],
            profile.utf8.count == 6,
            let number = UInt32(profile, radix: 16)
        else { return false }
        // Profile 66 with the flag constraint_set1.
        return number >> 16 == 0x42 && number >> 8 & 0x40 != 0
    }
}
