import Logging
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import RedisClient

@Suite(.timeLimit(.minutes(2))) struct RedisLinkTests {
    /// Tells when its link is up.
    private final class Owner: RedisLinkOwner {
        let isUp: EventLoopPromise<Void>

        init(_ isUp: EventLoopPromise<Void>) { self.isUp = isUp }

        func makeBuilder() -> ReplyBuilder { ReplyBuilder() }
        func linkReceived(_ reply: RedisValue) {}
        func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}
        func linkReadEnded() {}
        func linkUp() { isUp.succeed(()) }
        func linkDown(_ error: RedisError) {}
    }

    /// The other connections of a client drop one that ends elsewhere, as far as they know: it may be
    /// connecting by now. A second attempt would leave a socket behind, or put one without its handshake in the
    /// place of the one that is used.
    @Test func aLinkThatIsConnectingIsNotDropped() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let before = try await scene.information("total_connections_received", section: "stats")
            let loop = scene.eventLoop
            let configuration = scene.connection.configuration
            let isUp = loop.makePromise(of: Void.self)
            let link = try await loop.submit {
                let link = RedisLink(
                    configuration: configuration, eventLoop: loop, libraries: [], asksTime: false,
                    logger: RedisScene.logger)
                link.start(owner: Owner(isUp))
                link.drop(.elsewhere)
                return NIOLoopBound(link, eventLoop: loop)
            }.get()
            try await isUp.futureResult.get()
            #expect(try await scene.information("total_connections_received", section: "stats") == before + 1)
            try await loop.submit { link.value.close() }.get()
        }
    }
}
