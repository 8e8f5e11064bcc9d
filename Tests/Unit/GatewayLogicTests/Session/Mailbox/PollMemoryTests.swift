import Foundation
import Testing

@testable import GatewayLogic

/// Whether polls give back what they take. The test is a process of its own, in which nobody else takes memory.
@Suite struct PollMemoryTests {
    /// The memory that the process has, in bytes.
    private static func resident() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return try #require(Int(pages)) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// So many polls at one instant, so that all but the first hundreds are delayed; there is nothing for them.
    private static func poll(_ count: Int, in talk: Conversation) throws {
        for _ in 0..<count {
            _ = try talk.calls("user_getmsg", 1, #""ver_clear":0,"limit":30"#)
            _ = talk.tell(.mailbox(.pollTimerFired))
        }
    }

    @Test func pollsLeaveNoMemory() async {
        await #expect(processExitsWith: .success) {
            let talk = try Conversation()
            try talk.logIn()
            try Self.poll(5_000, in: talk)
            let before = try Self.resident()
            try Self.poll(20_000, in: talk)
            // Ten bytes of each would be less; a block of the C library has at least 32.
            #expect(try Self.resident() < before + 400_000)
        }
    }
}
