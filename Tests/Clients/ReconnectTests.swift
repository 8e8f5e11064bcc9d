import SignalingClient
import SignalingProtocol
import TestKit
import Testing

extension StackTests {
    @Suite("Reconnect") struct ReconnectTests {
        /// The pause between messages, which keeps a session below its 60 a second.
        private static let pause = Duration.milliseconds(20)

        @Test("The receiver's connection is cut amid 1,000 channel and 1,000 instant messages", .timeLimit(.minutes(2)))
        func receiverCut() async throws {
            let room = unique("room")
            let stack = try #require(RunningStack.current)
            let proxies = [
                try await CuttableProxy(to: stack.gateways[0]), try await CuttableProxy(to: stack.gateways[1]),
            ]
            let reader = try await Person.login("reader") { $0.source = .addresses(proxies.map(\.endpoint)) }
            try await reader.client.join(room)
            let senders = [
                try await Person.login("sender", gateway: 0), try await Person.login("sender", gateway: 1),
                try await Person.login("sender", gateway: 0),
            ]
            for sender in senders { try await sender.client.join(room) }
            try await sendAll(from: senders, to: reader, in: room, count: 334) {
                for proxy in proxies { try await proxy.cut() }
            }
            try await checkAll(senders, reader, room, count: 334)
            #expect(reader.events.contains(.reconnected(complete: true)))
            for person in senders + [reader] { try await person.leaves() }
            for proxy in proxies { try await proxy.close() }
        }

        @Test("A sender's connection is cut amid its messages: each takes effect once", .timeLimit(.minutes(2)))
        func senderCut() async throws {
            let room = unique("room")
            let stack = try #require(RunningStack.current)
            let proxies = [
                try await CuttableProxy(to: stack.gateways[0]), try await CuttableProxy(to: stack.gateways[1]),
            ]
            let reader = try await Person.login("reader", gateway: 1)
            try await reader.client.join(room)
            var senders: [Person] = []
            for _ in 0..<2 {
                senders.append(try await Person.login("sender") { $0.source = .addresses(proxies.map(\.endpoint)) })
            }
            for sender in senders { try await sender.client.join(room) }
            try await sendAll(from: senders, to: reader, in: room, count: 300) {
                for proxy in proxies { try await proxy.cut() }
            }
            try await checkAll(senders, reader, room, count: 300)
            for person in senders + [reader] { try await person.leaves() }
            for proxy in proxies { try await proxy.close() }
        }

        @Test("A gateway is killed: its clients go on elsewhere", .timeLimit(.minutes(2)))
        func gatewayKilled() async throws {
            let room = unique("room")
            let stack = try #require(RunningStack.current)
            let reader = try await Person.login("reader") {
                $0.source = .discovery(stack.gateways.map { "http://127.0.0.1:\($0.port)" })
                $0.timing.backOffLimit = .seconds(2)
            }
            let used = await reader.client.gateway
            let there = try #require(stack.gateways.firstIndex { $0 == used })
            let sender = try await Person.login("sender", gateway: 1 - there)
            try await reader.client.join(room)
            try await sender.client.join(room)
            try await sender.client.send("before", to: room)
            try await reader.waits(for: "the first") { _ in reader.channelTexts == ["before"] ? true : nil }
            try await stack.kill("gateway#\(there + 1)")
            for number in 1...20 {
                try await sender.client.send("c\(number)", to: room)
                try await sender.client.sendMessage("i\(number)", to: reader.account)
            }
            try await reader.waits(for: "all", within: .seconds(40)) { _ in
                reader.channelTexts.count > 20 && reader.texts.count >= 20 ? true : nil
            }
            #expect(reader.channelTexts == ["before"] + (1...20).map { "c\($0)" })
            #expect(reader.texts == (1...20).map { "i\($0)" })
            #expect(reader.events.contains(.reconnected(complete: true)))
            #expect(await reader.client.gateway == stack.gateways[1 - there])
            try await stack.start("gateway#\(there + 1)")
            try await sender.leaves()
            try await reader.leaves()
        }

        @Test("A message of one id that is sent twice takes effect once")
        func repeatedID() async throws {
            let room = unique("room")
            let alice = try await Person.login("alice", gateway: 0)
            let client = alice.client
            try await client.join(room)
            for _ in 1...2 {
                try await client.send("channel", to: room, messageID: "one")
                try await client.sendMessage("instant", to: alice.account, messageID: "two")
            }
            try await client.send("end", to: room)
            try await client.sendMessage("end", to: alice.account)
            try await alice.waits(for: "all") { _ in
                alice.channelTexts.last == "end" && alice.texts.last == "end" ? true : nil
            }
            #expect(alice.channelTexts == ["channel", "end"])
            #expect(alice.texts == ["instant", "end"])
            try await alice.leaves()
        }

        @Test("Without a gateway: 401, 702, and 102 at the end")
        func unreachable() async throws {
            let stack = try #require(RunningStack.current)
            let proxy = try await CuttableProxy(to: stack.gateways[0])
            let alice = try await Person.login("alice") {
                $0.source = .addresses([proxy.endpoint])
                $0.timing.callTime = .milliseconds(300)
                $0.timing.resumeTime = .seconds(2)
                $0.timing.backOffLimit = .milliseconds(200)
            }
            try await proxy.close()
            try await alice.waits(for: .reconnecting(attempt: 1))
            #expect(await alice.client.status == .reconnecting)
            let client = alice.client
            let message = await failure { () throws(SignalingError) in try await client.sendMessage("x", to: "bob") }
            #expect(message?.code == .messageTimeout)
            let invitation = await failure { () throws(SignalingError) in try await client.invite("bob", to: "room") }
            #expect(invitation?.code == .inviteNetwork)
            let end = try await alice.waits(for: "the end") {
                if case .loggedOut(let error) = $0 { error.code } else { nil }
            }
            #expect(end == .logoutNetwork)
        }

        @Test("Logged in elsewhere while the connection was cut: 103 at the resume")
        func kickedMeanwhile() async throws {
            let stack = try #require(RunningStack.current)
            let proxy = try await CuttableProxy(to: stack.gateways[0])
            let first = try await Person.login("alice") {
                $0.source = .addresses([proxy.endpoint])
                $0.timing.backOffLimit = .milliseconds(100)
            }
            try await proxy.setOpen(false)
            try await first.waits(for: .reconnecting(attempt: 2))
            let second = try await Person.login(first.account, gateway: 1, exactly: true)
            try await proxy.setOpen(true)
            let end = try await first.waits(for: "the end") {
                if case .loggedOut(let error) = $0 { error.code } else { nil }
            }
            #expect(end == .logoutKicked)
            try await second.leaves()
            try await proxy.close()
        }

        @Test("An app that takes no events loses none")
        func backpressure() async throws {
            let stack = try #require(RunningStack.current)
            let account = unique("slow")
            var configuration = ClientConfiguration(
                app: stack.openApp, account: account, source: .addresses([stack.gateways[0]]))
            configuration.eventBound = 8
            let slow = try await SignalingClient.connect(configuration)
            let sender = try await Person.login("sender", gateway: 1)
            for number in 1...50 { try await sender.client.sendMessage("m\(number)", to: account) }
            var texts: [String] = []
            for await event in slow.events {
                if case .message(let message) = event { texts.append(message.text) }
                if texts.count == 50 { break }
            }
            #expect(texts == (1...50).map { "m\($0)" })
            slow.close()
            try await sender.leaves()
        }

        /// Each sender sends `count` messages of both kinds, in order; `cut` runs when half of them are sent.
        private func sendAll(
            from senders: [Person], to reader: Person, in room: String, count: Int,
            cut: @escaping @Sendable () async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup { group in
                for (index, sender) in senders.enumerated() {
                    // The answers are not awaited one by one: messages are to be on their
                    // way when the connection is cut.
                    group.addTask {
                        try await withThrowingTaskGroup { sends in
                            let clock = ContinuousClock()
                            var next = clock.now
                            for number in 0..<count {
                                let text = "\(index)-\(number)"
                                sends.addTask { try await sender.client.send("c\(text)", to: room) }
                                sends.addTask { try await sender.client.sendMessage("i\(text)", to: reader.account) }
                                next += Self.pause
                                try await letPass(next - clock.now, "messages are sent at a steady rate")
                                if index == 0, number == count / 2 { try await cut() }
                            }
                            try await sends.waitForAll()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        private func checkAll(_ senders: [Person], _ reader: Person, _ room: String, count: Int) async throws {
            let total = senders.count * count
            try await reader.waits(for: "all", within: .seconds(40)) { _ in
                reader.channelTexts.count >= total && reader.texts.count >= total ? true : nil
            }
            #expect(reader.channelTexts.count == total)
            #expect(reader.texts.count == total)
            for index in senders.indices {
                let expected = (0..<count).map { "\(index)-\($0)" }
                #expect(reader.channelTexts.filter { $0.hasPrefix("c\(index)-") } == expected.map { "c\($0)" })
                #expect(reader.texts.filter { $0.hasPrefix("i\(index)-") } == expected.map { "i\($0)" })
            }
        }
    }
}
