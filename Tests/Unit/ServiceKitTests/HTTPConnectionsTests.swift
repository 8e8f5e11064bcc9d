import NIOCore
import NIOEmbedded
import Testing

@testable import ServiceKit

@Suite("The open connections of an HTTP listener")
struct HTTPConnectionsTests {
    @Test("Connections beyond the bound are refused until one of the others closes")
    func bound() throws {
        let connections = HTTPConnections(bound: 2)
        let channels = (0..<4).map { _ in EmbeddedChannel() }
        // An open channel and what waits for its end keep each other.
        defer { for channel in channels { _ = try? channel.finish(acceptAlreadyClosed: true) } }
        #expect(channels[..<3].map { connections.admit($0) } == [true, true, false])
        try channels[0].close().wait()
        channels[0].embeddedEventLoop.run()
        #expect(channels[2...].map { connections.admit($0) } == [true, false])
    }

    @Test("Closing all closes the open ones and refuses later ones")
    func closing() throws {
        let connections = HTTPConnections(bound: 2)
        let (channel, late) = (EmbeddedChannel(), EmbeddedChannel())
        defer { for channel in [channel, late] { _ = try? channel.finish(acceptAlreadyClosed: true) } }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        #expect(connections.admit(channel) && channel.isActive)
        connections.closeAll()
        #expect(!channel.isActive)
        #expect(!connections.admit(late))
    }
}
