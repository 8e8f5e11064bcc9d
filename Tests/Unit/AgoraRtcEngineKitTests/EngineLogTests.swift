import Foundation
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EngineLogTests {
    /// What is in a file to which a log has written.
    private func written(_ before: String = "", _ body: (EngineLog) -> Void) throws -> String {
        let path = NSTemporaryDirectory() + "log-\(UInt64.random(in: 0 ... .max)).log"
        defer { try? FileManager.default.removeItem(atPath: path) }
        if !before.isEmpty { try before.write(toFile: path, atomically: true, encoding: .utf8) }
        let log = EngineLog()
        #expect(log.open(path))
        body(log)
        log.flush()
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func whatTheFileHasStays() throws {
        let text = try written("of the app\n") { $0(.info, "ours") }
        #expect(text.hasPrefix("of the app\n") && text.hasSuffix(" info ours\n"))
    }

    @Test(
        arguments: [
            (0x800, "debug"), (1, "info"), (2, "warning"), (4, "error"), (8, "fatal"), (0, ""), (6, "warning error"),
        ] as [(UInt, String)])
    func eachLevelHasItsBit(_ filter: UInt, _ levels: String) throws {
        let text = try written { log in
            #expect(log.setFilter(filter))
            for level in [EngineLog.Level.debug, .info, .warning, .error, .fatal] { log(level, "x") }
        }
        #expect(text.split(separator: "\n").map { $0.split(separator: " ")[1] }.joined(separator: " ") == levels)
    }

    @Test func byDefaultEverythingButDebugLines() throws {
        let text = try written { log in
            for level in [EngineLog.Level.debug, .info, .fatal] { log(level, "x") }
        }
        #expect(text.split(separator: "\n").count == 2 && !text.contains("debug"))
    }
}
