import CMedia
import CMediaNode
import CMediaPeer
import Testing

/// Addresses, consent, and what strangers and attackers achieve.
@Suite struct NodeTransportTests {
    @Test func strangersGetNoByte() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        anna.say()
        let stranger = try channel.open(3, .page)
        channel.run()
        let before = channel.counts
        // Of somebody whom the node expects, before any check: DTLS, RTP, RTCP.
        channel.shake(stranger)
        stranger.send(anna.last)
        stranger.send([0x80, 200, 0, 6] + [UInt8](repeating: 0, count: 24))
        stranger.send([UInt8](repeating: 0xFF, count: 100))
        stranger.send([])
        stranger.check(isForged: true)
        channel.remove(stranger)
        stranger.check()
        channel.run()
        // Its socket is no longer among those that are read: nothing was sent at all.
        #expect(channel.counts.packets_sent == before.packets_sent)
        #expect(channel.dropped(CM_DROP_STRANGER) >= 3 && channel.dropped(CM_DROP_UNKNOWN) == 2)
        #expect(channel.dropped(CM_DROP_STUN_FORGED) + channel.dropped(CM_DROP_STUN_UNKNOWN_UFRAG) == 2)
        #expect(anna.counts.datagrams == 1 && bert.uids() == [anna.uid])
    }

    @Test func requestsAreAnsweredOrRefused() throws {
        let channel = try Channel()
        let anna = try channel.open(1)
        anna.check(isControlled: true)
        channel.run()
        #expect(anna.counts.error == 487 && anna.counts.answers == 0)
        #expect(channel.events.isEmpty, "a refused check shows nothing")
        anna.check(isForged: true)
        anna.send([0, 1, 0, 0] + [UInt8](repeating: 0, count: 16))
        channel.run()
        #expect(anna.counts.datagrams == 1)
        anna.check()
        channel.run()
        #expect(anna.counts.answers == 1 && anna.counts.mapped.port != 0)
        #expect(channel.dropped(CM_DROP_STUN_INVALID) == 1 && channel.dropped(CM_DROP_STUN_FORGED) == 1)
        #expect(channel.counts.checks == 2 && channel.counts.checks_refused == 1)
    }

    @Test func forgedAndReplayedPacketsChangeNothing() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna)
        let last = anna.last
        // From its own address.
        anna.send(last)
        for index in [12, 20, 40, last.count - 1] {
            var forged = last
            forged[index] ^= 1
            anna.send(forged)
        }
        var ahead = last
        ahead[2] ^= 0x40
        anna.send(ahead)
        // A replay from somebody else's.
        bert.send(last)
        channel.run()
        #expect(channel.dropped(CM_DROP_REPLAYED) >= 1)
        #expect(channel.dropped(CM_DROP_REPLAYED) + channel.dropped(CM_DROP_FORGED) == 6)
        #expect(channel.dropped(CM_DROP_SOURCE) == 1, "an SSRC that the other one has not announced")
        channel.talk(anna)
        #expect(bert.heard().count == 20)
        #expect(channel.counts(of: anna).packets_received == 20)
    }

    @Test func packetsBehindTheWindowChangeNothing() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, frames: 1)
        let (replay, report) = (anna.last, channel.counts(of: anna))
        anna.skip(UInt16(CM_SRTP_WINDOW))
        channel.talk(anna, frames: 1)
        for _ in 0..<3 { anna.send(replay) }
        channel.run()
        #expect(channel.dropped(CM_DROP_TOO_OLD) == 3)
        #expect(channel.counts(of: anna).packets_received == report.packets_received + 1)
        // They are no sign of life either.
        for _ in 0..<15 {
            channel.pass(milliseconds: 1000)
            anna.send(replay)
            bert.check()
        }
        channel.run()
        #expect(channel.count(CM_EVENT_DROPPED, of: anna) == 1)
    }

    @Test func aSpoofedNominationMovesNothing() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        let thief = try channel.open(3)
        // Who knows the ufrag and not the password, from elsewhere.
        thief.send(anna.writtenCheck(isForged: true))
        channel.run()
        #expect(channel.dropped(CM_DROP_STUN_FORGED) == 1 && thief.counts.datagrams == 0)
        channel.talk(anna, bert)
        #expect(anna.uids() == [bert.uid] && bert.uids() == [anna.uid])
        #expect(thief.counts.datagrams == 0 && channel.count(CM_EVENT_ADDRESS_CHANGED, of: anna) == 0)
        // It prolongs nothing: without checks of her own she has no consent.
        for _ in 0..<10 {
            channel.pass(milliseconds: 1000)
            thief.send(anna.writtenCheck(isForged: true))
        }
        channel.run()
        #expect(channel.count(CM_EVENT_CONSENT_LOST, of: anna) == 1)
    }

    @Test func packetsThatAreNotAudioAreDropped() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2, CallerKind(hasSources: false)))
        anna.set(ssrc: anna.ssrc, payloadType: 96)
        anna.say()
        channel.run()
        #expect(channel.dropped(CM_DROP_PAYLOAD_TYPE) == 1)
        anna.set(ssrc: 5)
        anna.say()
        channel.run()
        #expect(channel.dropped(CM_DROP_SOURCE) == 1, "not announced")
        channel.talk(bert)
        for ssrc in UInt32(1)...20 {
            bert.set(ssrc: ssrc)
            bert.say()
        }
        channel.run()
        #expect(channel.dropped(CM_DROP_SOURCE) == 16, "another source than the first: 15")
        #expect(channel.dropped(CM_DROP_TOO_MANY_SOURCES) == 5)
        anna.send([0x80] + [UInt8](repeating: 111, count: 1500))
        channel.run()
        #expect(channel.dropped(CM_DROP_SIZE) == 1)
        #expect(anna.heard().count == 10)
    }

    @Test func theLatestNominationIsSentTo() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(bert)
        #expect(anna.heard().count == 10)
        let old = anna.counts.mapped
        anna.move()
        anna.check(isNominating: false)
        channel.run()
        #expect(anna.counts.mapped.port != old.port)
        channel.talk(bert)
        #expect(anna.heard().isEmpty, "a check without nomination moves nothing")
        anna.check()
        channel.run()
        channel.talk(anna, bert)
        #expect(anna.heard().count == 10 && bert.heard().count == 10)
        #expect(channel.count(CM_EVENT_ADDRESS_CHANGED, of: anna) == 1)
        #expect(channel.events.last.map(\.address.port) == anna.counts.mapped.port)
    }

    @Test func beforeANominationTheLatestAddressIsSentTo() throws {
        let channel = try Channel()
        let anna = try channel.open(1)
        let bert = try channel.join(2)
        for _ in 0..<6 {
            anna.move()
            anna.check(isNominating: false)
            channel.run()
            channel.talk(anna, bert, frames: 2)
            #expect(anna.heard().count == 2 && bert.heard().count == 2)
        }
        #expect(channel.count(CM_EVENT_CONNECTED, of: anna) == 1)
        #expect(channel.count(CM_EVENT_ADDRESS_CHANGED, of: anna) == 5)
    }

    @Test func aPageShakesHandsBeforeNomination() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.open(1, .page), try channel.join(2))
        page.check(isNominating: false)
        channel.run()
        channel.shake(page)
        channel.run()
        #expect(page.hasKeys && channel.count(CM_EVENT_CONNECTED, of: page) == 1)
        channel.talk(page, engine)
        #expect(page.uids() == [engine.uid] && engine.uids() == [page.uid])
    }

    @Test func anAddressStaysItsHolders() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        let carl = try channel.open(3)
        // Carl's check with Anna's address as sender, which only a network that lets him can carry.
        carl.check()
        let check = carl.writtenCheck()
        anna.send(check)
        channel.run()
        #expect(channel.dropped(CM_DROP_STUN_TAKEN) == 1)
        channel.talk(anna)
        #expect(bert.heard().count == 10)
        // Who has not checked it for so long has lost it.
        channel.pass(milliseconds: 10_000)
        bert.check()
        anna.send(check)
        channel.run()
        channel.talk(anna)
        #expect(bert.heard().isEmpty && channel.dropped(CM_DROP_SOURCE) == 10)
    }

    @Test func withoutConsentNothingIsSent() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        for _ in 0..<99 {
            channel.pass(milliseconds: 100)
            anna.say()
            bert.check()
        }
        channel.run()
        #expect(channel.count(CM_EVENT_CONSENT_LOST, of: anna) == 0)
        channel.pass(milliseconds: 100)
        #expect(channel.count(CM_EVENT_CONSENT_LOST, of: anna) == 1)
        let before = anna.counts.datagrams
        channel.talk(anna, bert)
        #expect(anna.counts.datagrams == before, "neither audio nor reports")
        #expect(bert.uids() == [anna.uid])
        anna.check()
        channel.run()
        #expect(channel.count(CM_EVENT_CONSENT_BACK, of: anna) == 1)
        channel.talk(bert)
        #expect(anna.uids() == [bert.uid])
    }

    @Test func whoIsSilentIsDroppedOnce() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        let never = try channel.open(3)
        for _ in 0..<149 {
            channel.pass(milliseconds: 100)
            bert.say()
            bert.check()
            anna.send([0x80, 111, 0, 1] + [UInt8](repeating: 0, count: 60))
        }
        channel.run()
        #expect(channel.events.allSatisfy { $0.kind != CM_EVENT_DROPPED })
        channel.pass(milliseconds: 100)
        for gone in [anna, never] { #expect(channel.count(CM_EVENT_DROPPED, of: gone) == 1) }
        #expect(channel.count(CM_EVENT_DROPPED, of: bert) == 0)
        // It is over: neither check nor packet brings it back.
        anna.check()
        anna.say()
        channel.pass(milliseconds: 20_000)
        #expect(channel.count(CM_EVENT_DROPPED, of: anna) == 1 && channel.counts.participants == 3)
        channel.remove(anna)
        #expect(channel.counts.participants == 2)
    }

    @Test func aWrongCertificateConnectsNobody() throws {
        let channel = try Channel()
        let page = try channel.open(1, CallerKind(isWeb: true, hasWrongCertificate: true))
        page.check()
        channel.run()
        channel.shake(page)
        channel.run()
        #expect(!page.hasKeys && page.counts.is_closed)
        #expect(channel.events.map(\.kind) == [CM_EVENT_DTLS_FAILED])
        #expect(channel.events.last?.dtls == CM_DTLS_WRONG_FINGERPRINT)
        #expect(channel.counts.handshakes_failed == 1 && channel.counts.handshakes_done == 0)
    }

    @Test func handshakesMayFailSoOften() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.open(1, .page), try channel.join(2))
        page.check()
        channel.run()
        // Alerts, which end a handshake that has just begun.
        let alert: [UInt8] = [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 40]
        engine.send(alert)
        channel.run()
        #expect(channel.dropped(CM_DROP_DTLS) == 1, "an engine needs none")
        for attempt in 1..<CM_DTLS_ATTEMPTS {
            page.send(alert)
            channel.run()
            #expect(channel.count(CM_EVENT_DTLS_FAILED, of: page) == attempt)
        }
        channel.shake(page)
        channel.run()
        #expect(page.hasKeys, "the last attempt")
        let other = try channel.open(3, .page)
        other.check()
        channel.run()
        for _ in 0..<10 { other.send(alert) }
        channel.run()
        #expect(channel.counts.handshakes_failed == UInt64(2 * CM_DTLS_ATTEMPTS - 1))
        channel.shake(other)
        channel.run()
        #expect(!other.hasKeys && channel.dropped(CM_DROP_DTLS) > 5)
    }

    @Test func aConnectionOfDTLSIsFreedWithoutAGoodbye() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.join(1, .page), try channel.join(2))
        for _ in 0..<30 {
            page.check()
            engine.check()
            channel.talk(page, engine, frames: 25)
        }
        #expect(page.heard().count > 0)
        let before = page.counts.datagrams
        page.send([22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 1, 1, 1])
        channel.run()
        #expect(channel.dropped(CM_DROP_DTLS) == 1 && page.counts.datagrams == before)
        #expect(!page.counts.is_closed)
        channel.talk(page, engine)
        #expect(engine.uids() == [page.uid])
    }
}
