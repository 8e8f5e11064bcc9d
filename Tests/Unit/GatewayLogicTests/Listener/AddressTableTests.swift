import GatewayLogic
import Pacing
import TestKit
import Testing

@Suite struct AddressTableTests {
    private static let bounds = AddressTable.Bounds(connections: 3, connectionsPerSecond: 2, failedLoginsPerSecond: 1)

    private func address(_ bytes: [UInt8]) throws -> ClientAddress { try #require(ClientAddress(bytes: bytes)) }

    @Test func connectionsAtOnceAreBounded() throws {
        var table = AddressTable(bounds: Self.bounds)
        let one = try address([10, 0, 0, 1])
        for _ in 0..<3 { #expect(table.opened(one, now: 0) == nil) }
        #expect(table.opened(one, now: 60_000) == .connections)
        #expect(table.opened(try address([10, 0, 0, 2]), now: 60_000) == nil)
        table.closed(one, now: 60_000)
        #expect(table.opened(one, now: 60_000) == nil)
        #expect(table.opened(one, now: 60_000) == .connections)
    }

    @Test func arrivalsAreBounded() throws {
        var table = AddressTable(bounds: Self.bounds)
        let one = try address([10, 0, 0, 1])
        for _ in 0..<3 {
            #expect(table.opened(one, now: 0) == nil)
            table.closed(one, now: 0)
        }
        #expect(table.opened(one, now: 0) == .rate)
        #expect(table.opened(one, now: 500) == nil)
        #expect(table.opened(one, now: 500) == .rate)
    }

    @Test func tooManyFailedLoginsBlockAnAddress() throws {
        var table = AddressTable(bounds: Self.bounds)
        let one = try address([10, 0, 0, 1])
        #expect(table.opened(one, now: 0) == nil)
        for _ in 0..<10 {
            #expect(table.mayLogIn(one, now: 0) == true)
            table.loginFailed(one, now: 0)
        }
        #expect(table.mayLogIn(one, now: 999) == false)
        #expect(table.mayLogIn(one, now: 1000) == true)
    }

    /// An address of 2001:db8:0:SUBNET::/64.
    private func six(_ subnet: Int, site: UInt8 = 0) throws -> ClientAddress {
        try address([0x20, 1, 0xD, 0xB8, 0, site, UInt8(subnet >> 8), UInt8(subnet & 255)] + [0, 0, 0, 0, 0, 0, 0, 1])
    }

    @Test func tooManyFailedLoginsBlockAnIPv6Site() throws {
        var table = AddressTable(bounds: Self.bounds)
        // Each address has failed as often as it may, and the site ten times its share.
        for subnet in 0..<AddressTable.siteShare {
            #expect(table.opened(try six(subnet), now: 0) == nil)
            for _ in 0..<10 {
                #expect(table.mayLogIn(try six(subnet), now: 0))
                table.loginFailed(try six(subnet), now: 0)
            }
        }
        #expect(table.mayLogIn(try six(99), now: 0) == false)
        #expect(table.mayLogIn(try six(99), now: 124) == false)
        #expect(table.mayLogIn(try six(99), now: 125) == true)
        #expect(table.mayLogIn(try six(99, site: 1), now: 0) == true)
        #expect(table.mayLogIn(try address([10, 0, 0, 1]), now: 0) == true)
        #expect(try six(0).site == six(0xFFFF).site && six(0).site != six(0, site: 1).site)
        #expect(try address([10, 0, 0, 1]).site == nil)
    }

    @Test func theNumberOfSitesIsBounded() throws {
        var table = AddressTable(bounds: Self.bounds)
        for number in 0...(AddressTable.quietBound + 9) {
            let site = [0x20, 1, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255), 0]
            table.loginFailed(try address(site + Array(repeating: 0, count: 10)), now: 1)
            if table.siteCount > AddressTable.quietBound { Issue.record("grows") }
        }
        #expect(table.siteCount == 9)
    }

    @Test func anIPv6NetworkIsOneAddress() throws {
        let one = try address([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(one == (try address([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9])))
        #expect(one == (try address([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1])))
        #expect(one != (try address([0x20, 1, 0xD, 0xB8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1])))
        #expect(
            try address([10, 0, 0, 1]) == address([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1]))
        #expect(ClientAddress(bytes: [1, 2, 3]) == nil)
    }

    @Test func quietAddressesAreForgotten() throws {
        var table = AddressTable(bounds: Self.bounds)
        let busy = try address([10, 0, 0, 1])
        for _ in 0..<3 { #expect(table.opened(busy, now: 0) == nil) }
        table.closed(busy, now: 0)
        for number in 0..<(3 * AddressTable.quietBound) {
            let other = try address([11, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)])
            #expect(table.opened(other, now: 1) == nil)
            table.closed(other, now: 1)
            // The first address keeps its connections, so it is never forgotten.
            if number == AddressTable.quietBound - 1 { #expect(table.count == AddressTable.quietBound + 1) }
            if number == AddressTable.quietBound { #expect(table.count == 1) }
            if table.count > AddressTable.quietBound + 2 { Issue.record("grows") }
        }
        #expect(table.opened(busy, now: 60_000) == nil)
        #expect(table.opened(busy, now: 60_000) == .connections)
    }

    @Test func networks() throws {
        let net = try #require(AddressNetwork(bytes: [10, 128, 0, 0], prefix: 9))
        #expect(net.contains([10, 200, 1, 1]))
        #expect(!net.contains([10, 127, 1, 1]))
        #expect(!net.contains([11, 200, 1, 1]))
        #expect(!net.contains(Array(repeating: 10, count: 16)))
        #expect(AddressNetwork(bytes: [0, 0, 0, 0], prefix: 0)?.contains([9, 9, 9, 9]) == true)
        #expect(AddressNetwork(bytes: [10, 0, 0, 1], prefix: nil)?.contains([10, 0, 0, 2]) == false)
        #expect(AddressNetwork(bytes: [10, 0, 0, 1], prefix: 33) == nil)
    }

    @Test func addressesThatWereActiveWithinAMinuteAreKeptIfTheyAreFew() throws {
        var table = AddressTable(bounds: Self.bounds)
        let recent = AddressTable.quietBound / 4
        for number in 0...AddressTable.quietBound {
            let now: LocalTime = number <= AddressTable.quietBound - recent ? 1 : 60_001
            let one = try address([11, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)])
            _ = table.opened(one, now: now)
            table.closed(one, now: now)
        }
        #expect(table.count == recent)
    }
}
