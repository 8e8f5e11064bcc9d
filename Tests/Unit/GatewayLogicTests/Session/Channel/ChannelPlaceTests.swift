import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct ChannelPlaceTests {
    private let room: ChannelName
    private var place: ChannelPlace

    init() throws {
        room = try ChannelName("room")
        place = ChannelPlace(moveNumber: 4)
    }

    @Test mutating func actsAreNumberedOnFromTheResume() {
        #expect(place.held == HeldPlace(moveNumber: 4, channel: nil))
        #expect(place.moves() == 5)
        #expect(!place.held.isSettled)
        place.joined(room)
        #expect(place.held == HeldPlace(moveNumber: 5, channel: room))
    }

    @Test mutating func aRefusalChangesNothing() {
        _ = place.moves()
        place.joined(room)
        _ = place.moves()
        place.failed(SignalingError(.joinOther, .superseded, "too late"))
        #expect(place.held == HeldPlace(moveNumber: 6, channel: room))
    }

    @Test(arguments: [SignalingError.timeout(), .unavailable("redis"), .timeout(.joinOther)])
    mutating func whatWasNotAnsweredIsNotKnown(error: SignalingError) {
        _ = place.moves()
        place.failed(error)
        #expect(!place.held.isSettled)
        _ = place.moves()
        place.joined(room)
        #expect(place.held == HeldPlace(moveNumber: 6, channel: room))
    }

    /// The join may have left the room, and then its undoing has left the other channel.
    @Test mutating func aLeaveDoesNotTellWhetherTheJoinBeforeItTookEffect() throws {
        _ = place.moves()
        place.joined(room)
        _ = place.moves()
        place.failed(.timeout())
        _ = place.moves()
        place.left(try ChannelName("other"))
        #expect(!place.held.isSettled)
        _ = place.moves()
        place.failed(SignalingError(.joinOther, .busy, "refused"))
        #expect(!place.held.isSettled, "a refusal changes nothing either")
        _ = place.moves()
        place.joined(room)
        #expect(place.held == HeldPlace(moveNumber: 9, channel: room))
    }
}
