import ClusterState
import Testing

@testable import RedisClient

@Suite struct RedisURLTests {
    private static func address(_ host: String, _ port: Int) -> NodeAddress { NodeAddress(host: host, port: port) }

    @Test func single() throws {
        let plain = try RedisURL("redis://localhost")
        #expect(plain.flavour == .single)
        #expect(!plain.usesTLS)
        #expect(plain.addresses == [Self.address("localhost", 6379)])
        #expect(plain.user == nil)
        #expect(plain.password == nil)
        #expect(plain.database == 0)
        let all = try RedisURL("rediss://us%3Aer:p%40ss:w/,rd@[fe80::1]:7000/3?cacert=/etc/a%20b.pem")
        #expect(all.usesTLS)
        #expect(all.addresses == [Self.address("fe80::1", 7000)])
        #expect(all.user == "us:er")
        #expect(all.password == "p@ss:w/,rd")
        #expect(all.database == 3)
        #expect(all.certificateAuthorityFile == "/etc/a b.pem")
    }

    @Test func sentinel() throws {
        let url = try RedisURL("redis+sentinel://:secret@h1,h2:7001,[::1]/main%2Fone/2")
        #expect(url.flavour == .sentinel)
        #expect(!url.usesTLS)
        #expect(
            url.addresses == [Self.address("h1", 26_379), Self.address("h2", 7001), Self.address("::1", 26_379)])
        #expect(url.masterName == "main/one")
        #expect(url.password == "secret")
        #expect(url.user == nil)
        #expect(url.database == 2)
        #expect(try RedisURL("rediss+sentinel://h1/main").usesTLS)
        let watched = try RedisURL(
            "rediss+sentinel://h1/main?cacert=/ca.pem&sentinel-user=w&sentinel-password=a%26b")
        #expect(watched.certificateAuthorityFile == "/ca.pem")
        #expect(watched.sentinelUser == "w")
        #expect(watched.sentinelPassword == "a&b")
        #expect(watched.password == nil)
    }

    @Test func cluster() throws {
        let url = try RedisURL("rediss+cluster://u:p@h1,h2:7001,[::1]:7002/?cacert=/ca.pem")
        #expect(url.flavour == .cluster)
        #expect(url.usesTLS)
        #expect(url.addresses == [Self.address("h1", 6379), Self.address("h2", 7001), Self.address("::1", 7002)])
        #expect(url.masterName == nil)
        #expect(url.user == "u")
        #expect(url.certificateAuthorityFile == "/ca.pem")
        #expect(try RedisURL("redis+cluster://h1/0").addresses.count == 1)
        #expect(url.partitions == 24)
        #expect(try RedisURL("redis+cluster://h1?partitions=48").partitions == 48)
        #expect(try RedisConfiguration(url: "redis+cluster://h1?partitions=48").bus.partitions.count == 48)
    }

    @Test(arguments: [
        ("", "scheme"), ("h1", "scheme"), ("redis:h1", "scheme"), ("http://h1", "scheme"),
        ("redis+secret://h1", "scheme"),
        ("redis://", "host is empty"), ("redis+cluster://h1,,h2", "host is empty"),
        ("redis+cluster://h1,", "host is empty"), ("redis+sentinel://:26379/main", "host is empty"),
        ("redis://h1,h2", "one address"), ("redis+cluster://h1,h1:6379", "twice"),
        ("redis+cluster://h1,h2/1", "database 0"), ("redis+cluster://h1/x", "database is not a number"),
        ("redis+sentinel://h1", "/NAME"), ("redis+sentinel://h1/", "/NAME"), ("redis+sentinel://h1/%zz", "/NAME"),
        ("redis+sentinel://h1/main/x", "database is not a number"), ("redis://h1/-1", "database is not a number"),
        ("redis+cluster://h1:0", "port"), ("redis+cluster://h1,h2:65536", "port"), ("redis://h1:", "port"),
        ("redis+cluster://[::1", "no ]"), ("redis+cluster://[::1]7000", "after ]"),
        ("redis+cluster://secret@h1", "before @"), ("redis://u:@h1", "password is empty"),
        ("redis://:secret%ff@h1", "percent-encoded"), ("rediss://h1?verify=no", "known options"),
        ("redis://h1?sentinel-password=secret", "known options"), ("redis://h1?partitions=2", "known options"),
        ("redis+sentinel://h1/main?sentinel-user=u", "needs sentinel-password"),
        ("redis+sentinel://h1/main?sentinel-password=", "NAME=VALUE"),
        ("redis+sentinel://h1/main?sentinel-password=secret%ff", "NAME=VALUE"),
        ("redis+cluster://h1?partitions=0", "1...4096"), ("redis+cluster://h1?partitions=4097", "1...4096"),
        ("redis+cluster://h1?partitions=48&partitions=48", "twice"), ("redis+cluster://h1?", "NAME=VALUE"),
        ("redis+cluster://h1?cacert=/ca.pem", "requires TLS"),
        ("redis+cluster://" + (0...64).map { "h\($0)" }.joined(separator: ","), "more than 64"),
    ])
    func refused(_ url: String, _ reason: String) {
        let error = #expect(throws: RedisError.self) { try RedisURL(url) }
        #expect(error?.code == .url)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false)
    }
}
