import BusProtocol
import SignalingProtocol
import Testing
import WebhookClient

@Suite struct AddressRuleTests {
    @Test(arguments: [
        [8, 8, 8, 8], [1, 1, 1, 1], [9, 255, 255, 255], [11, 0, 0, 0], [100, 63, 255, 255], [100, 128, 0, 0],
        [126, 255, 255, 255], [168, 63, 129, 15], [168, 63, 129, 17],
        [128, 0, 0, 0], [169, 253, 0, 1], [172, 15, 255, 255], [172, 32, 0, 0], [192, 167, 0, 1], [198, 17, 0, 1],
        [198, 20, 0, 1],
        [223, 255, 255, 255],
    ])
    func isPublic(_ bytes: [UInt8]) { #expect(AddressRule.isPublic(bytes)) }

    @Test(arguments: [
        [0, 0, 0, 0], [10, 0, 0, 1], [10, 255, 255, 255], [100, 64, 0, 1], [100, 127, 255, 255], [127, 0, 0, 1],
        [127, 255, 0, 1],
        [169, 254, 169, 254], [172, 16, 0, 1], [172, 31, 255, 255], [192, 0, 0, 8], [192, 0, 2, 1], [192, 168, 0, 1],
        [198, 18, 0, 1], [198, 19, 255, 255], [198, 51, 100, 1], [203, 0, 113, 1], [224, 0, 0, 1], [240, 0, 0, 1],
        [168, 63, 129, 16], [255, 255, 255, 255], [], [1], [1, 1, 1, 1, 1],
    ])
    func isNotPublic(_ bytes: [UInt8]) { #expect(!AddressRule.isPublic(bytes)) }

    private static func six(_ groups: UInt16...) -> [UInt8] {
        groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    @Test(arguments: [
        six(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888), six(0x2A00, 0, 0, 0, 0, 0, 0, 1),
        // 8.8.8.8 as mapped, translated and 6to4 address.
        six(0, 0, 0, 0, 0, 0xFFFF, 0x0808, 0x0808), six(0x64, 0xFF9B, 0, 0, 0, 0, 0x0808, 0x0808),
        six(0x2002, 0x0808, 0x0808, 0, 0, 0, 0, 1),
    ])
    func isPublicSix(_ bytes: [UInt8]) { #expect(AddressRule.isPublic(bytes)) }

    @Test(arguments: [
        six(0, 0, 0, 0, 0, 0, 0, 0), six(0, 0, 0, 0, 0, 0, 0, 1), six(0xFC00, 0, 0, 0, 0, 0, 0, 1),
        six(0xFDFF, 0, 0, 0, 0, 0, 0, 1), six(0xFE80, 0, 0, 0, 0, 0, 0, 1), six(0xFEC0, 0, 0, 0, 0, 0, 0, 1),
        six(0xFF02, 0, 0, 0, 0, 0, 0, 1), six(0x2001, 0, 0, 0, 0, 0, 0, 1), six(0x2001, 0xDB8, 0, 0, 0, 0, 0, 1),
        six(0x3FFF, 0, 0, 0, 0, 0, 0, 1),
        // 127.0.0.1, 10.0.0.1 and 169.254.169.254 within other addresses.
        six(0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1), six(0x64, 0xFF9B, 0, 0, 0, 0, 0x0A00, 1),
        six(0x2002, 0xA9FE, 0xA9FE, 0, 0, 0, 0, 1), six(0, 0, 0, 0, 0, 0, 0x0808, 0x0808),
    ])
    func isNotPublicSix(_ bytes: [UInt8]) { #expect(!AddressRule.isPublic(bytes)) }

    private static let everything: AllowedNetworks = [.privateOnes, .loopback]

    @Test(arguments: [
        [10, 0, 0, 1], [172, 31, 255, 255], [192, 168, 0, 1], [100, 64, 0, 1], six(0xFD00, 0, 0, 0, 0, 0, 0, 1),
        six(0, 0, 0, 0, 0, 0xFFFF, 0x0A00, 1),
    ])
    func privateNetworksHaveTheirWord(_ bytes: [UInt8]) {
        #expect(AddressRule.isUsable(bytes, .privateOnes))
        #expect(!AddressRule.isUsable(bytes, .loopback))
        #expect(!AddressRule.isUsable(bytes, []))
    }

    @Test(arguments: [
        [127, 0, 0, 1], [127, 255, 0, 1], six(0, 0, 0, 0, 0, 0, 0, 1), six(0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1),
    ])
    func loopbackHasItsWord(_ bytes: [UInt8]) {
        #expect(AddressRule.isUsable(bytes, .loopback))
        #expect(!AddressRule.isUsable(bytes, .privateOnes))
        #expect(!AddressRule.isUsable(bytes, []))
    }

    @Test(arguments: [
        [169, 254, 169, 254], [168, 63, 129, 16], [0, 0, 0, 0], [224, 0, 0, 1], [255, 255, 255, 255], [],
        six(0xFE80, 0, 0, 0, 0, 0, 0, 1), six(0, 0, 0, 0, 0, 0xFFFF, 0xA9FE, 0xA9FE), six(0, 0, 0, 0, 0, 0, 0, 0),
        six(0x0A00, 0, 0, 0, 0, 0, 0, 1),
    ])
    func othersAreNeverUsed(_ bytes: [UInt8]) { #expect(!AddressRule.isUsable(bytes, Self.everything)) }

    @Test func theInternetNeedsNoWord() { #expect(AddressRule.isUsable([8, 8, 8, 8], [])) }
}
