/// The server's answer to a ``MediaOffer``: ICE-lite, passive in DTLS, one SSRC for each slot. Layers that are offered
/// (rids) are not accepted, because nothing chooses among them: the peer sends one. A peer that is answered
/// `transport-cc` is owed reports of arrivals every 100 ms, for its audio too.
package struct MediaAnswer: Sendable {
    /// Where the server receives.
    package struct Candidate: Equatable, Sendable {
        package enum Transport: Sendable {
            case udp, tcp
        }

        package var transport: Transport
        /// An IPv4 or IPv6 address.
        package var address: String
        package var port: UInt16

        package init(_ transport: Transport, address: String, port: UInt16) {
            self.transport = transport
            self.address = address
            self.port = port
        }
    }

    /// The sources of a slot.
    package struct Slot: Equatable, Sendable {
        package var ssrc: UInt32
        /// The SSRC of the slot's retransmissions; nil for audio, which has none.
        package var retransmission: UInt32?

        package init(ssrc: UInt32, retransmission: UInt32? = nil) {
            self.ssrc = ssrc
            self.retransmission = retransmission
        }
    }

    package var ufrag: String
    package var password: String
    /// The SHA-256 of the server's certificate.
    package var fingerprint: [UInt8]
    package var candidates: [Candidate]
    package var audioSlots: [Slot]
    package var videoSlots: [Slot]
    /// The canonical name of this receiver's slots.
    package var name: String

    package init(
        ufrag: String, password: String, fingerprint: [UInt8], candidates: [Candidate], audioSlots: [Slot],
        videoSlots: [Slot], name: String
    ) {
        self.ufrag = ufrag
        self.password = password
        self.fingerprint = fingerprint
        self.candidates = candidates
        self.audioSlots = audioSlots
        self.videoSlots = videoSlots
        self.name = name
    }

    /// Writes the answer.
    package func text(to offer: MediaOffer) -> String {
        var lines = ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=ice-lite"]
        let mids = offer.sections.filter { $0.role != .none }.compactMap(\.offered.mid)
        lines += ["a=group:BUNDLE \(mids.joined(separator: " "))", "a=msid-semantic: WMS"]
        // The bundle's transport is described where it is first used, and repeated harmlessly.
        for section in offer.sections { lines += self.lines(of: section) }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    private func lines(of section: MediaOffer.Section) -> [String] {
        let offered = section.offered
        let types = section.payloadTypes
        guard section.role != .none else {
            var lines = [
                "m=\(offered.media) 0 \(offered.transport) \(offered.formats.first ?? "0")", "c=IN IP4 0.0.0.0",
            ]
            if let mid = offered.mid { lines.append("a=mid:\(mid)") }
            return lines + ["a=inactive"]
        }
        let formats = types.all.map(String.init).joined(separator: " ")
        var lines = [
            "m=\(offered.media) 9 \(offered.transport) \(formats)", "c=IN IP4 0.0.0.0", "a=mid:\(offered.mid ?? "")",
            "a=\(section.role == .uplink ? "recvonly" : "sendonly")", "a=rtcp-mux", "a=rtcp-rsize",
            "a=ice-ufrag:\(ufrag)",
            "a=ice-pwd:\(password)", "a=fingerprint:sha-256 \(fingerprintText)", "a=setup:passive",
        ]
        lines += candidateLines + ["a=end-of-candidates"]
        lines += codecLines(types, section) + extensionLines(section)
        if case .slot(let number) = section.role { lines += sourceLines(number, of: section) }
        return lines
    }

    private var fingerprintText: String {
        fingerprint.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// Earlier ones are preferred, and UDP before TCP (RFC 8445, section 5.1.2; RFC 6544).
    private var candidateLines: [String] {
        candidates.enumerated().map { index, candidate in
            let preference = UInt32(65_535 - min(index, 1000))
            let priority = (candidate.transport == .udp ? 126 : 90) << 24 | preference << 8 | 255
            let protocolName = candidate.transport == .udp ? "udp" : "tcp"
            let suffix = candidate.transport == .udp ? "" : " tcptype passive"
            return
                "a=candidate:\(index + 1) 1 \(protocolName) \(priority) \(candidate.address) \(candidate.port)"
                + " typ host\(suffix)"
        }
    }

    private func codecLines(_ types: MediaOffer.PayloadTypes, _ section: MediaOffer.Section) -> [String] {
        var lines: [String] = []
        if let opus = types.opus {
            lines += ["a=rtpmap:\(opus) opus/48000/2", "a=fmtp:\(opus) minptime=10;useinbandfec=1"]
            if section.role == .uplink { lines += feedback(opus, ["transport-cc"], section) }
        }
        for (video, retransmission, name, parameters) in [
            (types.vp8, types.vp8Retransmission, "VP8", ""),
            (types.h264, types.h264Retransmission, "H264", types.h264Parameters),
        ] {
            guard let video else { continue }
            lines.append("a=rtpmap:\(video) \(name)/90000")
            if !parameters.isEmpty { lines.append("a=fmtp:\(video) \(parameters)") }
            // A receiver estimates its own downlink; a sender is told when each packet came.
            let estimate = section.role == .uplink ? "transport-cc" : "goog-remb"
            lines += feedback(video, [estimate, "ccm fir", "nack", "nack pli"], section)
            if let retransmission {
                lines += ["a=rtpmap:\(retransmission) rtx/90000", "a=fmtp:\(retransmission) apt=\(video)"]
            }
        }
        return lines
    }

    /// The kinds that were offered, of those that the server wants.
    private func feedback(_ payloadType: UInt8, _ kinds: [String], _ section: MediaOffer.Section) -> [String] {
        let offered = section.offered.codecs.first { $0.payloadType == payloadType }?.feedback ?? []
        return kinds.filter(offered.contains).map { "a=rtcp-fb:\(payloadType) \($0)" }
    }

    private func extensionLines(_ section: MediaOffer.Section) -> [String] {
        MediaOffer.Extension.allCases.compactMap { name in
            let isWanted =
                switch name {
                case .mid: true
                case .level: section.role == .uplink && section.offered.kind == .audio
                case .transportSequence: section.role == .uplink
                case .sendTime: section.role != .uplink
                }
            guard isWanted, let id = section.offered.extensions[name.rawValue] else { return nil }
            // What the server writes is in the one-byte form.
            return section.role == .uplink || id <= 14 ? "a=extmap:\(id) \(name.rawValue)" : nil
        }
    }

    private func sourceLines(_ number: Int, of section: MediaOffer.Section) -> [String] {
        let slots = section.offered.kind == .audio ? audioSlots : videoSlots
        guard slots.indices.contains(number) else { return [] }
        let slot = slots[number]
        let stream = "\(section.offered.media)\(number)"
        var lines = ["a=msid:\(stream) \(stream)"]
        if let retransmission = slot.retransmission {
            lines.append("a=ssrc-group:FID \(slot.ssrc) \(retransmission)")
        }
        return lines
            + [slot.ssrc, slot.retransmission].compactMap { $0 }.flatMap {
                ["a=ssrc:\($0) cname:\(name)", "a=ssrc:\($0) msid:\(stream) \(stream)"]
            }
    }
}
