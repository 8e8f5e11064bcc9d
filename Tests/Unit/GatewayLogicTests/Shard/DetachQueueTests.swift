import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct DetachQueueTests {
    private let user: UserKey
    private let one = SessionID("gw-1")
    private var queue = DetachQueue()

    init() throws {
        user = UserKey(app: try AppID("demo"), account: try Account("ada"))
    }

    private mutating func next(resuming: Set<SessionID> = []) -> [DetachQueue.Request] {
        queue.next { resuming.contains($0) }
    }

    @Test mutating func aLostSessionIsToldOnceAndForgottenWhenConfirmed() {
        queue.lost(one, of: user)
        queue.lost(one, of: user)
        let asked = next()
        #expect(asked.map(\.session) == [one] && asked.map(\.user) == [user])
        #expect(next().isEmpty)
        queue.confirmed(asked[0])
        #expect(queue.count == 0)
    }

    /// Also when it has to be told again, and after a resume that failed.
    @Test mutating func theClaimIsThatOfTheLostConnection() {
        queue.lost(one, of: user, claim: 5)
        let asked = next(resuming: [one])
        #expect(asked.isEmpty)
        queue.resumeEnded(one)
        let first = next()
        #expect(first.map(\.claim) == [5])
        queue.failed(first[0])
        queue.retry()
        #expect(next().map(\.claim) == [5])
        queue.lost(one, of: user, claim: 6)
        #expect(next().map(\.claim) == [6])
    }

    @Test mutating func fewAreToldAtATime() {
        for number in 0..<DetachQueue.bound + 2 { queue.lost(SessionID("gw-\(number)"), of: user) }
        let asked = next()
        #expect(asked.count == DetachQueue.bound)
        #expect(next().isEmpty)
        queue.confirmed(asked[0])
        #expect(next().map(\.session) == [SessionID("gw-\(DetachQueue.bound)")])
        queue.failed(asked[1])
        #expect(next().count == 1)
    }

    @Test mutating func tooManyDoubtfulOnesAreDropped() {
        for number in 0..<DetachQueue.doubtfulBound {
            let isTold1 = queue.lost(SessionID("gw-\(number)"), of: user, isDoubtful: true)
            #expect(isTold1)
        }
        let isTold2 = queue.lost(SessionID("invented"), of: user, isDoubtful: true)
        #expect(!isTold2)
        let isTold3 = queue.lost(SessionID("gw-1"), of: user, isDoubtful: true)
        #expect(isTold3, "it waits already")
        #expect(queue.count == DetachQueue.doubtfulBound)
        let isTold4 = queue.lost(SessionID("held"), of: user)
        #expect(isTold4, "it had a connection")
        queue.confirmed(next()[0])
        queue.confirmed(next()[0])
        let isTold5 = queue.lost(SessionID("invented"), of: user, isDoubtful: true)
        #expect(isTold5)
    }

    @Test mutating func aSessionThatIsBoundAgainIsNotTold() {
        queue.lost(one, of: user)
        queue.bound(one)
        #expect(next().isEmpty && queue.count == 0)
    }

    @Test mutating func aResumeIsAwaited() {
        queue.lost(one, of: user)
        #expect(next(resuming: [one]).isEmpty)
        #expect(next().isEmpty, "held until the resume has ended")
        queue.resumeEnded(one)
        #expect(next().map(\.session) == [one])
    }

    @Test mutating func aResumeThatSucceededLeavesNothing() {
        queue.lost(one, of: user)
        #expect(next(resuming: [one]).isEmpty)
        queue.bound(one)
        queue.resumeEnded(one)
        #expect(next().isEmpty && queue.count == 0)
    }

    @Test mutating func whatFailedIsToldAgainWithTheRetry() {
        queue.lost(one, of: user)
        queue.failed(next()[0])
        #expect(next().isEmpty && queue.count == 1)
        queue.retry()
        #expect(next().map(\.session) == [one])
    }

    @Test mutating func anOldAnswerDoesNotConfirmALaterLoss() {
        queue.lost(one, of: user)
        let first = next()[0]
        queue.bound(one)
        queue.lost(one, of: user)
        let second = next()[0]
        queue.confirmed(first)
        #expect(queue.count == 1)
        queue.failed(first)
        queue.confirmed(second)
        #expect(queue.count == 0)
    }

    @Test mutating func aSessionLostAgainWhileItWasAskedIsToldAgain() {
        queue.lost(one, of: user)
        let first = next()[0]
        queue.lost(one, of: user)
        queue.confirmed(first)
        #expect(next().map(\.session) == [one])
    }
}
