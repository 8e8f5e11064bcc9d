internal import CRe
internal import Glibc
internal import SIPBridgeLogic

// Offers and answers, RFC 3264.
extension MediaSession {
    /// Creates an offer: the first one, or one that repeats the current parameters.
    /// - Throws: ``MediaError``.
    func makeOffer() throws(MediaError) -> [UInt8] {
        let offer = MediaDescriptions.Offer(
            layout: descriptions.layout, profiles: offerProfiles,
            // Later offers keep what was agreed on.
            crypto: agreement.map { $0.keys?.local } ?? descriptions.key)
        let sdp = try open(offer)
        defer { cre_sdp_close(sdp) }
        let description = descriptions.sign(try encode(sdp, isOffer: true))
        descriptions.offer = offer
        return description
    }

    /// Applies the answer to the last offer; more than once if it is in a 183 and again in the 200.
    /// - Throws: ``MediaError``; the session is then unchanged.
    func receiveAnswer(_ answer: [UInt8]) throws(MediaError) {
        guard let offer = descriptions.offer else {
            throw MediaError(code: .state, message: "an answer came without an offer")
        }
        let sdp = try open(offer)
        defer { cre_sdp_close(sdp) }
        // Puts our stream at the position where the answer's stream is expected.
        _ = try encode(sdp, isOffer: true)
        try decode(answer, into: sdp, isOffer: false)
        let cryptos = offer.crypto == nil ? [] : readCryptos(sdp).filter { $0.tag == offer.crypto?.tag }
        try adopt(try agreement(sdp, answer, cryptos: cryptos, local: offer.crypto))
    }

    /// Applies an offer from the peer, the first or a later one.
    /// - Returns: the answer.
    /// - Throws: ``MediaError``; the session is then unchanged, and the request must be refused (488).
    func receiveOffer(_ offer: [UInt8]) throws(MediaError) -> [UInt8] {
        let profiles = security == .off ? CRE_SDP_PLAIN.rawValue : CRE_SDP_PLAIN.rawValue | CRE_SDP_SECURE.rawValue
        let sdp = try open(MediaDescriptions.Offer(layout: nil, profiles: profiles, crypto: nil))
        defer { cre_sdp_close(sdp) }
        try decode(offer, into: sdp, isOffer: true)
        let new = try agreement(
            sdp, offer, cryptos: security == .off ? [] : readCryptos(sdp), local: descriptions.key)
        if let local = new.keys?.local { try setCrypto(sdp, local) }
        let answer = try encode(sdp, isOffer: false)
        try adopt(new)
        descriptions.layout = offer
        descriptions.offer = nil
        return descriptions.sign(answer)
    }

    private var offerProfiles: UInt32 {
        if let agreement, agreement.isSecureProfile { return CRE_SDP_SECURE.rawValue }
        switch security {
        case .off: return CRE_SDP_PLAIN.rawValue
        case .optional: return CRE_SDP_PLAIN.rawValue | CRE_SDP_SECURE.rawValue
        // The peer may have offered its key in RTP/AVP; we then keep that profile.
        case .required:
            return agreement == nil ? CRE_SDP_SECURE.rawValue : CRE_SDP_PLAIN.rawValue | CRE_SDP_SECURE.rawValue
        }
    }

    private func open(_ offer: MediaDescriptions.Offer) throws(MediaError) -> OpaquePointer {
        guard stream != nil else { throw MediaError(code: .state, message: "the media session has ended") }
        var sdp: OpaquePointer?
        let error = configuration.publicAddress.withCString {
            var local = cre_sdp_local(
                address: $0, port: port, profiles: offer.profiles,
                event_payload_type: offersEvents ? MediaDescriptions.eventType : -1)
            return cre_sdp_open(&sdp, &local)
        }
        guard error == 0, let sdp else {
            throw MediaError(code: .system, message: "could not create a session description (errno \(error))")
        }
        do throws(MediaError) {
            if let layout = offer.layout { try decode(layout, into: sdp, isOffer: true) }
            if let crypto = offer.crypto { try setCrypto(sdp, crypto) }
        } catch {
            cre_sdp_close(sdp)
            throw error
        }
        return sdp
    }

    private func setCrypto(_ sdp: OpaquePointer, _ crypto: MediaCrypto) throws(MediaError) {
        let error = cre_sdp_set_crypto(sdp, crypto.value)
        guard error == 0 else { throw MediaError(code: .system, message: "out of memory (errno \(error))") }
    }

    private func decode(_ bytes: [UInt8], into sdp: OpaquePointer, isOffer: Bool) throws(MediaError) {
        guard bytes.count <= Self.maxDescriptionBytes else {
            throw MediaError(
                code: .tooLong, message: "the session description has more than \(Self.maxDescriptionBytes) bytes")
        }
        let error = cre_sdp_decode(sdp, bytes, bytes.count, isOffer)
        switch error {
        case 0: return
        case EBADMSG: throw MediaError(code: .malformed, message: "not a session description")
        default: throw MediaError(code: .unacceptable, message: "unacceptable streams (errno \(error))")
        }
    }

    private func encode(_ sdp: OpaquePointer, isOffer: Bool) throws(MediaError) -> [UInt8] {
        var error: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.maxDescriptionBytes) { buffer, count in
            error = cre_sdp_encode(sdp, isOffer, buffer.baseAddress, buffer.count, &count)
        }
        guard error == 0 else {
            throw MediaError(code: .system, message: "could not encode the session description (errno \(error))")
        }
        return bytes
    }

    /// The usable keys, in the peer's order.
    private func readCryptos(_ sdp: OpaquePointer) -> [MediaCrypto] {
        var cryptos: [MediaCrypto] = []
        withUnsafeMutablePointer(to: &cryptos) {
            cre_sdp_each_crypto(
                sdp,
                { value, context in
                    guard let value, let context, let crypto = MediaCrypto(String(cString: value)) else { return }
                    context.assumingMemoryBound(to: [MediaCrypto].self).pointee.append(crypto)
                }, $0)
        }
        return cryptos
    }

    private func agreement(
        _ sdp: OpaquePointer, _ description: [UInt8], cryptos: [MediaCrypto], local: MediaCrypto?
    ) throws(MediaError) -> Agreement {
        var remote = cre_sdp_remote()
        guard cre_sdp_get_remote(sdp, &remote) == 0 else {
            throw MediaError(code: .unacceptable, message: "the peer offers no usable audio stream")
        }
        guard let audioType = UInt8(exactly: remote.audio_payload_type) else {
            throw MediaError(code: .unacceptable, message: "the peer supports neither PCMU nor PCMA")
        }
        return Agreement(
            peer: try peer(remote, description), audioType: audioType, isALaw: remote.is_alaw,
            outgoingEventType: UInt8(exactly: remote.event_payload_type),
            incomingEventType: UInt8(exactly: remote.local_event_payload_type), peerSends: remote.sends,
            peerReceives: remote.receives, isSecureProfile: remote.is_secure_profile,
            keys: try keys(cryptos, local: local, isSecureProfile: remote.is_secure_profile))
    }

    private func peer(_ remote: cre_sdp_remote, _ description: [UInt8]) throws(MediaError) -> Peer? {
        let address = String(cString: remote.address)
        if remote.is_unspecified {
            // 0.0.0.0 is the old way to put a call on hold; any other value that is not an address is a name.
            guard String(decoding: description, as: UTF8.self).contains("IN IP4 0.0.0.0") else {
                throw MediaError(code: .unacceptable, message: "the peer's media address is not numeric")
            }
            return nil
        }
        guard address.contains(":") == configuration.address.contains(":") else {
            throw MediaError(code: .unacceptable, message: "the peer's media address is of the other address family")
        }
        return Peer(
            address: address, port: remote.port, reportAddress: String(cString: remote.rtcp_address),
            reportPort: remote.rtcp_port)
    }

    private func keys(
        _ cryptos: [MediaCrypto], local: MediaCrypto?, isSecureProfile: Bool
    ) throws(MediaError) -> Keys? {
        guard let remote = cryptos.first, var local else {
            guard security != .required, !isSecureProfile else {
                throw MediaError(code: .security, message: "the peer offers no usable SRTP key")
            }
            return nil
        }
        local.tag = remote.tag
        return Keys(local: local, remote: remote)
    }
}
