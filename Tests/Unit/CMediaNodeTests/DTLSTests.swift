import CMediaNode
import CMediaPeer
import TestKit
import Testing

/// A node's side and a browser's side of one handshake, with what is on the way between them.
final class Handshake {
    let context: OpaquePointer
    private(set) var server: OpaquePointer
    let peer: OpaquePointer
    /// What the server sent and nobody took yet.
    private(set) var sent: [[UInt8]] = []
    private(set) var largest = 0
    private var isClosed = false

    init(
        profiles: String = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80", padding: Int = 0, hasRSA: Bool = false,
        hasCertificate: Bool = true, fingerprint: [UInt8]? = nil
    ) throws {
        context = try #require(cm_dtls_context_make())
        peer = try #require(
            profiles.withCString { text in
                var settings = cm_peer_settings(
                    profiles: text, padding: padding, mtu: 1200, has_rsa: hasRSA, has_certificate: hasCertificate)
                return cm_peer_make(&settings)
            })
        var own = [UInt8](repeating: 0, count: 32)
        cm_peer_fingerprint(peer, &own)
        // Opened with a context that is self, which is whole only then.
        server = context
        let opened = cm_dtls_open(
            context, fingerprint ?? own,
            { context, data, count in
                guard let context, let data else { return }
                let handshake = Unmanaged<Handshake>.fromOpaque(context).takeUnretainedValue()
                handshake.sent.append(Array(UnsafeBufferPointer(start: data, count: count)))
                handshake.largest = max(handshake.largest, count)
            }, Unmanaged.passUnretained(self).toOpaque())
        server = try #require(opened)
    }

    deinit {
        close()
        cm_peer_free(peer)
        cm_dtls_context_free(context)
    }

    func close() {
        if !isClosed { cm_dtls_close(server) }
        isClosed = true
    }

    var state: cm_dtls_state { cm_dtls_receive(server, [], 0) }

    var keys: cm_media_keys? {
        var keys = cm_media_keys()
        return cm_dtls_keys(server, &keys) ? keys : nil
    }

    /// Keys of client and server as the browser's side exports them, each with its salt.
    var peerKeys: (client: [UInt8], server: [UInt8]) {
        var all = [UInt8](repeating: 0, count: Int(CM_PEER_KEYS_MAX))
        let count = cm_peer_keys(peer, &all)
        guard count > 0 else { return ([], []) }
        let middle = 32 + (count - 32) / 2
        return (Array(all[..<16] + all[32..<middle]), Array(all[16..<32] + all[middle..<count]))
    }

    /// The datagrams that the browser's side has to send.
    func fromPeer() -> [[UInt8]] {
        var found: [[UInt8]] = []
        var datagram = [UInt8](repeating: 0, count: Int(CM_PEER_DATAGRAM_SIZE))
        while case let count = cm_peer_take(peer, &datagram), count > 0 { found.append(Array(datagram[..<count])) }
        return found
    }

    func fromServer() -> [[UInt8]] {
        defer { sent = [] }
        return sent
    }

    @discardableResult func give(toServer datagram: [UInt8]) -> cm_dtls_state {
        cm_dtls_receive(server, datagram, datagram.count)
    }

    @discardableResult func give(toPeer datagram: [UInt8]) -> Bool { cm_peer_receive(peer, datagram, datagram.count) }

    /// The browser's side begins; returns its ClientHello.
    func begin() -> [[UInt8]] {
        give(toPeer: [])
        return fromPeer()
    }

    /// Carries datagrams between both until nobody has one.
    func run(_ first: [[UInt8]]) {
        var datagrams = first
        while !datagrams.isEmpty {
            for datagram in datagrams { give(toServer: datagram) }
            for datagram in fromServer() { give(toPeer: datagram) }
            datagrams = fromPeer()
        }
    }
}

@Suite struct DTLSTests {
    private func hasKeysOfBothSides(_ handshake: Handshake, _ suite: Suite) -> Bool {
        guard let keys = handshake.keys, keys.suite == suite.code else { return false }
        let size = cm_suite_size(suite.code)
        let (client, server) = handshake.peerKeys
        return bytes(of: keys.client, 0..<size) == client && bytes(of: keys.server, 0..<size) == server
    }

    @Test(arguments: [
        ("SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80", Suite.gcm),
        ("SRTP_AES128_CM_SHA1_80:SRTP_AEAD_AES_128_GCM", .gcm), ("SRTP_AES128_CM_SHA1_80", .counter),
    ]) func bothSidesHaveTheSameKeys(profiles: String, suite: Suite) throws {
        let handshake = try Handshake(profiles: profiles)
        #expect(handshake.keys == nil)
        handshake.run(handshake.begin())
        #expect(handshake.state == CM_DTLS_DONE && cm_peer_is_done(handshake.peer))
        #expect(hasKeysOfBothSides(handshake, suite))
        #expect(handshake.largest <= Int(CM_DTLS_MTU))
        let keys = try #require(handshake.keys)
        #expect(bytes(of: keys.client, 0..<30) != bytes(of: keys.server, 0..<30))
        // What one seals by these keys, the other opens.
        let sender = try SRTPDirection(suite, handshake.peerKeys.client, isSending: true)
        let receiver = try SRTPDirection(suite, bytes(of: keys.client, 0..<30), isSending: false)
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 1, 2, 3, 4]
        #expect(receiver.unprotect(try #require(sender.protect(packet))) == (CM_AUTHENTIC, packet))
    }

    @Test func theCertificateIsTheOneThatIsAnnounced() throws {
        let handshake = try Handshake(hasRSA: true)
        handshake.run(handshake.begin())
        var (announced, found) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 32))
        cm_dtls_context_fingerprint(handshake.context, &announced)
        #expect(cm_peer_server_fingerprint(handshake.peer, &found) && announced == found)
        #expect(handshake.state == CM_DTLS_DONE, "and the browser's may be of RSA")
        var other = [UInt8](repeating: 0, count: 32)
        let context = try #require(cm_dtls_context_make())
        cm_dtls_context_fingerprint(context, &other)
        cm_dtls_context_free(context)
        #expect(other != announced, "each start has its own")
    }

    @Test func anotherCertificateThanTheOffersIsRefused() throws {
        let handshake = try Handshake(fingerprint: [UInt8](repeating: 7, count: 32))
        handshake.run(handshake.begin())
        #expect(handshake.state == CM_DTLS_WRONG_FINGERPRINT)
        #expect(handshake.keys == nil && !cm_peer_is_done(handshake.peer))
        #expect(!String(cString: cm_dtls_reason(handshake.server)).isEmpty)
    }

    @Test func aPeerWithoutCertificateIsRefused() throws {
        let handshake = try Handshake(hasCertificate: false)
        handshake.run(handshake.begin())
        #expect(handshake.state == CM_DTLS_FAILED && handshake.keys == nil)
    }

    @Test(arguments: ["", "SRTP_AEAD_AES_256_GCM"]) func aPeerWithoutOurSuitesIsRefused(profiles: String) throws {
        let handshake = try Handshake(profiles: profiles)
        handshake.run(handshake.begin())
        #expect(handshake.state == CM_DTLS_NO_SUITE && handshake.keys == nil)
    }

    @Test(arguments: [false, true]) func aHelloMayComeInTwoDatagrams(isReversed: Bool) throws {
        let handshake = try Handshake(padding: 1500)
        let hello = handshake.begin()
        #expect(hello.count == 2)
        handshake.give(toServer: try #require(isReversed ? hello.last : hello.first))
        #expect(handshake.sent.isEmpty, "half a hello has no answer")
        // Each half twice, as networks may do.
        handshake.run([hello[0], hello[1], hello[0]])
        #expect(handshake.state == CM_DTLS_DONE && hasKeysOfBothSides(handshake, .gcm))
    }

    /// On a busy machine a single time says little, so the shortest of some counts.
    @Test func aLostFlightIsSentAgain() async throws {
        var shortest = Duration.seconds(60)
        for _ in 0..<10 where shortest >= .milliseconds(800) {
            shortest = min(shortest, try await Self.timeOfRepetition())
        }
        #expect(shortest < .milliseconds(800), "the library's own first time is a second")
    }

    /// Loses the server's first flight, and completes the handshake with its repetition.
    /// - Returns: the time until it was repeated.
    private static func timeOfRepetition() async throws -> Duration {
        let handshake = try Handshake()
        for datagram in handshake.begin() { handshake.give(toServer: datagram) }
        #expect(!handshake.fromServer().isEmpty)
        #expect(cm_dtls_tick(handshake.server) == CM_DTLS_HANDSHAKING && handshake.sent.isEmpty, "not at once")
        let start = ContinuousClock.now
        try await waitUntil("the flight is sent again") {
            _ = cm_dtls_tick(handshake.server)
            return handshake.sent.isEmpty ? "nothing was sent" : nil
        }
        let time = ContinuousClock.now - start
        for datagram in handshake.fromServer() { handshake.give(toPeer: datagram) }
        handshake.run(handshake.fromPeer())
        #expect(handshake.state == CM_DTLS_DONE && cm_peer_is_done(handshake.peer))
        return time
    }

    @Test func theLastFlightIsSentAgainWhenThePeerAsks() async throws {
        let handshake = try Handshake()
        for datagram in handshake.begin() { handshake.give(toServer: datagram) }
        for datagram in handshake.fromServer() { handshake.give(toPeer: datagram) }
        for datagram in handshake.fromPeer() { handshake.give(toServer: datagram) }
        #expect(!handshake.fromServer().isEmpty && handshake.state == CM_DTLS_DONE, "its answer is lost")
        #expect(!cm_peer_is_done(handshake.peer))
        var repeated: [[UInt8]] = []
        try await waitUntil("the peer sends its flight again") {
            cm_peer_tick(handshake.peer)
            repeated = handshake.fromPeer()
            return repeated.isEmpty ? "nothing was sent" : nil
        }
        handshake.run(repeated)
        #expect(handshake.state == CM_DTLS_DONE && cm_peer_is_done(handshake.peer))
    }

    @Test func whatIsNoRecordChangesNothing() throws {
        let handshake = try Handshake()
        let hello = handshake.begin()
        let garbage: [[UInt8]] = [
            [], [22], [22, 254, 253], [UInt8](repeating: 22, count: 1500), [20] + [UInt8](repeating: 0, count: 13),
            [UInt8](repeating: 63, count: 40), Array(hello[0].dropLast()),
        ]
        for datagram in garbage { #expect(handshake.give(toServer: datagram) == CM_DTLS_HANDSHAKING) }
        #expect(handshake.sent.isEmpty)
        handshake.run(hello)
        #expect(handshake.state == CM_DTLS_DONE)
        for datagram in garbage { #expect(handshake.give(toServer: datagram) == CM_DTLS_DONE) }
        let data = [UInt8](repeating: 1, count: 100)
        cm_peer_write(handshake.peer, data, data.count)
        for datagram in handshake.fromPeer() { #expect(handshake.give(toServer: datagram) == CM_DTLS_DONE) }
    }

    @Test func aForgedAlertEndsNothingThatIsDone() throws {
        let alert: [UInt8] = [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
        let handshake = try Handshake()
        handshake.run(handshake.begin())
        #expect(handshake.give(toServer: alert) == CM_DTLS_DONE)
        for count in [1, 2, 8, 23, 24, 25, 40] {
            let handshake = try Handshake()
            handshake.run(handshake.begin())
            let forged: [UInt8] =
                [21, 254, 253, 0, 1, 0, 0, 0, 0, 0, 9, 0, UInt8(count)] + Array(repeating: 1, count: count)
            #expect(handshake.give(toServer: forged) == CM_DTLS_DONE, "of the right epoch, \(count) bytes")
            #expect(handshake.give(toServer: forged) == CM_DTLS_DONE && hasKeysOfBothSides(handshake, .gcm))
        }
    }

    @Test func bothSidesMaySayGoodbye() throws {
        let handshake = try Handshake()
        handshake.run(handshake.begin())
        handshake.close()
        let goodbye = handshake.fromServer()
        #expect(goodbye.count == 1)
        #expect(!handshake.give(toPeer: try #require(goodbye.first)))
        let other = try Handshake()
        other.run(other.begin())
        cm_peer_close(other.peer)
        for datagram in other.fromPeer() { other.give(toServer: datagram) }
        #expect(other.state == CM_DTLS_CLOSED && other.keys == nil)
    }
}
