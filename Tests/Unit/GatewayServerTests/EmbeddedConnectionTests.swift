import ClusterBus
import GatewayLogic
import NIOCore
import Pacing
import SignalingProtocol
import SignalingWire
import Synchronization
import TestKit
import Testing

@testable import GatewayServer

/// Tests the driver of a client's connection over NIO's testing channel.
@Suite struct EmbeddedConnectionTests {
    private typealias Client = EmbeddedClient

    // MARK: - Second logins

    @Test(arguments: [EmbeddedClient.login, EmbeddedClient.lineLogin])
    func aSecondLoginIsRefusedBehindTheFirst(second: String) async throws {
        let client = try await Client()
        try await client.says(Client.login, second)
        #expect(try await client.told() == [])
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        let told = try await client.told()
        #expect(told.count == 2)
        let answer = ServerFrame.loginSucceeded(line: try await client.line(), uid: 7, push: false)
        #expect(told.first == String(decoding: answer, as: UTF8.self))
        #expect(told.last?.contains("already_logged_in") == true)
        try await client.says(second)
        #expect(try await client.told().map { $0.contains("already_logged_in") } == [true])
        #expect(client.isOpen)
    }

    // MARK: - Pace

    private static let ping = #"["ping",1]"#

    @Test func tooManyPingsBeforeTheLoginWait() async throws {
        let client = try await Client()
        let sent = FramePace.freshBurst + 10
        try await client.says([String](repeating: Self.ping, count: sent))
        var told = try await client.told().count
        // Those that were due while the machine was slow.
        #expect((FramePace.freshBurst..<sent).contains(told))
        #expect(client.readings == [false])
        try await waitUntil("all are answered") {
            await client.pass(.milliseconds(500))
            told += try await client.told().count
            return told == sent ? nil : "\(told) are"
        }
        try await waitUntil("it reads again") {
            await client.pass(.milliseconds(500))
            return client.readings.last == true ? nil : "\(client.readings)"
        }
        #expect(client.isOpen)
    }

    @Test func whoFloodsBeforeTheLoginIsCutOff() async throws {
        let client = try await Client()
        let count = FramePace.freshBurst + 2 * Limits.loginFrameBytes / Self.ping.utf8.count
        try await client.says([String](repeating: Self.ping, count: count))
        #expect(!client.isOpen)
    }

    @Test func aSessionMaySendMore() async throws {
        let client = try await Client()
        try await client.says(Client.login)
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        _ = try await client.told()
        try await client.says([String](repeating: Self.ping, count: FramePace.burst - 1))
        #expect(try await client.told().count == FramePace.burst - 1 && client.readings == [])
        // Malformed calls, which are answered behind the read of the mailbox, count too.
        let call = #"["call2",["nothing",1,{}]]"#
        try await client.says([String](repeating: call, count: FramePace.burst))
        #expect(client.readings == [false] && client.isOpen)
    }

    // MARK: - Errors of the program

    /// They end one connection, not the gateway.
    @Test func whatTheTypesExcludeEndsTheConnection() async throws {
        let client = try await Client()
        try await client.onConnection { connection, shard in connection.endExcluded("a test", on: shard) }
        #expect(try await client.told() == ["close 1012"])
        #expect(!client.isOpen)
    }

    // MARK: - A close in every state

    private static let states = ["fresh", "authenticating", "opening", "resuming", "active"]

    private func client(_ state: String) async throws -> EmbeddedClient {
        let client = try await Client()
        switch state {
        case "fresh": break
        case "resuming": try await client.says(Client.lineLogin)
        case "authenticating": try await client.says(Client.login)
        case "opening", "active":
            try await client.says(Client.login)
            try await client.appIsKnown()
            if state == "active" { try await client.sessionIsOpened() }
        default: Issue.record("no such state: \(state)")
        }
        return client
    }

    @Test(arguments: states, [true, false])
    func aCloseInEveryState(state: String, isOrderly: Bool) async throws {
        let client = try await client(state)
        _ = try await client.told()
        if isOrderly {
            try await client.closes()
            #expect(try await client.told() == ["close 1000"])
        } else {
            try await client.isLost()
        }
        #expect(!client.isOpen)
        let detaching = try await client.onLoop { shard in
            #expect(shard.connections.isEmpty && shard.sessions.isEmpty)
            return shard.detaching.count
        }
        #expect(detaching == (state == "active" ? 1 : 0))
        // The answer comes after the close: the session was opened, but has no connection.
        if state == "opening" {
            try await client.sessionIsOpened()
            #expect(try await client.onLoop { $0.detaching.count } == 1)
        }
    }

    @Test(arguments: ["authenticating", "opening", "resuming", "active"])
    func theGatewayGoesInEveryState(state: String) async throws {
        let client = try await client(state)
        _ = try await client.told()
        try await client.onLoop { $0.drain(oneIn: 1) }
        #expect(client.isOpen == (state != "active"), "who waits for a login's answer stays for a while")
        try await client.onLoop { $0.closeAll() }
        #expect(try await client.told() == ["close 1012"])
        #expect(!client.isOpen)
    }

    @Test func theGatewayGoesWhenItHasAnswered() async throws {
        let client = try await client("active")
        let line = try await client.line()
        _ = try await client.told()
        try await client.says(#"["call2",["user_query_user_status",1,{"line":"\#(line)","account":"bob"}]]"#)
        try await client.onLoop { $0.drain(oneIn: 1) }
        #expect(client.isOpen)
        // The login's commands were the first two.
        try await client.refuse(3)
        try await client.onLoop { $0.drain(oneIn: 1) }
        let told = try await client.told()
        #expect(told.count == 2 && told[0].hasPrefix(#"["call2-ret",[1,"#) && told[1] == "close 1012", "\(told)")
    }

    /// Whoever has tried to log in may be silent for longer, up to the idle timeout.
    @Test(arguments: ["fresh", "authenticating"])
    func aClientThatDoesNotLogInIsClosed(state: String) async throws {
        let client = try await client(state)
        try await client.onConnection { connection, shard in
            let later = LocalTime.Span(shard.configuration.loginTimeout + .seconds(1))
            connection.sweep(now: LocalTime.now + later, on: shard)
        }
        #expect(client.isOpen == (state != "fresh"))
        #expect(try await client.told() == (state == "fresh" ? ["close 1001"] : []))
    }

    // MARK: - A write that fails in the middle of a read

    /// Once armed, fails every write: as NIO does, it first delivers more bytes to read and then closes.
    private final class Breaker: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let isArmed = Mutex(false)
        let writes = Mutex(0)

        func arm() { isArmed.withLock { $0 = true } }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard isArmed.withLock({ $0 }) else { return context.write(data, promise: promise) }
            writes.withLock { $0 += 1 }
            promise?.fail(ChannelError.ioOnClosedChannel)
            context.fireChannelRead(NIOAny(EmbeddedClient.frame(0x81, #"["ping",3]"#)))
            context.close(promise: nil)
        }
    }

    @Test func aWriteThatFailsInTheMiddleOfARead() async throws {
        let breaker = Breaker()
        let client = try await Client(handler: breaker)
        try await client.says(Client.login)
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        breaker.arm()
        try await client.says(#"["ping",1]"#, #"["ping",2]"#)
        #expect(!client.isOpen)
        #expect(breaker.writes.withLock { $0 } == 1, "what follows in the read, and what NIO reads then, is lost")
        #expect(
            try await client.onLoop { shard in
                shard.connections.isEmpty && shard.sessions.isEmpty && shard.detaching.count == 1
            })
    }

    // MARK: - An event in the middle of actions

    /// Once armed, kicks the session while the next frame is being written.
    private final class Kicker: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let shard = Mutex<GatewayShard?>(nil)

        func arm(_ shard: GatewayShard) { self.shard.withLock { $0 = shard } }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            context.write(data, promise: promise)
            let armed = shard.withLock { shard in
                defer { shard = nil }
                return shard
            }
            armed?.assumeIsolated { shard in
                for connection in shard.connections.values {
                    connection.handle(.session(.superseded(.closeFrame(.logoutOther))), on: shard)
                }
            }
        }
    }

    @Test func anEventThatAnActionCausesFollowsTheOtherActions() async throws {
        let kicker = Kicker()
        let client = try await Client(handler: kicker)
        try await client.says(Client.login, Client.login)
        try await client.appIsKnown()
        kicker.arm(client.shard)
        try await client.sessionIsOpened()
        let told = try await client.told()
        // The login's answer, the refusal of the second one, the kick.
        #expect(told.count == 4)
        #expect(told.dropFirst().first?.contains("already_logged_in") == true)
        #expect(told.dropFirst(2).first?.contains("close") == true && told.last == "close 1000")
        #expect(try await client.onLoop { $0.connections.isEmpty && $0.sessions.isEmpty })
    }

    // MARK: - Writability

    /// Holds writes back until it is opened, or the connection ends.
    private final class Valve: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let state = Mutex<(isShut: Bool, kept: [EventLoopPromise<Void>?])>((false, []))

        func shut() { state.withLock { $0.isShut = true } }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let passes = state.withLock { state in
                if state.isShut { state.kept.append(promise) }
                return !state.isShut
            }
            if passes { context.write(data, promise: promise) }
        }

        /// As a socket does, fails what it has not sent.
        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for kept in opened() { kept?.fail(ChannelError.ioOnClosedChannel) }
            context.close(mode: mode, promise: promise)
        }

        /// Completes all writes that were held back.
        func open() {
            for promise in opened() { promise?.succeed() }
        }

        private func opened() -> [EventLoopPromise<Void>?] {
            state.withLock { state in
                defer { state = (false, []) }
                return state.kept
            }
        }
    }

    @Test func whatIsAskedWaitsWhileTheClientDoesNotRead() async throws {
        let valve = Valve()
        let client = try await Client(bound: 65_536, handler: valve)
        try await client.says(Client.login)
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        let line = try await client.line()
        valve.shut()
        // Fills half of the bound; each write counts with its overhead.
        for _ in 0..<65_536 / 2 / OutputBound.writeOverhead { try await client.says(#"["ping",1]"#) }
        #expect(client.readings == [false])
        let query = #"["call2",["user_query_user_status",1,{"line":"\#(line)","account":"bob"}]]"#
        let before = try await client.onLoop { $0.sender.pendingCount }
        try await client.says(query)
        #expect(try await client.onLoop { $0.sender.pendingCount } == before, "the call waits")
        try await client.onLoop { _ in valve.open() }
        #expect(client.readings == [true])
        #expect(try await client.onLoop { $0.sender.pendingCount } == before + 1, "it goes on")
        #expect(client.isOpen)
    }

    @Test func aClientThatNeverReadsIsCutOff() async throws {
        let valve = Valve()
        let client = try await Client(bound: 65_536, handler: valve)
        // With a session, which may send as many pings as fill the bound.
        try await client.says(Client.login)
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        valve.shut()
        for _ in 0...65_536 / OutputBound.writeOverhead where client.isOpen { try await client.says(#"["ping",1]"#) }
        #expect(!client.isOpen)
        #expect(try await client.onLoop { $0.connections.isEmpty })
    }
}
