import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct MailboxStateMachineTests {
    private func entry(_ version: Int64, expiresAt: Int64 = 1000) -> MailboxEntry {
        MailboxEntry(version: version, expiresAt: expiresAt, line: "line \(version)")
    }

    private func page(_ versions: [Int64], cleared: Int64 = 0, highest: Int64? = nil, more: Bool = false) -> MailboxPage
    {
        MailboxPage(
            cleared: cleared, highest: highest ?? versions.last ?? cleared, entries: versions.map { entry($0) },
            more: more)
    }

    @Test func aPollBeforeTheFirstReadIsAnsweredByIt() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.start(fresh: true) == [.load(after: 0, fresh: true)])
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [])
        let answer = mailbox.loaded(page([5, 6], cleared: 4), now: 0)
        #expect(answer == [.answer(cleared: 4, entries: [entry(5), entry(6)])])
    }

    @Test func whatAPollBeforeTheFirstReadAcknowledgesIsForgotten() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.poll(verClear: 5, limit: 30, now: 0) == [])
        #expect(
            mailbox.loaded(page([5, 6], cleared: 4), now: 0) == [
                .clear(through: 5), .answer(cleared: 5, entries: [entry(6)]),
            ])
    }

    @Test func noMoreIsForgottenThanWasEverThere() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.poll(verClear: 99, limit: 30, now: 0) == [])
        #expect(mailbox.pushed(entry(7), now: 0) == [])
        #expect(
            mailbox.loaded(page([5, 6], cleared: 4), now: 0) == [.clear(through: 6), .load(after: 6, fresh: false)])
        #expect(
            mailbox.loaded(page([7], cleared: 6), now: 0) == [.clear(through: 7), .answer(cleared: 7, entries: [])])
    }

    @Test func aFailedFirstReadIsRepeatedAsItWas() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.start(fresh: true)
        #expect(mailbox.loadFailed() == [.load(after: 0, fresh: true)])
    }

    @Test func waitingEntriesAreAnnouncedWhenNobodyPolls() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.loaded(page([5, 6], cleared: 4), now: 0) == [.notify(version: 6)])
    }

    @Test func anAnswerNeverClearsItsOwnEntries() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([]), now: 0)
        #expect(mailbox.pushed(entry(101), now: 0) == [.notify(version: 101)])
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [.answer(cleared: 0, entries: [entry(101)])])
        #expect(
            mailbox.poll(verClear: 101, limit: 30, now: 0) == [
                .clear(through: 101), .answer(cleared: 101, entries: []),
            ])
    }

    @Test func aLowerVerClearIsNoNews() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5, 6], cleared: 4), now: 0)
        _ = mailbox.poll(verClear: 5, limit: 30, now: 0)
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [.answer(cleared: 5, entries: [entry(6)])])
    }

    @Test func aFullAnswerIsFollowedByANotify() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page(Array(1...31)), now: 0)
        let actions = mailbox.poll(verClear: 0, limit: 30, now: 0)
        #expect(actions == [.answer(cleared: 0, entries: (1...30).map { entry($0) }), .notify(version: 31)])
    }

    @Test func aGapIsReadFromTheStore() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5], cleared: 4), now: 0)
        #expect(mailbox.pushed(entry(7), now: 0) == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6, 7], cleared: 4), now: 0) == [.notify(version: 7)])
        #expect(mailbox.pushed(entry(7), now: 0) == [])
        let answer = mailbox.poll(verClear: 0, limit: 30, now: 0)
        #expect(answer == [.answer(cleared: 4, entries: [entry(5), entry(6), entry(7)])])
    }

    @Test func whatIsPublishedDuringAReadIsReadAfterIt() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.pushed(entry(6), now: 0) == [])
        #expect(mailbox.loaded(page([5], cleared: 4), now: 0) == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6], cleared: 4), now: 0) == [.notify(version: 6)])
    }

    @Test func expiredEntriesAreNotGivenOut() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(
            MailboxPage(
                cleared: 0, highest: 2, entries: [entry(1, expiresAt: 10), entry(2, expiresAt: 99)], more: false),
            now: 0)
        #expect(
            mailbox.poll(verClear: 0, limit: 30, now: 10) == [.answer(cleared: 0, entries: [entry(2, expiresAt: 99)])])
    }

    @Test func beyondTheWindowTheStoreIsReadAgain() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        let bound = Int64(MailboxStateMachine.windowBound)
        _ = mailbox.loaded(page(Array(1...bound)), now: 0)
        #expect(mailbox.pushed(entry(bound + 1), now: 0) == [.notify(version: bound + 1)])
        let cleared = mailbox.poll(verClear: bound, limit: 30, now: 0)
        #expect(cleared == [.clear(through: bound), .load(after: bound, fresh: false)])
        let answer = mailbox.loaded(page([bound + 1], cleared: bound), now: 0)
        #expect(answer == [.answer(cleared: bound, entries: [entry(bound + 1)])])
    }

    @Test func pushClientsGetEachEntryOnce() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        #expect(mailbox.loaded(page([5, 6], cleared: 4), now: 0) == [.push(entry(5)), .push(entry(6))])
        #expect(mailbox.pushed(entry(7), now: 0) == [.push(entry(7))])
        #expect(mailbox.poll(verClear: 6, limit: 30, now: 0) == [.clear(through: 6), .answer(cleared: 6, entries: [])])
        #expect(mailbox.pushed(entry(8), now: 0) == [.push(entry(8))])
    }

    @Test func aRenewedConnectionReadsWhatWasMissed() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5], cleared: 4), now: 0)
        #expect(mailbox.resynchronize() == [.load(after: 5, fresh: false)])
        #expect(mailbox.loadFailed() == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6], cleared: 4), now: 0) == [.notify(version: 6)])
    }
}
