import ServiceKit
import Testing

@testable import MediaServer

@Suite struct MediaConfigurationTests {
    private func read(_ environment: [String: String]) throws -> MediaConfiguration {
        var reader = EnvironmentReader(environment: environment)
        let configuration = MediaConfiguration(reading: &reader)
        _ = try reader.finish()
        return configuration
    }

    @Test func settingsHaveDefaults() throws {
        let configuration = try read([:])
        #expect(configuration.host == "127.0.0.1" && configuration.port == 7000 && configuration.audioSlots == 6)
        #expect(configuration.announcedHost == "127.0.0.1" && configuration.bounds == MediaNodeBounds())
    }

    @Test func participantsAreToldAnAddressThatTheyCanReach() throws {
        for host in ["0.0.0.0", "::"] {
            #expect(throws: ConfigurationError.self) { try read(["HELIOGRAPH_MEDIA_HOST": host]) }
            let configuration = try read([
                "HELIOGRAPH_MEDIA_HOST": host, "HELIOGRAPH_MEDIA_PUBLIC_HOST": "192.0.2.1",
            ])
            #expect(configuration.announcedHost == "192.0.2.1")
        }
        for host in ["localhost", "1.2.3", ""] {
            #expect(throws: ConfigurationError.self) { try read(["HELIOGRAPH_MEDIA_HOST": host.isEmpty ? "x" : host]) }
        }
        #expect(throws: ConfigurationError.self) { try read(["HELIOGRAPH_MEDIA_PUBLIC_HOST": "0.0.0.0"]) }
        #expect(throws: ConfigurationError.self) { try read(["HELIOGRAPH_MEDIA_AUDIO_SLOTS": "17"]) }
    }
}
