import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// Whole conversations: joins, leaves, and joins that time out.
@Suite struct ClientSessionChannelTests {
    private typealias Talk = Conversation

    private func active(in name: String? = nil) throws -> Conversation {
        let talk = try Conversation()
        try talk.logIn()
        if let name { try talk.join(name) }
        return talk
    }

    private func join(_ talk: Conversation, _ name: String, id: Int = 1) throws -> [SessionAction] {
        try talk.calls("channel_join", id, #""name":"\#(name)""#)
    }

    private static func joined(_ id: Int64) -> ReplyBody {
        .joined(id: id, members: MemberListText(LatestMembers([])), attributes: [])
    }

    @Test func aJoinsAnswerPrecedesLaterEvents() throws {
        let talk = try active()
        let room = try talk.channel("room")
        #expect(try join(talk, "room") == [.request(.subscribe(room))])
        #expect(
            talk.tell(.channel(.subscribed(room, true, last: nil, left: nil))) == [
                .channel(.enter(room, as: talk.user.account)),
                .request(.join(try talk.owner, talk.ticket(), room.name, number: 1)),
            ])
        #expect(talk.tell(.channel(.published([try talk.message(10), try talk.message(11)]))) == [])
        #expect(
            talk.tell(.channel(.joined(talk.ticket(), .success(talk.joined(10))))) == [
                Talk.ok(1, Self.joined(10)), .channel(.advanceFeed(ChannelPosition(sequence: 10, id: 10))),
                .channel(.showAll(after: 10)), .channel(.show([try talk.message(11)])),
            ])
        #expect(talk.session.held?.place == HeldPlace(moveNumber: 1, channel: room.name))
    }

    @Test func aJoinWithoutSubscription() throws {
        let talk = try active()
        _ = try join(talk, "room")
        #expect(
            talk.tell(.channel(.subscribed(try talk.channel("room"), false, last: nil, left: nil)))
                == Talk.failed(1, .unavailable("redis")) + [.channel(.unsubscribe(try talk.channel("room")))])
        #expect(talk.session.channel.joined == nil)
    }

    @Test func aSubscriptionToAnotherChannelChangesNothing() throws {
        let talk = try active()
        _ = try join(talk, "room")
        let other = try talk.channel("other")
        #expect(talk.tell(.channel(.subscribed(other, true, last: nil, left: nil))) == [.channel(.unsubscribe(other))])
        #expect(talk.session.channel.joined == nil)
    }

    @Test func aJoinOfAChannelWithoutEventsDoesNotMoveItsFeed() throws {
        let talk = try active()
        _ = try join(talk, "room")
        _ = talk.tell(.channel(.subscribed(try talk.channel("room"), true, last: nil, left: nil)))
        #expect(
            talk.tell(.channel(.joined(talk.ticket(), .success(talk.joined(0))))) == [
                Talk.ok(1, Self.joined(0)), .channel(.showAll(after: 0)),
            ])
    }

    @Test func joiningTheChannelItIsIn() throws {
        let talk = try active(in: "room")
        let room = try talk.channel("room")
        #expect(
            try join(talk, "room") == [
                .channel(.holdEvents), .request(.join(talk.owner, talk.ticket(), room.name, number: 2)),
            ])
        #expect(talk.tell(.channel(.published([try talk.message(11)]))) == [])
        let error = SignalingError(.joinOther, .busy, "x")
        #expect(
            talk.tell(.channel(.joined(talk.ticket(), .failure(error))))
                == Talk.failed(1, error) + [.channel(.showAll(after: 10)), .channel(.show([try talk.message(11)]))])
    }

    @Test func aJoinLeavesTheChannelBefore() throws {
        let talk = try active(in: "first")
        let next = try talk.channel("next")
        _ = try join(talk, "next")
        #expect(
            talk.tell(.channel(.subscribed(next, true, last: nil, left: ChannelPosition(sequence: 12, id: 12)))) == [
                .channel(.leaveLocally), .channel(.enter(next, as: talk.user.account)),
                .request(.join(try talk.owner, talk.ticket(), next.name, number: 2)),
            ])
    }

    @Test func leaving() throws {
        let talk = try active(in: "room")
        let name = try ChannelName("room")
        #expect(
            try talk.calls("channel_leave", 1, #""name":"room""#) == [
                .request(.leave(talk.owner, talk.ticket(), name, number: 2))
            ])
        #expect(talk.tell(.channel(.left(talk.ticket(), nil))) == [.channel(.leaveLocally), Talk.ok()])
        #expect(talk.session.held?.place == HeldPlace(moveNumber: 2, channel: nil, isSettled: true))
    }

    @Test func leavingAnotherChannelKeepsItsOwn() throws {
        let talk = try active(in: "room")
        _ = try talk.calls("channel_leave", 1, #""name":"other""#)
        #expect(talk.tell(.channel(.left(talk.ticket(), nil))) == [Talk.ok()])
        #expect(talk.session.channel.joined?.name == (try ChannelName("room")))
        #expect(talk.session.held?.place == HeldPlace(moveNumber: 2, channel: try ChannelName("room"), isSettled: true))
    }

    @Test func aLeaveThatFails() throws {
        let talk = try active(in: "room")
        _ = try talk.calls("channel_leave", 1, #""name":"room""#)
        #expect(talk.tell(.channel(.left(talk.ticket(), .timeout()))) == Talk.failed(1, .timeout()))
        #expect(talk.session.channel.joined?.name == (try ChannelName("room")))
        #expect(talk.session.held?.place.isSettled == false)
    }

    @Test func anAttributeChangesAnswerPrecedesItsEvent() throws {
        let talk = try active(in: "room")
        let actions = try talk.calls("channel_set_attr", 1, #""channel":"room","name":"a","value":"b""#)
        #expect(actions.first == .channel(.holdEvents))
        #expect(actions.count == 2)
        #expect(talk.tell(.channel(.published([try talk.message(11)]))) == [])
        #expect(
            talk.tell(.answered(talk.ticket(), .success(.done))) == [
                Talk.ok(), .channel(.showAll(after: 10)), .channel(.show([try talk.message(11)])),
            ])
    }

    @Test func aSubscriptionThatComesTooLateIsEnded() throws {
        let talk = try active()
        let room = try talk.channel("room")
        _ = try join(talk, "room")
        _ = talk.tell(.connectionLost)
        #expect(talk.tell(.channel(.subscribed(room, true, last: nil, left: nil))) == [.channel(.unsubscribe(room))])
    }

    @Test(arguments: [true, false])
    func aReplyToAChangeThatIsNotInProgressIsLoggedAndAnswered(isJoin: Bool) throws {
        let talk = try active()
        let actions = talk.tell(
            .channel(isJoin ? .joined(talk.ticket(), .success(talk.joined())) : .left(talk.ticket(), nil)))
        let what = "a \(isJoin ? "join" : "leave") was answered that is not in progress"
        #expect(actions == [.logError(what)] + Talk.failed(1, .unavailable("the session")))
    }

    @Test func aConnectionThatIsLostLeavesItsChannel() throws {
        let talk = try active(in: "room")
        #expect(talk.tell(.connectionLost).contains(.channel(.leaveLocally)))
        #expect(talk.session.channel.joined == nil)
        #expect(talk.tell(.channel(.published([try talk.message(11)]))) == [], "nothing is shown any more")
    }

    @Test func eventsFromBeforeTheJoinAreNotShown() throws {
        let talk = try active(in: "room")
        let events = [try talk.message(9), try talk.message(10), try talk.message(11)]
        #expect(talk.tell(.channel(.published(events))) == [.channel(.show([try talk.message(11)]))])
        #expect(talk.tell(.channel(.published([try talk.message(10)]))) == [])
    }

    @Test func whoHoldsTooManyEventsIsCutOff() throws {
        let talk = try active(in: "room")
        _ = try join(talk, "room")
        let events = try (1...Int64(Membership.heldBound)).map { try talk.message(10 + $0) }
        #expect(talk.tell(.channel(.published(events))) == [])
        #expect(talk.tell(.channel(.published([try talk.message(10_000)]))) == [.cutOff])
    }

    /// Only what ends a pause is told to the fan-out, not every answer.
    @Test func anAnswerThatHeldNothingShowsNothing() throws {
        let talk = try active(in: "room")
        _ = try talk.calls("channel_query_userlist", 1, #""name":"room""#)
        #expect(talk.tell(.answered(talk.ticket(), .success(.done))) == [Talk.ok()])
    }

    // MARK: - Joins that time out

    /// A session in the channel `first` whose join of `next` has timed out.
    private func unanswered(_ error: SignalingError = .timeout()) throws -> (Conversation, [SessionAction]) {
        let talk = try active(in: "first")
        let next = try talk.channel("next")
        _ = try join(talk, "next")
        _ = talk.tell(.channel(.subscribed(next, true, last: nil, left: ChannelPosition(sequence: 12, id: 12))))
        return (talk, talk.tell(.channel(.joined(talk.ticket(), .failure(error)))))
    }

    @Test func afterATimeoutItStaysInThePreviousChannelAndUndoesTheJoin() throws {
        let (talk, actions) = try unanswered()
        let first = try talk.channel("first")
        #expect(
            actions == [
                .channel(.leaveLocally), .count(.joinUnsettled),
                .request(.undoJoin(try talk.owner, try ChannelName("next"), settlement: 1)),
                .channel(.enter(first, as: talk.user.account)),
                .request(.readLog(first, after: ChannelPosition(sequence: 12, id: 12), number: 2)),
            ] + Talk.failed(1, .timeout()))
        #expect(
            try talk.tell(.channel(.joinUndone(settlement: 1, true))) == [
                .request(.askMembership(talk.owner, first, settlement: 1))
            ])
        #expect(talk.tell(.channel(.membershipTold(settlement: 1, isMember: false))) == [.channel(.leaveLocally)])
        #expect(talk.tell(.channel(.membershipTold(settlement: 1, isMember: false))) == [], "it is settled")
    }

    /// Otherwise the gateway would restore the membership in the first channel, which the join may have left.
    @Test func afterATimeoutALeaveOfTheNewChannelDoesNotTellThatItIsInTheFirst() throws {
        let (talk, _) = try unanswered()
        _ = try talk.calls("channel_leave", 2, #""name":"next""#)
        #expect(talk.tell(.channel(.left(talk.ticket(2), nil))).contains(Talk.ok(2)))
        #expect(talk.session.held?.place.isSettled == false)
        _ = try join(talk, "first", id: 3)
        _ = talk.tell(.channel(.joined(talk.ticket(3), .success(talk.joined(20)))))
        #expect(talk.session.held?.place == HeldPlace(moveNumber: 4, channel: try ChannelName("first")))
    }

    @Test func aJoinIsUndoneWhenRedisWasUnavailableAndNotWhenItWasRefused() throws {
        let (talk, unavailable) = try unanswered(.unavailable("redis"))
        let undo = SessionAction.request(.undoJoin(try talk.owner, try ChannelName("next"), settlement: 1))
        #expect(unavailable.contains(undo))
        let (_, refused) = try unanswered(SignalingError(.joinOther, .busy, "x"))
        #expect(!refused.contains(undo))
    }

    @Test func theUndoingIsRepeatedUntilConfirmed() throws {
        let (talk, _) = try unanswered()
        #expect(talk.tell(.channel(.settlementDue(1))) == [], "the first request is not answered yet")
        #expect(talk.tell(.channel(.joinUndone(settlement: 9, true))) == [], "the answer of another settlement")
        #expect(talk.tell(.channel(.joinUndone(settlement: 1, false))) == [.request(.settleLater(1))])
        #expect(
            try talk.tell(.channel(.settlementDue(1))) == [
                .request(.undoJoin(talk.owner, try ChannelName("next"), settlement: 1))
            ])
        _ = talk.tell(.channel(.joinUndone(settlement: 1, true)))
        #expect(talk.tell(.channel(.membershipTold(settlement: 1, isMember: nil))) == [.request(.settleLater(1))])
        #expect(talk.tell(.connectionLost) != [])
        #expect(talk.tell(.channel(.settlementDue(1))) == [])
    }

    /// The settlement of the old join may undo it; if that came after the next join, it would undo the next join.
    @Test func theNextJoinWaitsForTheSettlement() throws {
        let (talk, _) = try unanswered()
        #expect(try join(talk, "third", id: 2) == [])
        #expect(
            talk.tell(.channel(.joinUndone(settlement: 1, false))) == [.request(.subscribe(try talk.channel("third")))])
        #expect(talk.tell(.channel(.settlementDue(1))) == [])
    }

    /// A session that has asked for the log of `first` as number 2, and is on its way from there to `third`.
    private func leavingForAThird() throws -> (talk: Conversation, page: ChannelLogPage, left: ChannelPosition) {
        let (talk, _) = try unanswered()
        _ = talk.tell(.channel(.joinUndone(settlement: 1, false)))
        _ = try join(talk, "third", id: 2)
        let left = ChannelPosition(sequence: 12, id: 12)
        _ = talk.tell(.channel(.subscribed(try talk.channel("third"), true, last: nil, left: left)))
        let page = ChannelLogPage(
            events: [try talk.message(13)], latest: ChannelPosition(sequence: 13, id: 13), complete: true,
            through: ChannelPosition(sequence: 13, id: 13), more: false)
        return (talk, page, left)
    }

    @Test func theAnswerToAnOutdatedLogReadIsDropped() throws {
        let (talk, page, _) = try leavingForAThird()
        _ = talk.tell(.channel(.joined(talk.ticket(2), .success(talk.joined(20)))))
        #expect(talk.tell(.channel(.logRead(number: 2, page, last: nil))) == [])
    }

    @Test func theLogOfAChannelThatWasLeftIsNotShownInTheNext() throws {
        let (talk, page, _) = try leavingForAThird()
        #expect(
            talk.tell(.channel(.logRead(number: 2, page, last: nil))) == [], "the join of the next is not answered yet")
        #expect(!talk.hasNextTurn)
    }

    @Test func theAnswerToAnEarlierLogReadIsDropped() throws {
        let (talk, page, left) = try leavingForAThird()
        let first = try talk.channel("first")
        #expect(
            talk.tell(.channel(.joined(talk.ticket(2), .failure(.timeout())))).contains(
                .request(.readLog(first, after: left, number: 4))))
        #expect(talk.tell(.channel(.logRead(number: 2, page, last: nil))) == [])
        #expect(talk.tell(.channel(.logRead(number: 4, page, last: nil))) == [.channel(.show([try talk.message(13)]))])
        #expect(talk.hasNextTurn)
    }

    // MARK: - A join of the channel whose missed events are being read

    private func move(_ talk: Conversation, _ id: Int64) throws -> ChannelEvent {
        ChannelEvent(sequence: id, id: id, account: try Account("bob"), uid: 2, kind: .left)
    }

    /// The events that were missed between 12 and `latest`: a leave, a message, and a leave.
    private func missed(_ talk: Conversation, through latest: Int64) throws -> ChannelLogPage {
        let position = ChannelPosition(sequence: latest, id: latest)
        return ChannelLogPage(
            events: [try move(talk, 13), try talk.message(14), try move(talk, latest)], latest: position,
            complete: true, through: position, more: false)
    }

    /// A session that has asked for the log of `first` as number 2, and then to join `first` again.
    private func joiningAgain() throws -> Conversation {
        let (talk, _) = try unanswered()
        let first = try talk.channel("first")
        #expect(
            try join(talk, "first", id: 2) == [
                .channel(.holdEvents), .request(.join(talk.owner, talk.ticket(2), first.name, number: 3)),
            ])
        return talk
    }

    /// The gateway was cut off from Redis: the read fails, then the join is answered, and only then come the events of
    /// that time.
    @Test func afterAFailedReadAnOldLeaveIsNotShownAfterTheListsOfTheNextJoin() throws {
        let talk = try joiningAgain()
        #expect(talk.tell(.channel(.logRead(number: 2, nil, last: ChannelPosition(sequence: 12, id: 12)))) == [])
        #expect(!talk.hasNextTurn, "the answer to the join comes first")
        #expect(
            talk.tell(.channel(.joined(talk.ticket(2), .success(talk.joined(20))))) == [
                Talk.ok(2, Self.joined(20)), .channel(.advanceFeed(ChannelPosition(sequence: 20, id: 20))),
            ])
        #expect(talk.hasNextTurn)
        let first = try talk.channel("first")
        #expect(
            talk.tell(.nextTurn) == [.request(.readLog(first, after: ChannelPosition(sequence: 12, id: 12), number: 3))]
        )
        let page = try missed(talk, through: 21)
        #expect(
            talk.tell(.channel(.logRead(number: 3, page, last: nil))) == [.channel(.show(Array(page.events[1...])))])
        #expect(
            talk.tell(.nextTurn) == [
                .channel(.advanceFeed(ChannelPosition(sequence: 21, id: 21))), .channel(.showAll(after: 21)),
            ])
    }

    /// What the channel's log does not have any more, or cannot be read twice, the client learns by a resume.
    @Test func aMemberThatCannotBeToldWhatItMissedResumes() throws {
        for readings in [[true], [false, false], [false, true]] {
            let (talk, _) = try unanswered()
            var actions: [SessionAction] = []
            for (index, isRead) in readings.enumerated() {
                let position = ChannelPosition(sequence: 99, id: 99)
                let page = ChannelLogPage(
                    events: [try talk.message(99)], latest: position, complete: false, through: position, more: false)
                actions = talk.tell(.channel(.logRead(number: 2 + index, isRead ? page : nil, last: nil)))
                #expect(actions.contains(.close(.goingAway)) == (index == readings.count - 1))
            }
        }
    }

    /// Whether or not the read is answered before the join, and whether or not the join succeeds, the answer comes
    /// first, and no message is missed.
    @Test(arguments: [true, false], [true, false])
    func whatWasMissedFollowsTheAnswerOfTheNextJoin(isReadFirst: Bool, isRefused: Bool) throws {
        let talk = try joiningAgain()
        let page = try missed(talk, through: 21)
        if isReadFirst {
            #expect(talk.tell(.channel(.logRead(number: 2, page, last: nil))) == [])
            #expect(!talk.hasNextTurn)
        }
        #expect(talk.tell(.channel(.published([try move(talk, 22)]))) == [])
        let error = SignalingError(.joinOther, .busy, "x")
        let answer = talk.tell(
            .channel(.joined(talk.ticket(2), isRefused ? .failure(error) : .success(talk.joined(20)))))
        let succeeded = [
            Talk.ok(2, Self.joined(20)), .channel(.advanceFeed(ChannelPosition(sequence: 20, id: 20))),
        ]
        #expect(answer == (isRefused ? Talk.failed(2, error) : succeeded))
        let shown = SessionAction.channel(.show(isRefused ? page.events : Array(page.events[1...])))
        #expect(talk.tell(isReadFirst ? .nextTurn : .channel(.logRead(number: 2, page, last: nil))) == [shown])
        #expect(
            talk.tell(.nextTurn) == [
                .channel(.advanceFeed(ChannelPosition(sequence: 21, id: 21))), .channel(.showAll(after: 21)),
                .channel(.show([try move(talk, 22)])),
            ])
        #expect(!talk.hasNextTurn)
    }

    @Test func aReplayThatIsAllInTheListsShowsNothing() throws {
        let talk = try joiningAgain()
        _ = talk.tell(.channel(.joined(talk.ticket(2), .success(talk.joined(20)))))
        let latest = ChannelPosition(sequence: 13, id: 13)
        let page = ChannelLogPage(
            events: [try move(talk, 13)], latest: latest, complete: true, through: latest, more: false)
        #expect(talk.tell(.channel(.logRead(number: 2, page, last: nil))) == [])
        #expect(talk.tell(.nextTurn) == [.channel(.advanceFeed(latest)), .channel(.showAll(after: 20))])
    }
}
