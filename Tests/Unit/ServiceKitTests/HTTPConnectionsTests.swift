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
        #expect(channels[..<3].map { connections.admit($0) } == [true, true, false])
        try channels[0].close().wait()
        channels[0].embeddedEventLoop.run()
        #expect(channels[2...].map { connections.admit($0) } == [true, false])
    }

    @Test("Closing all closes the open ones and refuses later ones")
    func closing() throws {
        let connections = HTTPConnections(bound: 2)
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        #expect(connections.admit(channel) && channel.isActive)
        connections.closeAll()
        #expect(!channel.isActive)
        #expect(!connections.admit(EmbeddedChannel()))
    }
}
