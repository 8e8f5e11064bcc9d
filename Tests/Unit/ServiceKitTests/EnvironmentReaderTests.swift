import Logging
import Testing

@testable import ServiceKit

@Suite("Settings from the environment")
struct EnvironmentReaderTests {
    @Test("A variable that is missing or empty leaves the default")
    func defaults() throws {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_PORT": "", "PATH": "/bin"])
        let port = reader.int("PORT", default: 7, in: 0...9)
        let (name, maybe) = (reader.string("NAME", default: "x"), reader.optional("MAYBE"))
        let flag = reader.bool("FLAG", default: true)
        let time = reader.duration("TIME", default: .seconds(90), in: .zero ... .seconds(100))
        #expect(try reader.finish().lines == [])
        #expect(port == 7 && name == "x" && maybe == nil && flag && time == .seconds(90))
    }

    @Test("Values are read")
    func values() throws {
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_PORT": "9", "HELIOGRAPH_FLAG": "No", "HELIOGRAPH_TIME": "250ms", "HELIOGRAPH_LOG": "json",
        ])
        let port = reader.int("PORT", default: 7, in: 0...9)
        let flag = reader.bool("FLAG", default: true)
        let time = reader.duration("TIME", default: .zero, in: .zero ... .seconds(1))
        let format = reader.choice("LOG", default: LogFormat.text)
        #expect(try reader.finish().lines == [])
        #expect(port == 9 && !flag && time == .milliseconds(250) && format == .json)
    }

    @Test("All problems are reported in one line, without the values")
    func problems() throws {
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_PORT": "secret", "HELIOGRAPH_TIME": "3 days", "HELIOGRAPH_TYPO": "1", "OTHER": "2",
        ])
        _ = reader.int("PORT", default: 7, in: 0...9)
        _ = reader.duration("TIME", default: .zero, in: .zero ... .seconds(60))
        let error = #expect(throws: ConfigurationError.self) { _ = try reader.finish() }
        #expect(
            error?.description == "configuration: HELIOGRAPH_PORT must be a whole number from 0 to 9; "
                + "HELIOGRAPH_TIME must be a time span from 0ms to 1m"
        )
    }

    @Test("Unknown names are ignored and said with the name that is most like each")
    func unknownNames() throws {
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_HTPT_PORT": "80", "HELIOGRAPH_REDISURL": "redis://x", "HELIOGRAPH_NOVELTY": "on",
            "HELIOGRAPH_HTTP_PORT": "81", "HELIOGRAPH_UNSET": "", "OTHER": "2",
        ])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        let ignored = try reader.finish()
        #expect(configuration.httpPort == 81)
        #expect(
            ignored.lines == [
                "not settings of this service, ignored: HELIOGRAPH_HTPT_PORT (did you mean HELIOGRAPH_HTTP_PORT?), "
                    + "HELIOGRAPH_NOVELTY, HELIOGRAPH_REDISURL (did you mean HELIOGRAPH_REDIS_URL?)"
            ])
    }

    @Test("Kubernetes' service links are ignored, also under the name of a setting")
    func serviceLinks() throws {
        var reader = EnvironmentReader(environment: [
            "HELIOGRAPH_HTTP_PORT": "tcp://10.0.0.1:8080", "HELIOGRAPH_HTTP_SERVICE_HOST": "10.0.0.1",
            "HELIOGRAPH_HTTP_SERVICE_PORT": "8080", "HELIOGRAPH_HTTP_SERVICE_PORT_ADMIN": "8080",
            "HELIOGRAPH_HTTP_PORT_8080_TCP": "tcp://10.0.0.1:8080", "HELIOGRAPH_HTTP_PORT_8080_TCP_PROTO": "tcp",
            "HELIOGRAPH_HTTP_PORT_8080_TCP_PORT": "8080", "HELIOGRAPH_HTTP_PORT_8080_TCP_ADDR": "10.0.0.1",
            "HELIOGRAPH_PORT": "udp://[fd00::1]:53", "HELIOGRAPH_SERVICE_HOST": "10.0.0.2",
        ])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        let ignored = try reader.finish()
        #expect(configuration.httpPort == 0)
        #expect(ignored.unknown == [] && ignored.serviceLinks.count == 10)
        #expect(ignored.lines.count == 1 && ignored.lines[0].contains("enableServiceLinks"))
    }

    @Test(
        "A bad value of a real setting is no service link",
        arguments: ["tcp://", "tcp://10.0.0.1", "tcp://10.0.0.1:x", "http://10.0.0.1:80", "80a", " tcp://10.0.0.1:80"])
    func badPort(value: String) {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_HTTP_PORT": value])
        _ = ServiceConfiguration(service: "presence", reading: &reader)
        let error = #expect(throws: ConfigurationError.self) { _ = try reader.finish() }
        #expect(error?.description == "configuration: HELIOGRAPH_HTTP_PORT must be a whole number from 0 to 65535")
    }

    @Test("No setting has a name that a service link could have, but for ..._PORT")
    func names() {
        var reader = EnvironmentReader(environment: [:])
        _ = ServiceConfiguration(service: "presence", reading: &reader)
        for setting in reader.settings { #expect(!IgnoredSettings.isServiceLink(setting.name, "x"), "\(setting.name)") }
    }

    @Test("Every setting of the common configuration is listed once")
    func listing() {
        var reader = EnvironmentReader(environment: [:])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        #expect(configuration.instance.hasPrefix("presence-"))
        #expect(configuration.httpPort == 0)
        let names = reader.settings.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains("HELIOGRAPH_REDIS_URL"))
        #expect(reader.settings.last?.line.split(separator: "\t").count == 4)
    }

    @Test(
        "Malformed instance names and store addresses are refused",
        arguments: ["INSTANCE", "REDIS_URL", "POSTGRES_URL"])
    func common(name: String) {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_\(name)": "with space"])
        _ = ServiceConfiguration(service: "presence", reading: &reader)
        let error = #expect(throws: ConfigurationError.self) { _ = try reader.finish() }
        #expect(error?.problems.count == 1)
    }

    @Test(
        "How many replicas are waited for",
        arguments: [("", 0), ("none", 0), ("replica", 1), ("replica:1", 1), ("replica:16", 16)])
    func durability(text: String, replicas: Int) throws {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_REDIS_DURABILITY": text])
        #expect(ServiceConfiguration(service: "presence", reading: &reader).redisReplicas == replicas)
        _ = try reader.finish()
    }

    @Test(
        "A durability that is none is refused",
        arguments: ["1", "replica:", "replica:0", "replica:17", "replica: 1", "Replica", "replicas", "all"])
    func noDurability(text: String) {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_REDIS_DURABILITY": text])
        _ = ServiceConfiguration(service: "presence", reading: &reader)
        let error = #expect(throws: ConfigurationError.self) { _ = try reader.finish() }
        #expect(
            error?.description
                == "configuration: HELIOGRAPH_REDIS_DURABILITY must be none, replica or replica:N, with N from 1 to 16")
    }

    @Test("Time spans", arguments: [("0", 0), ("5", 5000), ("5ms", 5), ("2m", 120_000), ("1h", 3_600_000)])
    func spans(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "Malformed time spans are refused",
        arguments: ["", "ms", "-1s", "1.5s", "1 s", "1d", "٣s", "99999999999999999h"])
    func noSpans(text: String) { #expect(DurationText.parse(text) == nil) }
}
