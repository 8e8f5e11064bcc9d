import Testing

@testable import MediaEngineLogic

@Suite struct EngineReconnectTests {
    private typealias Engine = EngineReconnect<String>

    /// An action with its time in milliseconds.
    private struct Done: Equatable {
        var time: Int
        var action: Engine.Action

        init(_ time: Int, _ action: Engine.Action) {
            self.time = time
            self.action = action
        }
    }

    private func at(_ milliseconds: Int) -> MediaInstant { MediaInstant(microseconds: Int64(milliseconds) * 1000) }

    private func joined() -> Engine {
        var engine = Engine()
        #expect(engine.join(now: at(0)) == [.join(avoid: [])])
        engine.answered(by: "a")
        #expect(engine.receive(now: at(100)) == [.tell(.joined)])
        return engine
    }

    /// Goes from deadline to deadline until that time; each attempt is refused after `refusal` milliseconds, or never.
    private func run(_ engine: inout Engine, until end: Int, refusal: Int? = 0, chance: Double = 0.5) -> [Done] {
        var done: [Done] = []
        var refused: Int?
        for _ in 0..<1000 {
            guard let deadline = engine.deadline else { break }
            let due = Int((deadline.microseconds + 999) / 1000)
            let now = min(due, refused ?? due)
            guard now <= end else { break }
            if refused == now {
                refused = nil
                engine.attemptFailed(now: at(now), chance: chance)
                continue
            }
            for action in engine.advance(now: at(now), chance: chance) {
                done.append(Done(now, action))
                guard let refusal, !isNotice(action) else { continue }
                refused = now + refusal
            }
        }
        return done
    }

    private func isNotice(_ action: Engine.Action) -> Bool {
        if case .tell = action { return true }
        return false
    }

    @Test func packetsKeepItConnected() {
        var engine = joined()
        for time in stride(from: 120, to: 60_000, by: 900) {
            #expect(engine.advance(now: at(time), chance: 0) == [])
            #expect(engine.receive(now: at(time)) == [])
        }
    }

    @Test func theAppIsToldAfterThreeAndThirteenSecondsOnce() {
        var engine = joined()
        let notices = run(&engine, until: 300_000).filter { isNotice($0.action) }
        #expect(notices == [Done(3100, .tell(.interrupted)), Done(13_100, .tell(.lost))])
        #expect(engine.receive(now: at(300_100)) == [.tell(.rejoined)])
        #expect(engine.receive(now: at(300_200)) == [])
        // The next gap is told like the first.
        let next = run(&engine, until: 320_000).filter { isNotice($0.action) }
        #expect(next == [Done(303_200, .tell(.interrupted)), Done(313_200, .tell(.lost))])
    }

    @Test func ofAShortGapTheAppHearsNothing() {
        var engine = joined()
        #expect(run(&engine, until: 3099).allSatisfy { !isNotice($0.action) })
        #expect(engine.receive(now: at(3099)) == [])
    }

    @Test func restartsComeFirstThenJoins() {
        var engine = joined()
        let attempts = run(&engine, until: 30_000).filter { !isNotice($0.action) }
        #expect(attempts.first?.time == 1100)
        for attempt in attempts {
            if case .restart = attempt.action {
                #expect(attempt.time < 15_100)
            } else {
                #expect(attempt.time >= 15_100)
            }
        }
        let pauses = zip(attempts, attempts.dropFirst()).map { $1.time - $0.time }
        #expect(Array(pauses.prefix(11)) == [Int](repeating: 500, count: 10) + [1000])
        #expect(pauses.count > 15 && pauses.dropFirst(11).allSatisfy { $0 == 2000 })
    }

    @Test func pausesVaryByAFifth() {
        for (chance, pause) in [(0.0, 400), (0.25, 450), (1, 600)] {
            var engine = joined()
            let attempts = run(&engine, until: 2500, chance: chance)
            #expect(attempts[1].time - attempts[0].time == pause)
        }
    }

    @Test func anAttemptWithoutAnAnswerFailsAfterTwoSeconds() {
        var engine = joined()
        let attempts = run(&engine, until: 7000, refusal: nil).filter { !isNotice($0.action) }
        #expect(attempts.map(\.time) == [1100, 3600, 6100])
    }

    @Test func aNodeThatFailedTwiceIsAvoidedForSomeSeconds() {
        var engine = joined()
        let attempts = run(&engine, until: 2500).map(\.action)
        #expect(attempts == [.restart(avoid: []), .restart(avoid: []), .restart(avoid: ["a"])])
        engine.answered(by: "b")
        let further = run(&engine, until: 3000).map(\.action)
        #expect(further == [.restart(avoid: ["a"])])
        // "a" was asked for the last time 2.1 s after the start; "b" failed again and again since.
        let last = run(&engine, until: 9000).last { !isNotice($0.action) }
        #expect(last?.action == .restart(avoid: ["b"]))
    }

    @Test func noMoreNodesAreAvoidedThanTheBound() {
        var avoided = AvoidedNodes<Int>()
        for node in 0..<20 {
            avoided.failed(node, now: at(node))
            avoided.failed(node, now: at(node))
        }
        #expect(avoided.nodes(now: at(20)) == Array(12..<20))
        #expect(avoided.nodes(now: at(5015)) == Array(16..<20))
    }

    @Test func aFirstJoinFailsAfterTwentySeconds() {
        var engine = Engine()
        #expect(engine.deadline == nil)
        #expect(engine.join(now: at(0)) == [.join(avoid: [])])
        #expect(engine.join(now: at(5)) == [])
        let done = run(&engine, until: 60_000)
        #expect(done.last == Done(20_000, .tell(.failed)))
        #expect(done.dropLast().allSatisfy { $0.action == .join(avoid: []) } && done.count > 8)
        #expect(engine.deadline == nil && engine.receive(now: at(21_000)) == [])
    }

    @Test func afterLeavingNothingHappens() {
        var engine = joined()
        _ = run(&engine, until: 5000)
        engine.leave()
        #expect(engine.deadline == nil)
        #expect(engine.advance(now: at(60_000), chance: 0) == [] && engine.receive(now: at(60_000)) == [])
    }
}
