import CMedia
import CMediaNode
import CMediaPeer
import Glibc
import Testing

/// Who hears whom.
@Suite struct NodeTests {
    @Test(arguments: Suite.allCases) func twoEnginesHearEachOther(_ suite: Suite) throws {
        let channel = try Channel()
        let (anna, bert) = (
            try channel.join(1, CallerKind(suite: suite)), try channel.join(2, CallerKind(suite: suite))
        )
        channel.talk(anna, bert, frames: 10)
        for (caller, other) in [(anna, bert), (bert, anna)] {
            let heard = caller.heard()
            #expect(heard.count == 10 && heard.allSatisfy { $0.uid == other.uid && $0.first == 1 })
            // A slot of the receiver's own, with numbers from one half on, over a wrap of the sender's.
            #expect(heard.allSatisfy { $0.rtp.ssrc == 100_000 + 100 * UInt32(caller.id) && $0.rtp.payload_type == 111 })
            let first = try #require(heard.first)
            #expect(first.rtp.sequence < 1 << 15 && first.rtp.marker)
            for (index, packet) in heard.enumerated() {
                #expect(packet.rtp.sequence == first.rtp.sequence &+ UInt16(index))
                #expect(packet.rtp.timestamp == first.rtp.timestamp &+ UInt32(960 * index))
            }
            #expect(caller.counts.forged == 0)
        }
        #expect(channel.droppedInAll == 0)
        let counts = channel.counts
        #expect(counts.audio_sent == 20 && counts.participants == 2 && counts.channels == 1)
        #expect(withUnsafeBytes(of: counts.delays) { $0.bindMemory(to: UInt64.self).reduce(0, +) } == 20)
    }

    /// More than one call to the kernel sends, of both families.
    @Test func aPacketIsSentToManyOfBothFamilies() throws {
        let channel = try Channel(hasIPv6: true)
        let speaker = try channel.join(1)
        let others = try (2...81).map { try channel.join($0, CallerKind(isIPv6: $0 % 2 == 0)) }
        speaker.say()
        channel.run()
        #expect(others.allSatisfy { $0.heard().map(\.uid) == [speaker.uid] })
        let counts = channel.counts
        #expect(counts.audio_sent == 80 && channel.droppedInAll == 0)
    }

    @Test func aPageAndAnEngineHearEachOther() throws {
        let channel = try Channel()
        let (page, engine) = (try channel.join(1, CallerKind(isWeb: true, hasSources: false)), try channel.join(2))
        let other = try channel.join(3, .page)
        channel.talk(page, engine, other)
        #expect(page.uids() == [engine.uid, other.uid])
        #expect(engine.uids() == [page.uid, other.uid])
        #expect(other.uids() == [page.uid, engine.uid])
        #expect(channel.droppedInAll == 0 && channel.counts.handshakes_done == 2)
    }

    @Test func bothFamiliesHearEachOther() throws {
        let channel = try Channel(hasIPv6: true)
        let (old, new) = (try channel.join(1), try channel.join(2, CallerKind(isIPv6: true)))
        channel.talk(old, new)
        #expect(old.uids() == [new.uid] && new.uids() == [old.uid])
        #expect(new.counts.mapped.is_ipv6 && !old.counts.mapped.is_ipv6)
    }

    @Test func channelsAreApartAndNobodyHearsHimself() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1, channel: 7), try channel.join(2, channel: 7))
        let (carl, dora) = (try channel.join(3, channel: 8), try channel.join(4, channel: 9))
        channel.talk(anna, bert, carl, dora)
        #expect(anna.uids() == [bert.uid] && bert.uids() == [anna.uid])
        #expect(carl.uids() == [] && dora.uids() == [])
        #expect(channel.counts.channels == 3)
        for caller in [anna, bert] { channel.remove(caller) }
        #expect(channel.counts.channels == 2 && channel.counts.participants == 2)
    }

    @Test func theLoudestOfTenAreHeardInSixSlots() throws {
        let channel = try Channel()
        let listener = try channel.join(1)
        let speakers = try (2...11).map { (caller: try channel.join($0), level: UInt8(60)) }
        // All have a slot or none while it is quiet; then six are loud.
        let loud = speakers.enumerated().map { index, speaker in
            (caller: speaker.caller, level: index.isMultiple(of: 2) || index == 1 ? UInt8(20) : UInt8(45))
        }
        let loudest = Set(loud.filter { $0.level == 20 }.map(\.caller.uid))
        #expect(loudest.count == 6)
        channel.talk(loud, frames: 100)
        _ = listener.heard()
        channel.talk(loud, frames: 5)
        let heard = listener.heard()
        #expect(Set(heard.map(\.uid)) == loudest)
        #expect(Set(heard.map(\.rtp.ssrc)) == Set((0..<6).map { 100_100 + $0 }))
        // A speaker hears as many others.
        let own = loud[0].caller
        _ = own.heard()
        channel.talk(loud, frames: 5)
        let others = own.uids()
        #expect(others.count == 6 && !others.contains(own.uid) && others.isSuperset(of: loudest.subtracting([own.uid])))
        #expect(channel.dropped(CM_DROP_PROTECT) == 0 && listener.counts.forged == 0)
    }

    @Test func quietSpeakersAreHeardWhenThereAreSlotsForAll() throws {
        let channel = try Channel()
        let listener = try channel.join(1, CallerKind(slots: 2))
        let speakers = try (2...4).map { try channel.join($0) }
        // All three are known as speakers from the first frame on, after which the quiet one has no claim.
        channel.talk([(speakers[0], 30), (speakers[1], 70), (speakers[2], 70)], frames: 1)
        channel.pass(milliseconds: 3000)
        _ = listener.heard()
        channel.talk([(speakers[0], 30), (speakers[1], 70), (speakers[2], 70)], frames: 20)
        _ = listener.heard()
        channel.talk([(speakers[0], 30), (speakers[1], 70), (speakers[2], 70)], frames: 20)
        #expect(listener.uids() == [speakers[0].uid])
        for way in 0..<2 {
            if way == 0 { channel.allow(speakers[2], CM_MAY_HEAR) } else { channel.remove(speakers[2]) }
            channel.talk([(speakers[0], 30), (speakers[1], 70)], frames: 20)
            #expect(listener.uids() == [speakers[0].uid, speakers[1].uid])
        }
    }

    @Test func whoComesLaterHearsThoseWhoTalk() throws {
        let channel = try Channel()
        let anna = try channel.join(1)
        channel.talk(anna, frames: 20)
        let bert = try channel.join(2)
        anna.say(30, first: 9)
        channel.run()
        // The three packets of the time before a slot was given, the last one included.
        #expect(bert.heard().map(\.first) == [1, 1, 9])
        let carl = try channel.join(3)
        anna.say(30, first: 10)
        channel.run()
        #expect(bert.heard().map(\.first) == [10])
        #expect(carl.heard().map(\.first) == [10], "what was sent with a slot is forgotten")
    }

    @Test func aMutedSpeakersSlotIsFreeAtOnce() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        let listener = try channel.join(3, CallerKind(slots: 1))
        channel.talk(anna, bert)
        #expect(listener.uids() == [anna.uid])
        channel.allow(anna, CM_MAY_HEAR)
        channel.talk(bert, frames: 1)
        #expect(listener.uids() == [bert.uid])
        // Muted and unmuted between two frames: nothing is heard twice.
        channel.allow(bert, CM_MAY_HEAR)
        channel.allow(bert, CM_MAY_HEAR | CM_MAY_SEND_AUDIO)
        bert.say(30, first: 5)
        channel.run()
        #expect(listener.heard().map(\.first) == [5])
    }

    @Test func muteEndsASlotAtOnce() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna)
        #expect(bert.heard().count == 10)
        channel.allow(anna, CM_MAY_HEAR)
        channel.talk(anna, bert)
        #expect(bert.heard().count == 0 && anna.heard().count == 10)
        #expect(channel.dropped(CM_DROP_MUTED) == 10)
        // Nothing of what was said while muted is heard afterwards.
        channel.allow(anna, CM_MAY_HEAR | CM_MAY_SEND_AUDIO)
        anna.say(30, first: 77)
        channel.run()
        #expect(bert.heard().map(\.first) == [77])
        // Who may not hear gets nothing, and is heard.
        channel.allow(bert, CM_MAY_SEND_AUDIO)
        channel.talk(anna, bert)
        #expect(bert.heard().count == 0 && anna.heard().count == 10)
    }

    @Test func whoHearsAgainMissesNoNumber() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna)
        let last = try #require(bert.heard().last)
        channel.allow(bert, CM_MAY_SEND_AUDIO)
        channel.talk(anna, frames: 50)
        channel.allow(bert, CM_MAY_SEND_AUDIO | CM_MAY_HEAR)
        channel.talk(anna)
        let heard = bert.heard()
        #expect(heard.first?.rtp.sequence == last.rtp.sequence &+ 1)
        // The time that has passed is seen in the timestamps: 1000 ms, less what is repeated from before.
        let step = (heard.first?.rtp.timestamp ?? 0) &- last.rtp.timestamp
        #expect((40_000...50_000).contains(step), "\(step)")
    }

    @Test func whatIsLostOnTheWayToTheNodeIsAGapForAll() throws {
        let channel = try Channel()
        let callers = try (1...3).map { try channel.join($0) }
        channel.talk(callers[0], frames: 2)
        callers[0].skip(3)
        channel.talk(callers[0], frames: 2)
        for caller in callers[1...] {
            let numbers = caller.heard().map(\.rtp.sequence)
            #expect(numbers.map { $0 &- numbers[0] } == [0, 1, 5, 6])
        }
    }

    @Test func participantsComeAndGoWithinLimits() throws {
        var limits = cm_node_default_limits()
        (limits.participants, limits.members) = (4, 3)
        let channel = try Channel(limits: limits)
        for id in UInt64(1)...3 { _ = try channel.open(id) }
        #expect(channel.errorOfJoining(1) == EEXIST)
        #expect(channel.errorOfJoining(4) == ENOSPC, "the channel is full")
        #expect(channel.counts.channels == 1)
        #expect(channel.errorOfJoining(4, channel: 2, slots: 0) == EINVAL)
        #expect(channel.errorOfJoining(4, channel: 2, slots: 17) == EINVAL)
        #expect(channel.errorOfJoining(4, channel: 2) == 0)
        #expect(channel.errorOfJoining(5, channel: 2) == ENOSPC, "the node is full")
        channel.remove(channel.callers[1])
        cm_node_remove(channel.node, 99)
        let back = try channel.join(2, channel: 3)
        let counts = channel.counts
        #expect(counts.participants == 4 && counts.channels == 3)
        channel.talk(back)
        #expect(channel.droppedInAll == 0)
    }

    @Test func whoWakesTheLoopIsAnsweredInIt() throws {
        let channel = try Channel()
        cm_node_wake(channel.node)
        cm_node_wake(channel.node)
        channel.run()
        #expect(channel.wakes == 1)
    }

    @Test func aHandlerMayRemoveAnybody() throws {
        let channel = try Channel()
        let callers = try (1...4).map { try channel.join($0) }
        channel.onEvent = { event in
            for caller in callers where caller.id != event.id { cm_node_remove(channel.node, caller.id) }
        }
        channel.pass(milliseconds: 15_000)
        #expect(channel.counts.participants == 1)
        channel.onEvent = nil
    }
}
