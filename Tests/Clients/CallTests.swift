import SignalingClient
import SignalingProtocol
import TestKit
import Testing

extension StackTests {
    @Suite("Calls") struct CallTests {
        private func call(_ kind: CallEvent.Kind, _ room: String, _ peer: Person, extra: String = "") -> SignalingEvent
        {
            .call(CallEvent(kind: kind, channel: room, peer: peer.account, uid: peer.client.uid, extra: extra))
        }

        @Test("Invite, accept, DTMF, end, across two gateways")
        func accepted() async throws {
            let room = unique("room")
            let alice = try await Person.login("alice", gateway: 0)
            let bob = try await Person.login("bob", gateway: 1)
            try await alice.client.invite(bob.account, to: room, extra: #"{"a":1}"#)
            try await bob.waits(for: call(.invited, room, alice, extra: #"{"a":1}"#))
            try await alice.waits(for: call(.delivered, room, bob))
            let again = await failure { () throws(SignalingError) in
                try await alice.client.invite(bob.account, to: room)
            }
            #expect(again?.code == .inviteReinvite)
            try await bob.client.accept(alice.account, in: room, extra: "{}")
            try await alice.waits(for: call(.accepted, room, bob, extra: "{}"))
            try await alice.client.sendDTMF("12#", to: bob.account, in: room)
            try await bob.waits(for: "digits") {
                guard case .call(let event) = $0 else { return Bool?.none }
                return event.kind == .message(type: "dtmf", data: "12#") ? true : Bool?.none
            }
            let wrong = await failure { () throws(SignalingError) in
                try await alice.client.sendDTMF("12z", to: bob.account, in: room)
            }
            #expect(wrong?.code == .wrongParameter)
            try await bob.client.endCall(with: alice.account, in: room)
            try await alice.waits(for: call(.ended, room, bob))
            try await alice.leaves()
            try await bob.leaves()
        }

        @Test("Refused, ended before the answer, and failed")
        func unanswered() async throws {
            let room = unique("room")
            let alice = try await Person.login("alice", gateway: 0)
            let bob = try await Person.login("bob", gateway: 1)
            try await alice.client.invite(bob.account, to: room)
            try await bob.waits(for: call(.invited, room, alice))
            try await bob.client.refuse(alice.account, in: room, extra: #""busy""#)
            try await alice.waits(for: call(.refused, room, bob, extra: #""busy""#))
            let other = unique("room")
            try await alice.client.invite(bob.account, to: other)
            try await bob.waits(for: call(.invited, other, alice))
            try await alice.client.endCall(with: bob.account, in: other)
            try await bob.waits(for: call(.ended, other, alice))
            try await bob.leaves()
            try await alice.client.invite(bob.account, to: room, extra: #"{"_require_peer_online":1}"#)
            try await alice.waits(for: "703") {
                guard case .call(let event) = $0 else { return Bool?.none }
                return event.kind == .failed(.invitePeerOffline) ? true : Bool?.none
            }
            try await alice.client.invite(bob.account, to: other, extra: #"{"_timeout":1}"#)
            try await alice.waits(for: "the time is over") {
                guard case .call(let event) = $0, event.channel == other, case .failed = event.kind else {
                    return Bool?.none
                }
                return true
            }
            try await alice.leaves()
        }
    }
}
