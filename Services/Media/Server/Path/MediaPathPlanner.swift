internal import CMediaNode
internal import MediaLogic
internal import SignalingProtocol

/// Makes the paths of participants from what they bring. Reads what strangers write; no I/O.
struct MediaPathPlanner: Sendable {
    /// The numeric address that participants are told.
    let address: String
    let port: Int
    /// The SHA-256 of the node's certificate.
    let fingerprint: [UInt8]
    /// The audio slots of a receiver.
    let audioSlots: Int

    /// The payload type of Opus, and the header extension of levels (RFC 6464), in engines' streams.
    static let engineOpus: UInt8 = 111
    static let engineLevel: UInt8 = 1
    /// The profile that protects engines' streams (RFC 7714).
    static let engineSuite = "AEAD_AES_128_GCM"

    /// - Throws: the refusal of an offer from which nothing can come.
    func path(for offer: MediaTransportOffer, of pid: ParticipantID) throws(MediaRefusal) -> MediaPath {
        switch offer {
        case .engine(let publicKey, let codecs): try engine(publicKey, codecs, pid)
        case .web(let offer): try page(offer)
        }
    }

    // Engines: keys come over the signaling, and there is no handshake.

    private func engine(_ publicKey: String, _ codecs: [String], _ pid: ParticipantID) throws(MediaRefusal) -> MediaPath
    {
        guard codecs.contains("opus") else { throw .unsupportedMedia }
        let keys = try EngineKeys(publicKey, of: pid)
        var sources = FreshSources()
        let credentials = MediaCredentials.random()
        let slots = (0..<audioSlots).map { _ in sources.next() }
        let source = sources.next()
        var settings = cm_participant_settings()
        settings.kind = CM_ENGINE
        settings.keys = keys.keys
        settings.opus = Self.engineOpus
        settings.level_id = Self.engineLevel
        settings.set(credentials, name: SecureRandom.hex(bytes: 8))
        settings.set(sources: [source])
        settings.set(slots: slots.map { ($0, "") }, reports: sources.next())
        let answer = EngineTransport(
            candidates: [MediaCandidate(transport: "udp", address: address, port: port)], ufrag: credentials.ufrag,
            password: credentials.password, publicKey: keys.publicKey, suite: Self.engineSuite, audioSource: source,
            audioSlots: slots, opus: Int(Self.engineOpus))
        return MediaPath(settings: settings, answer: .engine(answer))
    }

    // Pages: the offer says what they send and get.

    private func page(_ text: String) throws(MediaRefusal) -> MediaPath {
        let offer = try audio(of: text)
        let uplink = offer.sections.first { $0.role == .uplink }
        let downlink = offer.sections.filter { $0.isSlot }
        guard let opus = uplink?.payloadTypes.opus ?? downlink.first?.payloadTypes.opus else { throw .unsupportedMedia }
        let announced = (uplink?.offered.sources ?? []).prefix(Int(CM_SRTP_RECEIVED_SOURCES))
        var sources = FreshSources(taken: Set(announced))
        let credentials = MediaCredentials.random()
        let name = SecureRandom.hex(bytes: 8)
        let slots = downlink.map { (ssrc: sources.next(), mid: $0.offered.mid ?? "") }
        var settings = cm_participant_settings()
        settings.kind = CM_WEB
        settings.set(fingerprint: offer.fingerprint)
        settings.set(credentials, name: name)
        settings.opus = opus
        settings.level_id = uplink?.id(of: .level) ?? 0
        if uplink?.isToldOfArrivals(opus) ?? false {
            settings.transport_id = uplink?.id(of: .transportSequence) ?? 0
        }
        settings.ids = cm_extension_ids(
            send_time: downlink.first?.shortID(of: .sendTime) ?? 0, mid: downlink.first?.shortID(of: .mid) ?? 0)
        settings.set(sources: Array(announced))
        // Each participant has a slot, also a page that hears nothing.
        settings.set(slots: slots.isEmpty ? [(sources.next(), "")] : slots, reports: sources.next())
        let answer = MediaAnswer(
            ufrag: credentials.ufrag, password: credentials.password, fingerprint: fingerprint,
            candidates: [MediaAnswer.Candidate(.udp, address: address, port: UInt16(clamping: port))],
            audioSlots: slots.map { MediaAnswer.Slot(ssrc: $0.ssrc) }, videoSlots: [], name: name)
        return MediaPath(
            settings: settings, answer: .web(answer: answer.text(to: offer)), sends: uplink != nil,
            hears: !slots.isEmpty)
    }

    /// An offer whose video is rejected: it is not forwarded, so no page should send it.
    private func audio(of text: String) throws(MediaRefusal) -> MediaOffer {
        do {
            var offer = try MediaOffer(text, audioSlots: audioSlots, videoSlots: 0)
            for index in offer.sections.indices where offer.sections[index].offered.kind != .audio {
                offer.sections[index].role = .none
            }
            return offer
        } catch {
            throw error.refusal
        }
    }
}

extension MediaOffer.Section {
    fileprivate var isSlot: Bool { if case .slot = role { true } else { false } }

    /// The id of a header extension that was offered.
    fileprivate func id(of name: MediaOffer.Extension) -> UInt8? { offered.extensions[name.rawValue] }

    /// The same, unless it needs the two-byte form, in which the node does not write.
    fileprivate func shortID(of name: MediaOffer.Extension) -> UInt8? { id(of: name).flatMap { $0 <= 14 ? $0 : nil } }

    /// Whether reports of arrivals were offered for a payload type.
    fileprivate func isToldOfArrivals(_ payloadType: UInt8) -> Bool {
        offered.codecs.contains { $0.payloadType == payloadType && $0.feedback.contains("transport-cc") }
    }
}

/// SSRCs that differ from each other, and are not 0.
private struct FreshSources {
    var taken: Set<UInt32> = []

    mutating func next() -> UInt32 {
        while true {
            let ssrc = UInt32.random(in: 1...UInt32.max)
            if taken.insert(ssrc).inserted { return ssrc }
        }
    }
}
