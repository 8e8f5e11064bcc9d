import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// Removals from channels by the app.
@Suite struct ClientSessionRemovalTests {
    private static func active(in name: String? = nil) throws -> Conversation {
        let talk = try Conversation()
        try talk.logIn()
        if let name { try talk.join(name) }
        return talk
    }

    private static func removal(_ change: Int64, from name: String = "room") throws -> SessionEvent {
        .channel(.removed(ChannelRemoval(channel: try ChannelName(name), change: change, moveNumber: 2)))
    }

    /// What the client is sent.
    private static func told(_ change: Int64, _ talk: Conversation) throws -> [SessionAction] {
        let event = ChannelEvent(
            sequence: 0, id: change, account: talk.user.account, uid: try talk.owner.actor.uid, kind: .left)
        return [.channel(.showRemoval(event)), .channel(.leaveLocally)]
    }

    @Test func theClientIsToldAndLeaves() throws {
        let talk = try Self.active(in: "room")
        #expect(talk.tell(try Self.removal(11)) == (try Self.told(11, talk)))
        #expect(talk.session.channel.joined == nil)
        // The number is that of the removal, so that an older reassertion does not put the session back.
        #expect(talk.session.held?.place == HeldPlace(moveNumber: 2, channel: nil, isSettled: true))
        #expect(talk.tell(try Self.removal(11)) == [], "told again")
    }

    @Test func removalsBeforeTheJoinAndFromOtherChannelsChangeNothing() throws {
        let talk = try Self.active(in: "room")
        #expect(talk.tell(try Self.removal(10)) == [])
        #expect(talk.tell(try Self.removal(11, from: "other")) == [])
        #expect(talk.session.channel.joined?.name == (try ChannelName("room")))
        #expect(talk.session.held?.place.channel == (try ChannelName("room")))
    }

    @Test(arguments: [(20, 19, false), (20, 21, true)])
    func aRemovalWhileItJoinsAgainFollowsTheAnswer(join: Int64, change: Int64, isRemoved: Bool) throws {
        let talk = try Self.active(in: "room")
        _ = try talk.calls("channel_join", 1, #""name":"room""#)
        #expect(talk.tell(try Self.removal(change)) == [])
        let actions = talk.tell(.channel(.joined(talk.ticket(), .success(talk.joined(join)))))
        let ending = try Self.told(change, talk)
        #expect((Array(actions.suffix(2)) == ending) == isRemoved)
        #expect((talk.session.channel.joined == nil) == isRemoved)
    }

    @Test func aRemovalFromTheChannelThatAJoinLeavesHoldsOnlyIfTheJoinFails() throws {
        for error in [nil, SignalingError(.joinOther, .banned, "x")] {
            let talk = try Self.active(in: "room")
            let next = try talk.channel("next")
            _ = try talk.calls("channel_join", 1, #""name":"next""#)
            _ = talk.tell(.channel(.subscribed(next, true, last: nil, left: nil)))
            #expect(talk.tell(try Self.removal(11)) == [])
            let answer: Result<JoinedChannel, SignalingError> = error.map { .failure($0) } ?? .success(talk.joined(20))
            let actions = talk.tell(.channel(.joined(talk.ticket(), answer)))
            if error == nil {
                #expect(talk.session.channel.joined?.name == next.name)
            } else {
                #expect(Array(actions.suffix(2)) == (try Self.told(11, talk)))
                #expect(talk.session.channel.joined == nil)
            }
        }
    }

    @Test func aLeaveInProgressMakesTheRemovalPointless() throws {
        let talk = try Self.active(in: "room")
        _ = try talk.calls("channel_leave", 1, #""name":"room""#)
        #expect(talk.tell(try Self.removal(11)) == [])
        #expect(talk.tell(.channel(.left(talk.ticket(), nil))) == [.channel(.leaveLocally), Conversation.ok()])
    }
}
