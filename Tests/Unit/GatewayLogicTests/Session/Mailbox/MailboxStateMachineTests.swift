import BusProtocol
import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct MailboxStateMachineTests {
    private func entry(_ version: Int64, expiresAt: RedisTime = 1000) -> MailboxEntry {
        MailboxEntry(version: version, expiresAt: expiresAt, line: "line \(version)")
    }

    private func page(
        _ versions: [Int64], cleared: Int64 = 0, highest: Int64? = nil, through: Int64? = nil, more: Bool = false
    ) -> MailboxPage {
        var page = MailboxPage(
            cleared: cleared, highest: highest ?? versions.last ?? cleared, entries: versions.map { entry($0) },
            now: 0)
        page.through = through ?? versions.last ?? cleared
        page.more = more
        return page
    }

    @Test func aPollBeforeTheFirstReadIsAnsweredByIt() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.start(fresh: true) == [.load(after: 0, fresh: true)])
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [])
        let answer = mailbox.loaded(page([5, 6], cleared: 4))
        #expect(answer == [.answer(cleared: 4, entries: [entry(5), entry(6)])])
    }

    @Test func whatAPollBeforeTheFirstReadAcknowledgesIsForgotten() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.poll(verClear: 5, limit: 30, now: 0) == [])
        #expect(
            mailbox.loaded(page([5, 6], cleared: 4)) == [
                .clear(through: 5), .answer(cleared: 5, entries: [entry(6)]),
            ])
    }

    @Test func noMoreIsForgottenThanWasEverThere() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.poll(verClear: 99, limit: 30, now: 0) == [])
        #expect(mailbox.pushed(entry(7), after: 6, now: 0) == [])
        #expect(
            mailbox.loaded(page([5, 6], cleared: 4)) == [.clear(through: 6), .load(after: 6, fresh: false)])
        #expect(
            mailbox.loaded(page([7], cleared: 6)) == [.clear(through: 7), .answer(cleared: 7, entries: [])])
    }

    @Test func aFailedFirstReadIsRepeatedAsItWas() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.start(fresh: true)
        #expect(mailbox.loadFailed() == [.load(after: 0, fresh: true)])
    }

    @Test func waitingEntriesAreAnnouncedWhenNobodyPolls() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.loaded(page([5, 6], cleared: 4)) == [.notify(version: 6)])
    }

    @Test func anAnswerNeverClearsItsOwnEntries() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([]))
        #expect(mailbox.pushed(entry(101), after: 0, now: 0) == [.notify(version: 101)])
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [.answer(cleared: 0, entries: [entry(101)])])
        #expect(
            mailbox.poll(verClear: 101, limit: 30, now: 0) == [
                .clear(through: 101), .answer(cleared: 101, entries: []),
            ])
    }

    @Test func aLowerVerClearIsNoNews() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5, 6], cleared: 4))
        _ = mailbox.poll(verClear: 5, limit: 30, now: 0)
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [.answer(cleared: 5, entries: [entry(6)])])
    }

    @Test func aFullAnswerIsFollowedByANotify() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page(Array(1...31)))
        let actions = mailbox.poll(verClear: 0, limit: 30, now: 0)
        #expect(actions == [.answer(cleared: 0, entries: (1...30).map { entry($0) }), .notify(version: 31)])
    }

    @Test func aGapIsReadFromTheStore() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5], cleared: 4))
        #expect(mailbox.pushed(entry(7), after: 6, now: 0) == [.awaitEarlier(gap: 1)])
        #expect(mailbox.gapDue(1) == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6, 7], cleared: 4)) == [.notify(version: 7)])
        #expect(mailbox.pushed(entry(7), after: 6, now: 0) == [])
        let answer = mailbox.poll(verClear: 0, limit: 30, now: 0)
        #expect(answer == [.answer(cleared: 4, entries: [entry(5), entry(6), entry(7)])])
    }

    @Test func whatIsPublishedDuringAReadIsReadAfterIt() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.pushed(entry(6), after: 5, now: 0) == [])
        #expect(mailbox.loaded(page([5], cleared: 4)) == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6], cleared: 4)) == [.notify(version: 6)])
    }

    @Test func expiredEntriesAreNotGivenOut() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(
            MailboxPage(
                cleared: 0, highest: 2, entries: [entry(1, expiresAt: 10), entry(2, expiresAt: 99)], now: 0))
        #expect(
            mailbox.poll(verClear: 0, limit: 30, now: 10) == [.answer(cleared: 0, entries: [entry(2, expiresAt: 99)])])
    }

    @Test func beyondTheWindowTheStoreIsReadAgain() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        let bound = Int64(MailboxStateMachine.windowBound)
        _ = mailbox.loaded(page(Array(1...bound)))
        #expect(mailbox.pushed(entry(bound + 1), after: bound, now: 0) == [.notify(version: bound + 1)])
        let cleared = mailbox.poll(verClear: bound, limit: 30, now: 0)
        #expect(cleared == [.clear(through: bound), .load(after: bound, fresh: false)])
        let answer = mailbox.loaded(page([bound + 1], cleared: bound))
        #expect(answer == [.answer(cleared: bound, entries: [entry(bound + 1)])])
    }

    @Test func pushClientsGetEachEntryOnce() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        #expect(mailbox.loaded(page([5, 6], cleared: 4)) == [.push(entry(5)), .push(entry(6))])
        #expect(mailbox.pushed(entry(7), after: 6, now: 0) == [.push(entry(7))])
        #expect(mailbox.poll(verClear: 6, limit: 30, now: 0) == [.clear(through: 6), .answer(cleared: 6, entries: [])])
        #expect(mailbox.pushed(entry(8), after: 7, now: 0) == [.push(entry(8))])
    }

    @Test func aRenewedConnectionReadsWhatWasMissed() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5], cleared: 4))
        #expect(mailbox.resynchronize() == [.load(after: 5, fresh: false)])
        #expect(mailbox.loadFailed() == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6], cleared: 4)) == [.notify(version: 6)])
    }

    @Test func versionsMayHaveGaps() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5], cleared: 4))
        #expect(mailbox.pushed(entry(700), after: 5, now: 0) == [.notify(version: 700)])
        #expect(mailbox.latest == 700)
        #expect(mailbox.pushed(entry(702), after: 701, now: 0) == [.awaitEarlier(gap: 1)])
        #expect(mailbox.gapDue(1) == [.load(after: 700, fresh: false)])
    }

    @Test func whatComesAfterRedisFellBackIsShown() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([5, 6, 7], cleared: 4))
        _ = mailbox.poll(verClear: 6, limit: 30, now: 0)
        // Redis lost 6 and 7 and the acknowledgement of 5; 7 is still pushed, because its
        // sender was told that it would be.
        _ = mailbox.resynchronize()
        #expect(
            mailbox.loaded(page([5], cleared: 4, highest: 5)) == [
                .fellBack, .clear(through: 6), .notify(version: 7),
            ])
        #expect(mailbox.pushed(entry(900), after: 5, now: 0) == [.notify(version: 900)])
        #expect(
            mailbox.poll(verClear: 6, limit: 30, now: 0) == [.answer(cleared: 6, entries: [entry(7), entry(900)])])
    }

    @Test func aPredecessorThatIsLowerTellsThatRedisFellBack() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.loaded(page([5, 6], cleared: 4))
        #expect(mailbox.pushed(entry(900), after: 5, now: 0) == [.fellBack, .push(entry(900))])
    }

    @Test func anOutageDuringAReadIsRememberedUntilItsEnd() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        #expect(mailbox.resynchronize() == [])
        #expect(mailbox.loaded(page([5], cleared: 4)) == [.load(after: 5, fresh: false)])
        #expect(mailbox.loaded(page([6], cleared: 4)) == [.notify(version: 6)])
    }

    @Test func aPageOfExpiredEntriesIsReadPast() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.poll(verClear: 0, limit: 30, now: 0)
        #expect(mailbox.loaded(page([], highest: 9, through: 7, more: true)) == [.load(after: 7, fresh: false)])
        #expect(mailbox.loaded(page([9], highest: 9)) == [.answer(cleared: 0, entries: [entry(9)])])
    }

    @Test func aClientThatTakesPushesIsNotStoppedByWhatHasExpired() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        let bound = Int64(MailboxStateMachine.windowBound)
        // Expired by the gateway's clock, though not yet when it was read: it is not pushed, so it will not be
        // acknowledged.
        var late = page(Array(1...bound), highest: bound + 1, more: true)
        late.now = 2000
        #expect(mailbox.loaded(late) == [.load(after: bound, fresh: false)])
        _ = mailbox.loaded(page([bound + 1], highest: bound + 1))
        #expect(mailbox.pushed(entry(bound + 2), after: bound + 1, now: 0) == [.push(entry(bound + 2))])
    }

    @Test func theWindowAndItsAnswersAreBoundedInBytes() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        let line = String(repeating: "x", count: MailboxStateMachine.windowBytes / 2)
        let entries = (Int64(1)...5).map { MailboxEntry(version: $0, expiresAt: 99, line: line) }
        _ = mailbox.loaded(page([]))
        for entry in entries[..<2] { _ = mailbox.pushed(entry, after: entry.version - 1, now: 0) }
        #expect(mailbox.pushed(entries[2], after: 2, now: 0) == [.notify(version: 3)])
        #expect(
            mailbox.poll(verClear: 0, limit: 1000, now: 0) == [
                .answer(cleared: 0, entries: Array(entries[..<2])), .notify(version: 3),
            ])
        #expect(
            mailbox.poll(verClear: 2, limit: 1000, now: 0) == [.clear(through: 2), .load(after: 2, fresh: false)])
        // What does not fit is read again later.
        let rest = MailboxPage(cleared: 2, highest: 5, entries: Array(entries[2...]), now: 0)
        #expect(
            mailbox.loaded(rest) == [.answer(cleared: 2, entries: Array(entries[2..<4])), .notify(version: 5)])
        #expect(
            mailbox.poll(verClear: 4, limit: 1000, now: 0) == [.clear(through: 4), .load(after: 4, fresh: false)])
    }

    @Test func pushesWaitForTheClientToProcessHalfOfTheWindow() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        let line = String(repeating: "x", count: MailboxStateMachine.windowBytes / 2)
        let entries = (Int64(1)...3).map { MailboxEntry(version: $0, expiresAt: 99, line: line) }
        var first = MailboxPage(cleared: 0, highest: 3, entries: Array(entries[..<2]), now: 0)
        first.through = 2
        first.more = true
        #expect(mailbox.loaded(first) == [.push(entries[0]), .push(entries[1])])
        #expect(
            mailbox.poll(verClear: 1, limit: 30, now: 0) == [.clear(through: 1), .answer(cleared: 1, entries: [])])
        #expect(
            mailbox.poll(verClear: 2, limit: 30, now: 0) == [
                .clear(through: 2), .answer(cleared: 2, entries: []), .load(after: 2, fresh: false),
            ])
    }

    @Test func theHighestOfSeveralAcknowledgementsDuringAReadCounts() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.poll(verClear: 6, limit: 30, now: 0)
        _ = mailbox.poll(verClear: 5, limit: 30, now: 0)
        #expect(
            mailbox.loaded(page([5, 6, 7], cleared: 4)) == [
                .clear(through: 6), .answer(cleared: 6, entries: [entry(7)]),
            ])
    }

    @Test func theHighestOfSeveralPublicationsDuringAReadCounts() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.pushed(entry(7), after: 6, now: 0)
        _ = mailbox.pushed(entry(6), after: 5, now: 0)
        #expect(mailbox.loaded(page([6], cleared: 4)) == [.load(after: 6, fresh: false)])
    }

    @Test func anEntryLargerThanAnAnswerIsGivenAlone() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        let line = String(repeating: "x", count: Limits.mailboxAnswerBytes + 1)
        let large = MailboxEntry(version: 1, expiresAt: 99, line: line)
        _ = mailbox.loaded(page([]))
        _ = mailbox.pushed(large, after: 0, now: 0)
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 0) == [.answer(cleared: 0, entries: [large])])
    }

    @Test func aWindowIsRefilledBelowHalfOfItsEntries() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        let bound = Int64(MailboxStateMachine.windowBound)
        _ = mailbox.loaded(page(Array(1...bound), highest: bound + 1, more: true))
        let half = mailbox.poll(verClear: bound / 2, limit: 30, now: 0)
        #expect(half == [.clear(through: bound / 2), .answer(cleared: bound / 2, entries: [])])
        #expect(mailbox.poll(verClear: bound / 2 + 1, limit: 30, now: 0).last == .load(after: bound, fresh: false))
    }

    @Test func expiredEntriesMakeRoomInTheWindow() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        let line = String(repeating: "x", count: MailboxStateMachine.windowBytes / 2)
        _ = mailbox.loaded(page([]))
        for version in Int64(1)...2 {
            _ = mailbox.pushed(MailboxEntry(version: version, expiresAt: 10, line: line), after: version - 1, now: 0)
        }
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 10) == [.answer(cleared: 0, entries: [])])
        #expect(mailbox.pushed(entry(3), after: 2, now: 10) == [.notify(version: 3)])
        #expect(mailbox.poll(verClear: 0, limit: 30, now: 10) == [.answer(cleared: 0, entries: [entry(3)])])
    }

    @Test func whatHasExpiredIsNotPushed() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.loaded(page([]))
        #expect(mailbox.pushed(entry(1, expiresAt: 10), after: 0, now: 10) == [])
        #expect(mailbox.pushed(entry(2, expiresAt: 11), after: 1, now: 10) == [.push(entry(2, expiresAt: 11))])
    }

    @Test(arguments: [true, false])
    func nothingExpiresWhileTheTimeIsUnknown(takesPushes: Bool) {
        var mailbox = MailboxStateMachine(takesPushes: takesPushes)
        _ = mailbox.loaded(page([]))
        let old = entry(1, expiresAt: 0)
        #expect(mailbox.pushed(old, after: 0, now: nil) == [takesPushes ? .push(old) : .notify(version: 1)])
        #expect(
            mailbox.poll(verClear: 0, limit: 30, now: nil) == [.answer(cleared: 0, entries: takesPushes ? [] : [old])])
    }

    // MARK: - Entries that overtake others

    @Test(arguments: [[3, 2], [4, 2, 3], [4, 3, 2], [2, 4, 3], [5, 3, 4, 2]])
    func entriesThatOvertakeOthersWaitForThem(order: [Int64]) {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.loaded(page([1]))
        let actions = order.flatMap { mailbox.pushed(entry($0), after: $0 - 1, now: 0) }
        let pushed = actions.compactMap { if case .push(let entry) = $0 { entry.version } else { nil } }
        #expect(pushed == order.sorted())
        #expect(actions.filter { $0 == .awaitEarlier(gap: 1) }.count == 1)
        #expect(actions.count == pushed.count + 1, "nothing else is done: \(actions)")
        #expect(mailbox.gapDue(1) == [], "nothing is missing")
        #expect(mailbox.latest == order.max())
    }

    @Test func anEntryThatStaysAwayIsRead() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.loaded(page([1]))
        #expect(mailbox.pushed(entry(3), after: 2, now: 0) == [.awaitEarlier(gap: 1)])
        #expect(mailbox.pushed(entry(3), after: 2, now: 0) == [], "told of twice")
        #expect(mailbox.gapDue(1) == [.load(after: 1, fresh: false)])
        #expect(mailbox.gapDue(1) == [], "it is being read")
        #expect(mailbox.loaded(page([2, 3])) == [.push(entry(2)), .push(entry(3))])
    }

    @Test func thePauseOfAnEarlierGapSaysNothingOfALaterOne() {
        var mailbox = MailboxStateMachine(takesPushes: false)
        _ = mailbox.loaded(page([]))
        _ = mailbox.pushed(entry(1), after: 0, now: 0)
        #expect(mailbox.pushed(entry(3), after: 2, now: 0) == [.awaitEarlier(gap: 1)])
        #expect(mailbox.pushed(entry(2), after: 1, now: 0) == [.notify(version: 2), .notify(version: 3)])
        #expect(mailbox.pushed(entry(5), after: 4, now: 0) == [.awaitEarlier(gap: 2)])
        #expect(mailbox.gapDue(1) == [])
        #expect(mailbox.gapDue(2) == [.load(after: 3, fresh: false)])
    }

    @Test func noMoreThanSomeEntriesWaitForOthers() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.loaded(page([1]))
        let bound = Int64(MailboxStateMachine.earlyBound)
        for version in 3..<3 + bound { _ = mailbox.pushed(entry(version), after: version - 1, now: 0) }
        #expect(mailbox.pushed(entry(3 + bound), after: 2 + bound, now: 0) == [.load(after: 1, fresh: false)])
        let all = Array(2...3 + bound)
        #expect(mailbox.loaded(page(all)) == all.map { .push(entry($0)) })
    }

    @Test func whatRedisHasLostIsNotReadForEver() {
        var mailbox = MailboxStateMachine(takesPushes: true)
        _ = mailbox.start(fresh: true)
        #expect(mailbox.pushed(entry(9), after: 8, now: 0) == [])
        #expect(mailbox.loaded(page([8])) == [.load(after: 8, fresh: false)], "read before 9 was published")
        #expect(mailbox.loaded(page([], cleared: 0, highest: 8, through: 8)) == [.push(entry(8))])
    }
}
