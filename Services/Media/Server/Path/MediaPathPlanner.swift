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

    /// - Parameter kept: what stays of the participant's path, which begins anew; nil for a new one.
    /// - Throws: the refusal of an offer from which nothing can come, or that does not fit what stays.
    func path(
        for offer: MediaTransportOffer, of pid: ParticipantID, keeping kept: KeptPath? = nil
    ) throws(MediaRefusal) -> MediaPath {
        switch offer {
        case .engine(let publicKey, let codecs):
            guard kept?.isEngine ?? true else { throw .invalidArguments }
            return try engine(publicKey, codecs, pid, kept)
        case .web(let offer):
            guard !(kept?.isEngine ?? false) else { throw .invalidArguments }
            return try page(offer, kept)
        }
    }

    // Engines: keys come over the signaling, and there is no handshake.

    private func engine(
        _ publicKey: String, _ codecs: [String], _ pid: ParticipantID, _ given: KeptPath?
    ) throws(MediaRefusal) -> MediaPath {
        guard codecs.contains("opus") else { throw .unsupportedMedia }
        let keys = try EngineKeys(publicKey, of: pid)
        let credentials = MediaCredentials.random()
        let kept = given ?? engine()
        var settings = cm_participant_settings()
        settings.kind = CM_ENGINE
        settings.keys = keys.keys
        settings.opus = Self.engineOpus
        settings.level_id = Self.engineLevel
        settings.set(credentials, name: kept.name)
        settings.set(sources: [kept.source ?? 0])
        settings.set(slots: kept.slots.map { ($0, "") }, reports: kept.reports)
        let answer = EngineTransport(
            candidates: [MediaCandidate(transport: "udp", address: address, port: port)], ufrag: credentials.ufrag,
            password: credentials.password, publicKey: keys.publicKey, suite: Self.engineSuite,
            audioSource: kept.source ?? 0, audioSlots: kept.slots, opus: Int(Self.engineOpus))
        return MediaPath(settings: settings, answer: .engine(answer), kept: kept)
    }

    private func engine() -> KeptPath {
        var sources = FreshSources()
        return KeptPath(
            source: sources.next(), slots: (0..<audioSlots).map { _ in sources.next() }, reports: sources.next(),
            name: SecureRandom.hex(bytes: 8))
    }

    // Pages: the offer says what they send and get.

    private func page(_ text: String, _ given: KeptPath?) throws(MediaRefusal) -> MediaPath {
        let offer = try audio(of: text)
        let uplink = offer.sections.first { $0.role == .uplink }
        let downlink = offer.sections.filter { $0.isSlot }
        guard let opus = uplink?.payloadTypes.opus ?? downlink.first?.payloadTypes.opus else { throw .unsupportedMedia }
        let announced = (uplink?.offered.sources ?? []).prefix(Int(CM_SRTP_RECEIVED_SOURCES))
        let credentials = MediaCredentials.random()
        let kept = given ?? page(slots: downlink.count, sends: uplink != nil, announced: Set(announced))
        guard kept.sends == (uplink != nil), kept.hears ? kept.slots.count == downlink.count : downlink.isEmpty,
            Set(kept.slots).isDisjoint(with: announced)
        else { throw .badOffer }
        var settings = cm_participant_settings()
        settings.kind = CM_WEB
        settings.set(fingerprint: offer.fingerprint)
        settings.set(credentials, name: kept.name)
        settings.opus = opus
        settings.level_id = uplink?.id(of: .level) ?? 0
        if uplink?.isToldOfArrivals(opus) ?? false {
            settings.transport_id = uplink?.id(of: .transportSequence) ?? 0
        }
        settings.ids = cm_extension_ids(
            send_time: downlink.first?.shortID(of: .sendTime) ?? 0, mid: downlink.first?.shortID(of: .mid) ?? 0)
        settings.set(sources: Array(announced))
        let mids = downlink.map { $0.offered.mid ?? "" } + (downlink.isEmpty ? [""] : [])
        settings.set(slots: zip(kept.slots, mids).map { (ssrc: $0, mid: $1) }, reports: kept.reports)
        let answer = MediaAnswer(
            ufrag: credentials.ufrag, password: credentials.password, fingerprint: fingerprint,
            candidates: [MediaAnswer.Candidate(.udp, address: address, port: UInt16(clamping: port))],
            audioSlots: kept.hears ? kept.slots.map { MediaAnswer.Slot(ssrc: $0) } : [], videoSlots: [],
            name: kept.name)
        return MediaPath(settings: settings, answer: .web(answer: answer.text(to: offer)), kept: kept)
    }

    private func page(slots: Int, sends: Bool, announced: Set<UInt32>) -> KeptPath {
        var sources = FreshSources(taken: announced)
        // Each participant has a slot, also a page that hears nothing.
        return KeptPath(
            source: nil, slots: (0..<max(1, slots)).map { _ in sources.next() }, reports: sources.next(),
            name: SecureRandom.hex(bytes: 8), sends: sends, hears: slots > 0)
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
