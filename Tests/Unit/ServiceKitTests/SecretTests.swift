import Foundation
import Testing

@testable import ServiceKit

@Suite("Secrets from files")
struct SecretTests {
    /// The path of a new file of these bytes.
    private func file(_ bytes: [UInt8]) -> String {
        let path = NSTemporaryDirectory() + "secret-\(UUID().uuidString)"
        #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        return path
    }

    private func remove(_ path: String) { #expect(unlink(path) == 0) }

    private func problem(of environment: [String: String]) -> String? {
        var reader = EnvironmentReader(environment: environment)
        _ = ServiceConfiguration(service: "presence", reading: &reader)
        let error = #expect(throws: ConfigurationError.self) { _ = try reader.finish() }
        return error?.description
    }

    @Test("One line is read, without its end", arguments: ["", "\n", "\r\n"])
    func line(end: String) throws {
        let path = file(Array("redis://:pässword@h:1 \(end)".utf8))
        defer { remove(path) }
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_X_FILE": path])
        let secret = reader.secret("X", default: "no")
        #expect(secret == "redis://:pässword@h:1 ")
        #expect(try reader.finish().lines == [])
        #expect(reader.settings.map(\.name) == ["HELIOGRAPH_X", "HELIOGRAPH_X_FILE"])
    }

    @Test("Without a file, the value or the default")
    func noFile() throws {
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_X": "value", "HELIOGRAPH_X_FILE": "", "HELIOGRAPH_Y": "",
        ])
        let (given, missing) = (reader.secret("X", default: "no"), reader.secret("Y", default: "no"))
        #expect(given == "value" && missing == "no")
        #expect(try reader.finish().lines == [])
    }

    @Test("A secret that is given twice is refused in one line, without either")
    func twice() {
        let path = file(Array("redis://one".utf8))
        defer { remove(path) }
        #expect(
            problem(of: ["HELIOGRAPH_REDIS_URL": "redis://two", "HELIOGRAPH_REDIS_URL_FILE": path])
                == "configuration: HELIOGRAPH_REDIS_URL_FILE must not be set together with HELIOGRAPH_REDIS_URL")
    }

    @Test("What is no file is refused")
    func noRegularFile() {
        let name = "configuration: HELIOGRAPH_REDIS_URL_FILE"
        #expect(
            problem(of: ["HELIOGRAPH_REDIS_URL_FILE": "/nowhere/secret"])
                == "\(name) names a file that cannot be read (No such file or directory)")
        for path in ["/", "/dev/null"] {
            #expect(problem(of: ["HELIOGRAPH_REDIS_URL_FILE": path]) == "\(name) must name a regular file")
        }
    }

    @Test(
        "Files that contain no secret are refused",
        arguments: [
            ([], "names an empty file"), ([0x0A], "names an empty file"),
            (Array("a\nb".utf8), "must name a file with one line of text"),
            ([0x61, 0xFF], "must name a file with one line of text"),
            ([0x61, 0], "must name a file with one line of text"),
            (Array(repeating: 0x61, count: 16_385), "names a file of more than 16384 bytes"),
        ] as [([UInt8], String)])
    func noSecret(bytes: [UInt8], why: String) {
        let path = file(bytes)
        defer { remove(path) }
        #expect(
            problem(of: ["HELIOGRAPH_POSTGRES_PASSWORD_FILE": path])
                == "configuration: HELIOGRAPH_POSTGRES_PASSWORD_FILE \(why)")
    }

    @Test("The largest file is read")
    func largest() throws {
        let path = file(Array(repeating: 0x61, count: 16_383) + [0x0A])
        defer { remove(path) }
        #expect(try SecretFile.read(path).utf8.count == 16_383)
    }

    @Test(
        "A password joins the URL's user",
        arguments: [
            ("redis://h:1/2?x=y", "redis://:p%2Fw%40%0F@h:1/2?x=y"),
            ("redis+cluster://a:1,b:2", "redis+cluster://:p%2Fw%40%0F@a:1,b:2"),
            ("rediss://user@h", "rediss://user:p%2Fw%40%0F@h"),
            ("postgresql://u@a:1,b:2/db?x=@", "postgresql://u:p%2Fw%40%0F@a:1,b:2/db?x=@"),
        ])
    func password(url: String, whole: String) { #expect(StoreURL.adding("p/w@\u{F}", to: url) == whole) }

    @Test(
        "A second password is refused",
        arguments: ["redis://:a@h", "redis://u:a@h", "postgresql://u@h/db?sslmode=require&password=a"])
    func secondPassword(url: String) {
        #expect(StoreURL.adding("b", to: url) == nil)
        let store = url.hasPrefix("redis") ? "REDIS" : "POSTGRES"
        #expect(
            problem(of: ["HELIOGRAPH_\(store)_URL": url, "HELIOGRAPH_\(store)_PASSWORD": "b"])
                == "configuration: HELIOGRAPH_\(store)_PASSWORD must not be set together with a password in the URL")
    }

    @Test("Services read passwords beside their URLs")
    func configuration() throws {
        let path = file(Array("secret\n".utf8))
        defer { remove(path) }
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_REDIS_URL": "redis://redis:6379", "HELIOGRAPH_REDIS_PASSWORD_FILE": path,
            "HELIOGRAPH_POSTGRES_PASSWORD": "other",
        ])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        #expect(configuration.redisURL == "redis://:secret@redis:6379")
        #expect(configuration.postgresURL == "postgresql://heliograph:other@127.0.0.1:5432/heliograph")
        #expect(try reader.finish().lines == [])
    }
}
