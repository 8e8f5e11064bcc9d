import CMedia
import CMediaNode
import CMediaPeer
import Glibc
import Testing

/// Paths that begin anew.
@Suite struct NodeRestartTests {
    /// Whether the packets follow each other without a gap in numbers and times.
    private func isContinuous(_ packets: [cm_heard]) -> Bool {
        zip(packets, packets.dropFirst()).allSatisfy {
            $1.rtp.sequence == $0.rtp.sequence &+ 1 && $1.rtp.timestamp == $0.rtp.timestamp &+ 960
        }
    }

    @Test(arguments: Suite.allCases) func anEngineGoesOnWithNewKeys(_ suite: Suite) throws {
        let channel = try Channel()
        let (anna, bert) = (
            try channel.join(1, CallerKind(suite: suite)), try channel.join(2, CallerKind(suite: suite))
        )
        channel.talk(anna, bert)
        #expect(channel.restart(anna) == 0)
        // Before she knows of it, she hears on; nothing of hers is read.
        let check = anna.writtenCheck()
        let before = channel.counts
        anna.send(check)
        anna.say()
        channel.talk(bert, frames: 3)
        #expect(channel.dropped(CM_DROP_STUN_UNKNOWN_UFRAG) == 1 && channel.dropped(CM_DROP_STRANGER) == 1)
        #expect(channel.counts.checks == before.checks && channel.count(CM_EVENT_CONNECTED, of: anna) == 1)
        #expect(channel.counts(of: anna).is_connected == false)
        anna.renew()
        anna.say()
        channel.run()
        #expect(channel.dropped(CM_DROP_STRANGER) == 2, "not before a check, though it has the new keys")
        anna.move()
        anna.check(isNominating: false)
        channel.run()
        #expect(channel.count(CM_EVENT_CONNECTED, of: anna) == 2)
        #expect(channel.count(CM_EVENT_ADDRESS_CHANGED, of: anna) == 0)
        #expect(channel.events.last.map { $0.address.port == anna.counts.mapped.port && $0.elapsed == 60_000 } == true)
        channel.talk(anna, bert)
        let heard = anna.heard()
        #expect(heard.count == 23 && isContinuous(heard) && Set(heard.map(\.rtp.ssrc)) == [100_100])
        let others = bert.heard()
        // Two frames were not taken.
        #expect(others.count == 20 && Set(others.map(\.rtp.ssrc)) == [100_200])
        #expect(others.last?.rtp.sequence == others[0].rtp.sequence &+ 21)
        #expect(anna.counts.forged == 0 && bert.counts.forged == 0 && channel.dropped(CM_DROP_FORGED) == 0)
        let counts = channel.counts(of: anna)
        #expect(counts.audio_expected == 22 && counts.audio_received == 20 && counts.is_connected)
    }

    @Test func numbersBeginBelowHalf() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        // Uplink gaps bring both numbers into the upper half: hers, and those of his slot, which
        // began anywhere in the lower one.
        anna.skip(100)
        channel.talk(anna, bert, frames: 1)
        for step in [UInt16](repeating: 2990, count: 10) + [2868] {
            anna.skip(step - 1)
            channel.talk(anna, frames: 1)
        }
        let last = try #require(bert.heard().last)
        #expect(last.rtp.sequence >= 1 << 15)
        let expected = channel.counts(of: anna).audio_expected
        for caller in [anna, bert] {
            #expect(channel.restart(caller) == 0)
            caller.renew()
            caller.check()
        }
        channel.run()
        channel.talk(anna, bert)
        let heard = bert.heard()
        #expect(heard.count == 10, "the first one too, though its number is far off")
        #expect(heard.first?.rtp.sequence == (last.rtp.sequence &+ 1) & 0x7FFF)
        #expect(isContinuous(heard) && bert.counts.forged == 0)
        #expect(anna.heard().count == 11 && channel.dropped(CM_DROP_SLOT) == 0)
        #expect(channel.counts(of: anna).audio_received == 22)
        #expect(channel.counts(of: anna).audio_expected == expected + 10)
    }

    @Test func aPagesCertificateKeepsItsKeys() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.join(1, .page), try channel.join(2))
        channel.talk(page, engine)
        let old = page.counts.mapped
        let check = page.writtenCheck()
        #expect(channel.restart(page, opus: 100, mid: 5) == 0)
        page.send(check)
        channel.run()
        #expect(channel.dropped(CM_DROP_STUN_UNKNOWN_UFRAG) == 1)
        page.set(ssrc: page.ssrc, payloadType: 100)
        channel.talk(page, engine, frames: 5)
        #expect(engine.heard().count == 15, "media goes on where it was")
        page.renew()
        page.move()
        page.check(isNominating: false)
        channel.run()
        #expect(channel.count(CM_EVENT_CONNECTED, of: page) == 2 && page.counts.mapped.port != old.port)
        channel.talk(page, engine, frames: 5)
        let heard = page.heard()
        #expect(heard.count == 20 && isContinuous(heard) && page.counts.forged == 0)
        #expect(heard[..<10].allSatisfy { $0.rtp.payload_type == 111 && $0.mid == 0 })
        #expect(heard[10...].allSatisfy { $0.rtp.payload_type == 100 && $0.mid == UInt8(ascii: "a") })
        let others = engine.heard()
        #expect(others.count == 5)
        #expect(channel.counts.handshakes_done == 1 && channel.droppedInAll == 1)
    }

    @Test func oldAddressesCountUntilANomination() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.join(1, .page), try channel.join(2))
        channel.talk(page, engine, frames: 1)
        #expect(channel.restart(page) == 0)
        page.renew()
        // Another place of the same page, whose packets take another way.
        let other = try channel.open(3)
        other.send(page.writtenCheck(isNominating: false))
        channel.run()
        channel.talk(page, frames: 2)
        #expect(engine.heard().count == 3)
        other.send(page.writtenCheck(isNominating: true))
        channel.run()
        channel.talk(page, frames: 2)
        #expect(engine.heard().isEmpty && channel.dropped(CM_DROP_STRANGER) == 2)
        page.check()
        channel.run()
        channel.talk(page, frames: 2)
        #expect(engine.heard().count == 2)
    }

    @Test(arguments: [true, false]) func anotherCertificateShakesHandsAnew(_ hasSources: Bool) throws {
        let channel = try Channel()
        let page = try channel.join(1, CallerKind(isWeb: true, hasSources: hasSources))
        let engine = try channel.join(2)
        channel.talk(page, engine)
        #expect(channel.restart(page, hasNewCertificate: true, ssrc: 77, opus: 100) == 0)
        // Of the old connection nothing is read, not even a goodbye.
        channel.shake(page)
        page.say()
        channel.talk(engine, frames: 3)
        #expect(channel.dropped(CM_DROP_STRANGER) >= 1 && channel.counts.handshakes_failed == 0)
        #expect(page.heard().count == 13 && engine.heard().count == 10)
        page.renew()
        page.check()
        channel.run()
        #expect(channel.count(CM_EVENT_CONNECTED, of: page) == 1, "there are no keys yet")
        channel.talk(engine, frames: 2)
        channel.shake(page)
        channel.run()
        #expect(page.hasKeys && channel.counts.handshakes_done == 2 && !page.counts.is_closed)
        #expect(channel.count(CM_EVENT_CONNECTED, of: page) == 2)
        let before = channel.counts(of: page)
        channel.talk(page, engine)
        let heard = engine.heard()
        #expect(heard.count == 10 && heard.allSatisfy { $0.uid == page.uid && $0.rtp.ssrc == 100_200 })
        #expect(page.uids() == [engine.uid] && page.counts.forged == 0)
        let counts = channel.counts(of: page)
        #expect(before.audio_received == 10 && counts.audio_received == 20 && counts.audio_expected == 20)
        #expect(counts.packets_received == before.packets_received + 10)
    }

    @Test func aRestartMayFollowARestart() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.join(1, .page), try channel.join(2))
        channel.talk(page, engine)
        #expect(channel.restart(page, hasNewCertificate: true) == 0 && channel.restart(engine) == 0)
        let check = engine.writtenCheck()
        #expect(channel.restart(page) == 0 && channel.restart(engine) == 0)
        for caller in [page, engine] {
            caller.renew()
            caller.check()
        }
        // Else what was said right before is heard again by who begins to hear.
        channel.pass(milliseconds: 300)
        engine.send(check)
        channel.run()
        channel.shake(page)
        channel.run()
        channel.talk(page, engine)
        #expect(page.heard().count == 20 && engine.heard().count == 20)
        #expect(channel.counts.participants == 2 && channel.dropped(CM_DROP_STUN_UNKNOWN_UFRAG) == 1)
        for caller in [page, engine] { #expect(channel.count(CM_EVENT_CONNECTED, of: caller) == 2) }
    }

    @Test func whatMayNotBeChangesNothing() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        var settings = cm_restart_settings()
        let keep = { (name: String, at: inout cm_restart_settings) in
            withUnsafeMutableBytes(of: &at.ufrag) { $0.copyBytes(from: name.utf8) }
            at.ufrag_size = UInt8(name.utf8.count)
        }
        settings.password_size = 22
        #expect(cm_node_restart(channel.node, anna.id, &settings) == EINVAL, "no ufrag")
        for name in ["u0000001", "u0000002"] {
            keep(name, &settings)
            #expect(cm_node_restart(channel.node, anna.id, &settings) == EEXIST)
        }
        keep("new", &settings)
        #expect(cm_node_restart(channel.node, 99, &settings) == ENOENT)
        settings.opus = 128
        #expect(cm_node_restart(channel.node, anna.id, &settings) == EINVAL)
        anna.check()
        channel.run()
        channel.talk(anna, bert)
        #expect(anna.heard().count == 10 && bert.heard().count == 10 && channel.droppedInAll == 0)
        // Who was dropped is not restarted.
        for _ in 0..<3 {
            channel.pass(milliseconds: 5_000)
            bert.check()
            channel.run()
        }
        #expect(channel.count(CM_EVENT_DROPPED, of: anna) == 1)
        settings.opus = 111
        #expect(cm_node_restart(channel.node, anna.id, &settings) == ENOENT)
    }

    @Test func aRestartHas15Seconds() throws {
        let channel = try Channel()
        let anna = try channel.join(1)
        channel.pass(milliseconds: 14_000)
        #expect(channel.count(CM_EVENT_CONSENT_LOST, of: anna) == 1)
        #expect(channel.restart(anna) == 0)
        channel.pass(milliseconds: 14_000)
        anna.renew()
        anna.check()
        channel.run()
        #expect(channel.count(CM_EVENT_CONNECTED, of: anna) == 2 && channel.count(CM_EVENT_CONSENT_BACK, of: anna) == 0)
        #expect(channel.counts(of: anna).has_consent)
        #expect(channel.restart(anna) == 0)
        channel.pass(milliseconds: 15_000)
        #expect(channel.count(CM_EVENT_DROPPED, of: anna) == 1)
    }

    @Test func whatAParticipantMayDoStays() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, bert, frames: 1)
        channel.allow(anna, CM_MAY_HEAR)
        #expect(channel.restart(anna) == 0)
        anna.renew()
        anna.check()
        channel.run()
        channel.talk(anna, bert, frames: 5)
        #expect(bert.heard().count == 1 && anna.heard().count == 6 && channel.dropped(CM_DROP_MUTED) == 5)
    }
}
