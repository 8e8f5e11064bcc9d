import BusProtocol
import GatewayLogic
import Testing

@Suite struct BannedAddressesTests {
    @Test func addressesOfNetworksAreFound() throws {
        let texts = ["203.0.113.0/24", "198.51.100.7", "10.0.0.0/8", "2001:db8::/32", "2001:dead::1"]
        let banned = BannedAddresses(try texts.map { try #require(ClientNetwork($0)) })
        #expect(banned.count == 5)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 9]
        var (within, beyond) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 1, count: 16))
        within.replaceSubrange(0..<4, with: [0x20, 0x01, 0x0d, 0xb8])
        beyond.replaceSubrange(0..<4, with: [0x20, 0x01, 0x0d, 0xb9])
        for address in [[203, 0, 113, 0], [203, 0, 113, 255], [198, 51, 100, 7], [10, 255, 1, 2], mapped, within] {
            #expect(banned.contains(address), "\(address)")
        }
        for address in [[203, 0, 114, 0], [198, 51, 100, 8], [11, 0, 0, 0], beyond, [], [203, 0, 113]] {
            #expect(!banned.contains(address), "\(address)")
        }
        #expect(!BannedAddresses().contains([203, 0, 113, 0]))
    }
}
