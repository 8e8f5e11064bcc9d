import Glibc
import Testing

/// Checks that `Docs/protocol.md` is up to date; rewrites it when `HELIOGRAPH_WRITE_PROTOCOL` is set, as
/// `Scripts/protocol-doc` does.
@Suite struct ProtocolPageTests {
    @Test func thePageIsWhatIsDeclared() throws {
        let page = try #require(Repository.text(ProtocolPage.path))
        let wanted = try #require(try ProtocolPage.text(in: page), "the page has lost the marks of its generated part")
        if getenv("HELIOGRAPH_WRITE_PROTOCOL") != nil {
            try Repository.write(wanted, to: ProtocolPage.path)
        } else {
            #expect(page == wanted, "Docs/protocol.md is out of date: run Scripts/protocol-doc")
        }
    }

    @Test func everyReasonIsOnThePageOrIsNeverSent() throws {
        let page = try #require(Repository.text(ProtocolPage.path))
        let source = try #require(Repository.text("Shared/SignalingProtocol/SignalingReason.swift"))
        let declared = source.matches(of: /Self\(rawValue: "(\w+)"\)/).map { String($0.1) }
        #expect(declared.count > 60, "the source has another form")
        for reason in declared {
            let isShown = page.contains("`\(reason)`")
            #expect(isShown == (ReasonTable.neverSent[reason] == nil), "\(reason)")
        }
        #expect(Set(ReasonTable.neverSent.keys).isSubset(of: declared))
    }

    @Test func everyGoldenFileIsOnThePage() throws {
        let page = try #require(Repository.text(ProtocolPage.path))
        // Golden files that the page does not show as examples: further examples of what it shows, and one that is in
        // its text.
        let others: Set = [
            "client/channel-sendmsg-force", "client/user-sendmsg-python", "server/channel-msg-raised",
            "server/reply-attributes-none", "server/reply-joined-alone", "server/reply-mailbox-empty",
            "server/reply-status-offline", "server/reply-failed",
        ]
        for name in try Fixture.names(in: "client") + Fixture.names(in: "server") {
            let isShown = page.contains(text(try Fixture.bytes(name)))
            #expect(isShown != others.contains(String(name.dropLast(".json".count))), "\(name)")
        }
    }
}

/// Reads and writes files of the repository that tests compare the code with.
enum Repository {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(5).joined(separator: "/") + "/"

    /// The text of a file; nil when it does not exist.
    static func text(_ path: String) -> String? {
        guard let file = fopen(root + path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(root + path, "wb"), "\(path) can't be written")
        defer { fclose(file) }
        let bytes = Array(text.utf8)
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count, "\(path) can't be written")
    }
}
