import SignalingClient
import SignalingProtocol
import TestKit
import Testing

extension StackTests {
    @Suite("Messages, channels, attributes") struct MessageTests {
        @Test("An absent user gets the messages at the next login, once and in order")
        func absence() async throws {
            let alice = try await Person.login("alice", gateway: 0)
            let bob = unique("bob")
            for number in 1...40 { try await alice.client.sendMessage("m\(number) ü", to: bob) }
            let expected = (1...40).map { "m\($0) ü" }
            let first = try await Person.login(bob, gateway: 1, exactly: true)
            try await first.waits(for: "all") { _ in first.texts.count >= 40 ? true : Bool?.none }
            #expect(first.texts == expected)
            // The logout has acknowledged the message, so it does not come again.
            try await first.leaves()
            let second = try await Person.login(bob, gateway: 0, exactly: true)
            try await alice.client.sendMessage("last", to: bob)
            try await second.waits(for: "the last") { _ in second.texts.contains("last") ? true : Bool?.none }
            #expect(second.texts == ["last"])
            try await second.leaves()
            try await alice.leaves()
        }

        @Test("Two clients on two gateways talk in a channel")
        func channel() async throws {
            let room = unique("the room")
            let alice = try await Person.login("alice", gateway: 0)
            let bob = try await Person.login("bob", gateway: 1)
            let (a, b) = (alice.client, bob.client)
            let joined = try await a.join(room)
            #expect(joined.members == [ChannelMember(account: alice.account, uid: a.uid)])
            try await a.setAttribute("topic", "tea", of: room)
            let after = try await b.join(room)
            #expect(after.members.map(\.account) == [bob.account, alice.account])
            #expect(after.attributes["topic"] == "tea")
            try await alice.waits(for: .memberJoined(channel: room, account: bob.account, uid: b.uid))
            try await b.send("hello", to: room)
            let heard = SignalingEvent.channelMessage(channel: room, account: bob.account, uid: b.uid, text: "hello")
            try await alice.waits(for: heard)
            try await bob.waits(for: heard)
            #expect(try await a.memberCount(of: room) == 2)
            #expect(try await a.isMember(bob.account, of: room))
            #expect(try await a.members(of: room).total == 2)
            #expect(try await a.members(of: room, limit: 1).members.map(\.account) == [bob.account])
            try await a.deleteAttribute("topic", of: room)
            try await bob.waits(for: "del") {
                if case .channelAttribute(room, alice.account, _, .delete("topic")) = $0 { true } else { nil }
            }
            try await a.clearAttributes(of: room)
            try await bob.waits(for: "clear") {
                if case .channelAttribute(room, alice.account, _, .clear) = $0 { true } else { nil }
            }
            try await b.leave(room)
            try await alice.waits(for: .memberLeft(channel: room, account: bob.account, uid: b.uid))
            #expect(
                await failure { () throws(SignalingError) in try await b.send("x", to: room) }?.code == .messageOther)
            try await b.send("forced", to: room, force: true)
            try await alice.waits(for: "the forced one") { _ in alice.channelTexts.last == "forced" ? true : Bool?.none
            }
            try await alice.leaves()
            try await bob.leaves()
        }

        @Test("User attributes and status")
        func users() async throws {
            let alice = try await Person.login("alice", gateway: 0)
            let bob = try await Person.login("bob", gateway: 1)
            try await alice.client.setAttribute("colour", "grün")
            #expect(try await bob.client.attribute("colour", of: alice.account) == "grün")
            #expect(try await bob.client.attribute("none", of: alice.account) == "")
            #expect(try await bob.client.attributes(of: alice.account)["colour"] == "grün")
            #expect(try await bob.client.isOnline(alice.account))
            try await alice.leaves()
            #expect(try await !bob.client.isOnline(alice.account))
            try await bob.leaves()
        }

        @Test("Limits: 8192 bytes and 60 messages a second")
        func limits() async throws {
            let alice = try await Person.login("alice", gateway: 0)
            let client = alice.client
            try await client.sendMessage(String(repeating: "x", count: 8192), to: alice.account)
            let large = String(repeating: "x", count: 8193)
            let error = await failure { () throws(SignalingError) in try await client.sendMessage(large, to: "bob") }
            #expect(error?.code == .largeParameter)
            let codes = await withTaskGroup(of: SignalingCode?.self) { group in
                for number in 1...100 {
                    group.addTask {
                        await failure { () throws(SignalingError) in
                            try await client.sendMessage("\(number)", to: "bob")
                        }?.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.contains(.messageOther))
            #expect(codes.filter { $0 == nil }.count >= 58)
            try await alice.leaves()
        }
    }
}
