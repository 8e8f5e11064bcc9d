import Testing

@testable import RedisClient

@Suite struct RedisConfigurationTests {
    @Test func plain() throws {
        let configuration = try RedisConfiguration(url: "redis://localhost")
        #expect(configuration.host == "localhost")
        #expect(configuration.port == 6379)
        #expect(!configuration.usesTLS)
        #expect(configuration.user == nil)
        #expect(configuration.password == nil)
        #expect(configuration.database == 0)
    }

    @Test func everything() throws {
        let configuration = try RedisConfiguration(
            url: "rediss://us%3Aer:p%40ss:w/rd@10.0.0.1:7000/3?cacert=/etc/a%20b.pem")
        #expect(configuration.usesTLS)
        #expect(configuration.user == "us:er")
        #expect(configuration.password == "p@ss:w/rd")
        #expect(configuration.host == "10.0.0.1")
        #expect(configuration.port == 7000)
        #expect(configuration.database == 3)
        #expect(configuration.certificateAuthorityFile == "/etc/a b.pem")
    }

    @Test func passwordOnlyAndIPv6() throws {
        let configuration = try RedisConfiguration(url: "redis://:secret@[::1]:6380/")
        #expect(configuration.user == nil)
        #expect(configuration.password == "secret")
        #expect(configuration.host == "::1")
        #expect(configuration.port == 6380)
        #expect(try RedisConfiguration(url: "redis://[fe80::1]/2").database == 2)
    }

    @Test(arguments: [
        "", "http://localhost", "redis://", "redis://:6379", "redis://host:0", "redis://host:70000", "redis://host:x",
        "redis://host/x", "redis://host/-1", "redis://secret@host", "redis://u:@host", "redis://:secret%zz@host",
        "redis://[::1", "redis://[::1]6379", "rediss://host?verify=no", "redis://host?cacert=/x",
        "redis://:secret%ff@host",
    ])
    func refused(_ url: String) {
        #expect { try RedisConfiguration(url: url) } throws: { error in
            guard let error = error as? RedisError else { return false }
            return error.code == .url && !error.message.contains("secret")
        }
    }
}
