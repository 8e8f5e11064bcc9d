import BusProtocol
import Testing

@Suite struct ClientNetworkTests {
    @Test(arguments: [
        ("203.0.113.0/24", "203.0.113.0/24"), ("203.0.113.7", "203.0.113.7/32"), ("10.0.0.0/8", "10.0.0.0/8"),
        ("2001:db8::/32", "2001:db8::/32"), ("2001:DB8:0:0::1", "2001:db8::1/128"), ("2001::/16", "2001::/16"),
    ]) func networksAreWrittenAsPostgresWritesThem(text: String, canonical: String) throws {
        let network = try #require(ClientNetwork(text))
        #expect(network.text == canonical)
        #expect(ClientNetwork(network.text) == network)
    }

    @Test(arguments: [
        "", "/", "/24", "x", "203.0.113", "203.0.113.0/", "203.0.113.0/x", "203.0.113.0/24/1", "203.0.113.0/+24",
        "203.0.113.0/0024", "203.0.113.0/33", "203.0.113.1/24", "0.0.0.0/0", "10.0.0.0/7", "2001:db8::/129",
        "2001:db8::1/64", "::/0", "2000::/15", "::ffff:203.0.113.7", "203.0.113.0 /24",
    ]) func othersAreRefused(text: String) { #expect(ClientNetwork(text) == nil) }

    @Test func aListIsToldOnce() throws {
        let networks = try ["203.0.113.0/24", "2001:db8::/32"].map { try #require(ClientNetwork($0)) }
        let told = BannedNetworks(networks, unless: "")
        #expect(told.networks == networks)
        let again = BannedNetworks(networks, unless: told.digest)
        #expect(again.networks == nil && again.digest == told.digest)
        #expect(BannedNetworks([networks[0]], unless: told.digest).networks == [networks[0]])
        for answer in [told, again, BannedNetworks([], unless: told.digest)] {
            var writer = FieldWriter()
            answer.write(to: &writer)
            #expect(try BannedNetworks(from: FieldReader(encoded: writer.encoded)) == answer)
        }
    }
}
