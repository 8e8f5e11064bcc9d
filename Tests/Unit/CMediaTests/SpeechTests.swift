import CMedia
import Testing

@Suite struct SpeechTests {
    /// A receiver, and the speakers whom it may hear.
    private final class Scene {
        let selection = Kept<cm_selection>()
        let speakers: [Kept<cm_speaker>]
        let isEnough: Bool
        var now: UInt64 = 10_000_000
        var levels: [UInt8?]

        init(slots: UInt32, speakers count: Int, isEnough: Bool = false) {
            cm_selection_init(selection.pointer, slots)
            speakers = (0..<count).map { _ in Kept() }
            levels = [UInt8?](repeating: nil, count: count)
            self.isEnough = isEnough
        }

        /// Each speaker with a level sends a packet every 20 ms. Returns who took a slot, and when from now.
        @discardableResult func run(milliseconds: Int) -> [(speaker: Int, slot: Int, after: Int)] {
            var taken: [(speaker: Int, slot: Int, after: Int)] = []
            let start = now
            for _ in 0..<milliseconds / 20 {
                now += 20_000
                for (index, level) in levels.enumerated() {
                    guard let level else { continue }
                    cm_speaker_put(speakers[index].pointer, level, now)
                    var isNew = false
                    let slot = cm_selection_offer(
                        selection.pointer, speakers[index].pointer, isEnough, now, &isNew)
                    if isNew { taken.append((index, Int(slot), Int(now - start) / 1000)) }
                }
            }
            return taken
        }

        /// The speakers in the slots.
        var heard: [Int?] {
            withUnsafeBytes(of: selection.pointer.pointee.holders) { bytes in
                bytes.bindMemory(to: cm_holder.self).prefix(Int(selection.pointer.pointee.count)).map { holder in
                    speakers.firstIndex { UnsafePointer($0.pointer) == holder.speaker }
                }
            }
        }
    }

    @Test func levelsRiseInAnInstantAndFallSlowly() {
        let speaker = Kept<cm_speaker>()
        #expect(cm_speaker_level(speaker.pointer, 0) == -127)
        cm_speaker_put(speaker.pointer, 127, 1_000_000)
        #expect(cm_speaker_level(speaker.pointer, 1_000_000) == -127)
        for packet in 1...8 { cm_speaker_put(speaker.pointer, 20, 1_000_000 + UInt64(packet) * 20_000) }
        let loud = cm_speaker_level(speaker.pointer, 1_160_000)
        #expect(loud > -27 && loud < -20)
        for packet in 9...16 { cm_speaker_put(speaker.pointer, 127, 1_000_000 + UInt64(packet) * 20_000) }
        let falling = cm_speaker_level(speaker.pointer, 1_320_000)
        #expect(falling < loud && falling > -60, "160 ms of silence")
        // No packets are silence too, after the longest frame.
        #expect(cm_speaker_level(speaker.pointer, 1_370_000) == falling)
        #expect(cm_speaker_level(speaker.pointer, 3_000_000) < -95)
        // However long the silence was, a rise begins at -60; below that, all is silence.
        cm_speaker_put(speaker.pointer, 20, 6_000_000)
        #expect(cm_speaker_level(speaker.pointer, 6_000_000) > Float(CM_ENTER_LEVEL), "the first packet of speech")
        cm_speaker_put(speaker.pointer, 127, 8_000_000)
        cm_speaker_put(speaker.pointer, 90, 8_020_000)
        #expect(cm_speaker_level(speaker.pointer, 8_020_000) <= -60)
        // A level that is no level.
        cm_speaker_put(speaker.pointer, 255, 9_000_000)
        #expect(cm_speaker_level(speaker.pointer, 9_000_000) >= -127)
    }

    @Test func aFreeSlotIsTakenAtOnce() {
        let scene = Scene(slots: 2, speakers: 3)
        scene.levels = [40, 51, 45]
        let taken = scene.run(milliseconds: 200)
        #expect(taken.map(\.speaker) == [0, 2])
        #expect(taken.map(\.slot) == [0, 1])
        #expect(taken.map(\.after) == [20, 20])
        #expect(scene.heard == [0, 2])
    }

    @Test func whereThereAreSlotsForAllLevelsDoNotMatter() {
        let scene = Scene(slots: 3, speakers: 3, isEnough: true)
        scene.levels = [127, 127, 127]
        #expect(scene.run(milliseconds: 20).count == 3)
        #expect(scene.run(milliseconds: 10_000).isEmpty)
        #expect(scene.heard == [0, 1, 2])
    }

    @Test func aLouderSpeakerTakesTheWeakestSlot() {
        let scene = Scene(slots: 2, speakers: 3)
        scene.levels = [20, 40, nil]
        scene.run(milliseconds: 2000)
        scene.levels[2] = 30
        let taken = scene.run(milliseconds: 1000)
        #expect(taken.map(\.speaker) == [2])
        #expect(taken.first?.slot == 1)
        // Louder by 6 dB for 40 ms; the first level counts at once.
        #expect(taken.first?.after == 60)
        #expect(scene.heard == [0, 2])
    }

    @Test func aLittleLouderIsNotEnough() {
        let scene = Scene(slots: 1, speakers: 2)
        scene.levels = [40, nil]
        scene.run(milliseconds: 2000)
        scene.levels[1] = 35
        #expect(scene.run(milliseconds: 5000).isEmpty)
        scene.levels[1] = 33
        #expect(scene.run(milliseconds: 5000).count == 1)
        // And not back, as the first one is the weaker now.
        #expect(scene.run(milliseconds: 5000).isEmpty)
    }

    @Test func aHolderKeepsItsSlotForASecond() {
        let scene = Scene(slots: 1, speakers: 2)
        scene.levels = [40, nil]
        scene.run(milliseconds: 20)
        scene.levels[1] = 10
        let taken = scene.run(milliseconds: 2000)
        #expect(taken.map(\.speaker) == [1])
        #expect((1000...1080).contains(taken[0].after))
    }

    @Test func silenceGivesTheSlotUp() {
        let scene = Scene(slots: 1, speakers: 2)
        scene.levels = [30, nil]
        scene.run(milliseconds: 2000)
        // Not loud enough to challenge, but for a free slot.
        scene.levels = [127, 50]
        let taken = scene.run(milliseconds: 5000)
        #expect(taken.map(\.speaker) == [1])
        // It challenges once the smoothed level has fallen far enough, or the slot is free after 2 s below -60.
        #expect((100...2500).contains(taken[0].after))
        // Who sends nothing at all leaves as well.
        scene.levels = [nil, nil]
        scene.now += 5_000_000
        scene.levels = [30, nil]
        #expect(scene.run(milliseconds: 100).map(\.speaker) == [0])
    }

    @Test func whoIsMutedLeavesAtOnce() {
        let scene = Scene(slots: 1, speakers: 2)
        scene.levels = [10, nil]
        scene.run(milliseconds: 100)
        #expect(cm_selection_drop(scene.selection.pointer, scene.speakers[0].pointer) == 0)
        #expect(cm_selection_drop(scene.selection.pointer, scene.speakers[0].pointer) == -1)
        scene.levels = [nil, 50]
        #expect(scene.run(milliseconds: 20).map(\.speaker) == [1])
        // A challenger that is dropped does not challenge any more.
        scene.run(milliseconds: 2000)
        scene.levels[0] = 10
        scene.run(milliseconds: 40)
        #expect(scene.selection.pointer.pointee.challenger != nil)
        #expect(cm_selection_drop(scene.selection.pointer, scene.speakers[0].pointer) == -1)
        #expect(scene.selection.pointer.pointee.challenger == nil)
    }

    @Test func challengersWhoCrossEachOtherDoNotWaitForever() {
        let scene = Scene(slots: 1, speakers: 3)
        scene.levels = [50, nil, nil]
        scene.run(milliseconds: 2000)
        var taken: (speaker: Int, after: Int)?
        // They take turns in being the louder one, with each packet.
        for turn in 1...10 where taken == nil {
            let level: UInt8 = turn == 1 ? 20 : turn == 2 ? 18 : 0
            scene.levels = turn % 2 == 0 ? [nil, level, nil] : [nil, nil, level]
            for first in scene.run(milliseconds: 20) { taken = (first.speaker, turn * 20) }
        }
        #expect(taken?.after == 60)
        // A challenger who is silent again is no reason for another one to wait less.
        let other = Scene(slots: 1, speakers: 3)
        other.levels = [50, nil, nil]
        other.run(milliseconds: 2000)
        other.levels = [50, 10, nil]
        other.run(milliseconds: 20)
        other.levels = [50, nil, nil]
        other.run(milliseconds: 800)
        other.levels = [50, nil, 10]
        #expect(other.run(milliseconds: 200).map(\.after) == [60])
    }

    @Test func nothingOfTheHoldersIsReadForThoseWhoAreQuiet() {
        let scene = Scene(slots: 2, speakers: 3)
        scene.levels = [20, 20, nil]
        scene.run(milliseconds: 2000)
        // The holder of slot 0 has left, without a packet; the other one's packets, and those of
        // who is quiet, do not look at it.
        scene.levels = [nil, 20, 70]
        scene.run(milliseconds: 4000)
        #expect(scene.heard == [0, 1])
        scene.levels[2] = 20
        #expect(scene.run(milliseconds: 20).map(\.slot) == [0])
        #expect(scene.heard == [2, 1])
    }

    @Test func whoIsSilentForTwoSecondsLeavesWithItsNextPacket() {
        let scene = Scene(slots: 2, speakers: 1)
        scene.levels = [20]
        scene.run(milliseconds: 2000)
        scene.levels = [80]
        scene.run(milliseconds: 2000)
        #expect(scene.heard == [0, nil])
        scene.run(milliseconds: 1000)
        #expect(scene.heard == [nil, nil])
    }

    @Test func ofTwoChallengersTheLouderOneIsHeard() {
        let scene = Scene(slots: 1, speakers: 3)
        scene.levels = [45, nil, nil]
        scene.run(milliseconds: 2000)
        scene.levels = [45, 30, 20]
        #expect(scene.run(milliseconds: 200).map(\.speaker) == [2])
    }

    @Test func thereAreOneToSixteenSlots() {
        let scene = Scene(slots: 0, speakers: 1)
        #expect(scene.selection.pointer.pointee.count == 1)
        cm_selection_init(scene.selection.pointer, 99)
        #expect(scene.selection.pointer.pointee.count == UInt32(CM_AUDIO_SLOTS_MAX))
    }
}
