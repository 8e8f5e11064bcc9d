import NIOCore
import Testing

@testable import GatewayServer

@Suite struct ClientAddressTextTests {
    /// As networks are banned: `ClientNetwork` takes no IPv4-mapped IPv6 addresses.
    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7"), ("2001:db8::1", "2001:db8::1"), ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::1", "::1"), ("::fffe:203.0.113.7", "::fffe:cb00:7107"),
    ])
    func anAddressIsToldAsItCanBeBanned(address: String, told: String) throws {
        #expect(try SocketAddress(ipAddress: address, port: 4000).clientAddress == told)
    }

    @Test func aSocketOfThisMachineHasNone() throws {
        #expect(try SocketAddress(unixDomainSocketPath: "/tmp/socket").clientAddress == nil)
    }
}
