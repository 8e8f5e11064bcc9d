import MediaLogic
import Testing

@Suite struct VideoViewTests {
    @Test func slotsAreFilledInOrderAndKept() {
        var view = VideoView(slots: 2)
        #expect(view.choose(from: [1, 2, 3]) == [.show(uid: 1, slot: 0), .show(uid: 2, slot: 1)])
        #expect(view.choose(from: [2, 1, 3]) == [])
        // The last speakers are shown; who stays wanted stays in the slot.
        #expect(view.choose(from: [3, 2, 1]) == [.show(uid: 3, slot: 0)])
        #expect(view.choose(from: [2]) == [.clear(slot: 0)])
        #expect(view.slots == [nil, 2])
    }

    @Test func wishesComeFirst() {
        var view = VideoView(slots: 3)
        view.wish([9, 5, 5, 7])
        #expect(
            view.choose(from: [1, 5, 7, 9]) == [
                .show(uid: 9, slot: 0), .show(uid: 5, slot: 1), .show(uid: 7, slot: 2),
            ])
        // Who is not wanted is not shown, even if there is room.
        view.wish([5])
        #expect(view.choose(from: [1, 5, 7, 9]) == [.clear(slot: 0), .clear(slot: 2)])
        view.wish([])
        #expect(view.choose(from: [1, 5]) == [.clear(slot: 1)])
        view.wish(nil)
        #expect(view.choose(from: [1, 5]).count == 2)
        view.wish((0..<1000).map { $0 })
        #expect(view.wishes?.count == VideoView.maxWishes)
    }

    @Test func theLastSlotsAreSwitchedOffFirst() {
        var view = VideoView(slots: 3)
        _ = view.choose(from: [1, 2, 3])
        view.afford(1)
        #expect(view.choose(from: [1, 2, 3]) == [.clear(slot: 1), .clear(slot: 2)])
        view.afford(2)
        #expect(view.choose(from: [1, 2, 3]) == [.show(uid: 2, slot: 1)])
        view.afford(-1)
        #expect(view.affordable == 0)
        view.afford(99)
        #expect(view.affordable == 3)
        var none = VideoView(slots: 0)
        #expect(none.choose(from: [1]) == [])
    }

    @Test func aBudgetFallsAtOnceAndRisesSlowly() {
        var budget = VideoBudget(slots: 3)
        let videos: [UInt64] = [500_000, 500_000, 500_000]
        func judge(_ bitrate: UInt64?, _ now: Int64) -> Int {
            budget.judge(bitrate: bitrate, audio: 100_000, videos: videos, now: now)
        }
        #expect(judge(nil, 0) == 3)
        #expect(judge(1_600_000, 0) == 3)
        #expect(judge(1_599_999, 0) == 2)
        #expect(judge(50_000, 0) == 0)
        // One more needs 600 kbit/s and 20 % for 5 s.
        #expect(judge(719_999, 1000) == 0)
        #expect(judge(719_999, 9000) == 0)
        #expect(judge(720_000, 10_000) == 0)
        #expect(judge(720_000, 14_999) == 0)
        #expect(judge(720_000, 15_000) == 1)
        #expect(judge(720_000, 30_000) == 1)
        // A moment of less begins the wait anew.
        #expect(judge(5_000_000, 31_000) == 1)
        #expect(judge(700_000, 33_000) == 1)
        #expect(judge(5_000_000, 36_500) == 1)
        #expect(judge(5_000_000, 41_500) == 2)
        #expect(judge(nil, 41_600) == 3)
    }
}
