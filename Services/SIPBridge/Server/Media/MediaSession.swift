internal import CRe
internal import Pacing
internal import SIPBridgeLogic

/// The media of one call: an RTP stream of silence and digits, and its negotiation.
///
/// ``stop()`` must be called before the last reference is released.
///
/// RTP is accepted only from the address in the peer's SDP, and from the address its SIP comes from, because the SDP of
/// a peer behind NAT may contain a private address. It is accepted from any port, since many gateways send from another
/// port than the one they listen on. So nobody else can insert digits into a call. Our packets are sent to the address
/// in the SDP, but once packets arrive from the SIP address, to their source (symmetric RTP, RFC 4961).
@SIPThread
final class MediaSession {
    /// Our SRTP key and the peer's.
    struct Keys: Equatable {
        var local: MediaCrypto
        var remote: MediaCrypto
    }

    /// The parameters that both sides have agreed on.
    struct Agreement: Equatable {
        /// Nil while the peer has no address (0.0.0.0: on hold).
        var peer: Peer?
        var audioType: UInt8
        var isALaw: Bool
        /// The payload type of events that we send; nil when the peer does not support them.
        var outgoingEventType: UInt8?
        /// The payload type of events that we receive.
        var incomingEventType: UInt8?
        var peerSends: Bool
        var peerReceives: Bool
        var isSecureProfile: Bool
        var keys: Keys?

        var maySend: Bool { peerReceives && peer != nil }
        var isHold: Bool { !(peerSends && maySend) }
    }

    /// The address and ports of the peer.
    struct Peer: Equatable {
        var address: String
        var port: UInt16
        var reportAddress: String
        var reportPort: UInt16
    }

    /// The largest description in bytes, ours or the peer's.
    static let maxDescriptionBytes = 8192
    /// The units of the timestamp per second, for audio and events.
    static let clockRate: UInt32 = 8000

    let configuration: MediaConfiguration
    let security: MediaSecurity
    /// Whether digits may be sent in the RTP stream.
    let offersEvents: Bool
    let clock: MediaClock
    /// Nil after the end.
    var stream: OpaquePointer?
    var descriptions: MediaDescriptions
    private(set) var agreement: Agreement?

    /// The numeric source address of the peer's SIP; set before the negotiation.
    var signallingAddress: String?
    /// Called when a digit was received; once per press.
    var onDigit: ((Character) -> Void)?
    /// Called once, when RTP has stopped or has not started.
    var onRTPTimeout: (() -> Void)?

    private var sender: MediaSender?
    private var watch: MediaWatch?
    private var receiver = DTMFReceiver()
    private var completions: [DTMFSender.ID: (Bool) -> Void] = [:]
    private var nextID: DTMFSender.ID = 0

    /// Binds a pair of ports.
    /// - Throws: ``MediaError/Code/system``.
    init(
        configuration: MediaConfiguration, clock: MediaClock, security: MediaSecurity, offersEvents: Bool
    ) throws(MediaError) {
        self.configuration = configuration
        self.clock = clock
        self.security = security
        self.offersEvents = offersEvents
        descriptions = MediaDescriptions(key: security == .off ? nil : .fresh())
        let error = cre_rtp_open(
            &stream, configuration.address, configuration.ports.first, configuration.ports.last,
            { packet, context in
                guard let packet, let context else { return }
                // Retained during the call, because a callback may release the last reference.
                let session = Unmanaged<MediaSession>.fromOpaque(context).takeUnretainedValue()
                withExtendedLifetime(session) { session.received(packet.pointee) }
            }, Unmanaged.passUnretained(self).toOpaque())
        guard error == 0 else {
            throw MediaError(code: .system, message: "could not open a pair of RTP ports (errno \(error))")
        }
    }

    isolated deinit { assert(stream == nil, "a media session was not stopped") }

    /// The RTP port.
    var port: UInt16 { stream.map { cre_rtp_port($0) } ?? 0 }
    /// Whether the peer has put either direction on hold.
    var isRemoteHold: Bool { agreement?.isHold ?? false }
    /// Whether digits can be sent in the RTP stream.
    var usesTelephoneEvent: Bool { agreement?.outgoingEventType != nil }
    /// Whether the media are encrypted.
    var isSecure: Bool { agreement?.keys != nil }
    /// The numbers of packets so far; zero after the end.
    var counts: MediaCounts { stream.map { MediaCounts(cre_rtp_counts($0)) } ?? MediaCounts() }

    /// Called when the call is answered, after the first agreement: silence is sent, and RTP is expected.
    func start() {
        guard let stream, let agreement, sender == nil else {
            assert(sender != nil || stream == nil, "media without an agreement")
            return
        }
        let now = SIPLoop.now
        sender = MediaSender(
            firstTimestamp: .random(in: 0 ... .max), now: now, maySend: agreement.maySend, timing: configuration.timing)
        watch = MediaWatch(now: now, isExpecting: !agreement.isHold)
        if agreement.peer != nil { cre_rtp_start_reports(stream, MediaConfiguration.reportName, Self.clockRate) }
        clock.add(self)
    }

    /// Called when the call has ended: ends the digit being played, completes the others as unplayed, and frees the
    /// ports.
    func stop() {
        clock.remove(self)
        let output = sender?.abandonDigits()
        if let output { sendPackets(output.packets) }
        sender = nil
        watch = nil
        onDigit = nil
        onRTPTimeout = nil
        cre_rtp_close(stream)
        stream = nil
        if let output { complete(output) }
    }

    /// Plays digits after those that are being played; while the peer is on hold they wait.
    /// - Parameter completion: called once: with true when the last digit was sent, with false when it cannot be.
    /// - Throws: ``DTMFError/unavailable`` without telephone-event or before ``start()``, ``DTMFError/full(bound:)``.
    func send(_ digits: DTMFDigits, completion: @escaping (Bool) -> Void) throws(DTMFError) {
        guard sender != nil, usesTelephoneEvent else { throw .unavailable }
        nextID += 1
        try sender?.enqueue(digits, id: nextID)
        completions[nextID] = completion
    }

    /// Called for each tick of the clock.
    func tick(now: LocalTime) {
        // The output is taken before any completion runs, because a completion may stop the session.
        guard let output = sender?.tick(now: now) else { return }
        sendPackets(output.packets)
        complete(output)
        guard watch?.isExpired(now: now) == true else { return }
        watch = nil
        onRTPTimeout?()
    }

    /// Applies the result of a negotiation.
    func adopt(_ new: Agreement) throws(MediaError) {
        guard let stream else { throw MediaError(code: .state, message: "the media session has ended") }
        let old = agreement
        // The end of a digit belongs to the previous agreement: same address, same payload type, same key.
        let output = sender?.change(maySend: new.maySend, takesDigits: new.outgoingEventType != nil)
        if let output { sendPackets(output.packets) }
        try apply(new, to: stream)
        agreement = new
        watch?.setExpecting(!new.isHold, now: SIPLoop.now)
        if sender != nil, new.peer != nil, new.peer != old?.peer {
            cre_rtp_start_reports(stream, MediaConfiguration.reportName, Self.clockRate)
        }
        if let output { complete(output) }
    }

    private func apply(_ new: Agreement, to stream: OpaquePointer) throws(MediaError) {
        var error = cre_rtp_set_keys(stream, new.keys?.local.key, new.keys?.remote.key)
        if error == 0, let peer = new.peer {
            error = cre_rtp_set_peer(
                stream, peer.address, peer.port, peer.reportAddress, peer.reportPort, signallingAddress)
        }
        guard error == 0 else {
            throw MediaError(code: .system, message: "could not start the RTP stream (errno \(error))")
        }
    }
}

// Packets.
extension MediaSession {
    private static let silenceBytes = Int(clockRate) * Int(MediaSender.frame / .milliseconds(1)) / 1000
    private static let uLawSilence = [UInt8](repeating: 0xFF, count: silenceBytes)
    private static let aLawSilence = [UInt8](repeating: 0xD5, count: silenceBytes)

    private func sendPackets(_ packets: [MediaSender.Packet]) {
        guard let stream, let agreement else { return }
        for packet in packets {
            // A packet that cannot be sent is counted by the stream, and otherwise treated as a lost one.
            switch packet.content {
            case .silence:
                let payload = agreement.isALaw ? Self.aLawSilence : Self.uLawSilence
                cre_rtp_send(stream, agreement.audioType, packet.marker, packet.timestamp, payload, payload.count)
            case .event(let event):
                guard let type = agreement.outgoingEventType else { continue }
                let payload = event.bytes
                cre_rtp_send(stream, type, packet.marker, packet.timestamp, payload, payload.count)
            }
        }
    }

    private func complete(_ output: MediaSender.Output) {
        for id in output.finished { completions.removeValue(forKey: id)?(true) }
        for id in output.unfinished { completions.removeValue(forKey: id)?(false) }
    }

    private func received(_ packet: cre_rtp_packet) {
        watch?.received(now: SIPLoop.now)
        guard let type = agreement?.incomingEventType, packet.payload_type == type else { return }
        let bytes = UnsafeBufferPointer(start: packet.payload, count: packet.count)
        guard let payload = DTMFPacket(bytes),
            let event = receiver.receive(payload, source: packet.source, timestamp: packet.timestamp)
        else { return }
        onDigit?(event.character)
    }
}
