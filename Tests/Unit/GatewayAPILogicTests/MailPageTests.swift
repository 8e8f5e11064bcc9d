import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct MailPageTests {
    private func entry(_ version: Int64, _ content: String = "hello there") throws -> MailboxEntry {
        let line = MessageLine.instant(
            from: try Account("ann"), to: try Account("bob"), ttl: 60, time: 17, content: content)
        return MailboxEntry(version: version, expiresAt: RedisTime(milliseconds: 77_999), line: line)
    }

    @Test func aPageIsPutTogetherOfParts() throws {
        var page = MailPage(after: 3, limit: 3)
        #expect(page.position == 3 && page.missing == 3)
        var goesOn = try page.take([try entry(5)], count: 9, through: 7, more: true)
        #expect(goesOn && page.position == 7 && page.missing == 2)
        goesOn = try page.take([try entry(8, "a b  \u{301}c\n"), try entry(9)], count: 8, through: 9, more: true)
        #expect(!goesOn)
        #expect(page.hasNext && page.messages.map(\.version) == [5, 8, 9])
        #expect(page.messages[1].text.unicodeScalars.elementsEqual("a b  \u{301}c\n".unicodeScalars))
        #expect(page.work.calls == 2)
    }

    @Test func whatIsAnswered() throws {
        var page = MailPage(after: 0, limit: 3)
        let goesOn = try page.take([try entry(5, "ü")], count: 1, through: 5, more: false)
        #expect(!goesOn)
        #expect(
            page.json.compactText
                == #"{"count":1,"messages":[{"version":5,"account":"ann","time":17,"expiresAt":77,"size":2,"#
                + #""message":"ü"}],"next":null}"#)
    }

    /// A content may begin with a character that would be one with the space before it.
    @Test func aContentIsTakenByteByByte() throws {
        let content = "\u{301}x y"
        var page = MailPage(after: 0, limit: 3)
        _ = try page.take([try entry(5, content)], count: 1, through: 5, more: false)
        #expect(page.messages.first?.text.utf8.elementsEqual(content.utf8) == true)
    }

    @Test func aPageIsBoundedInBytesAndParts() throws {
        var page = MailPage(after: 0, limit: 1000)
        let long = String(repeating: "x", count: 8192)
        var version: Int64 = 0
        var goesOn = true
        while goesOn, version < 1000 {
            version += 15
            goesOn = try page.take(
                (version - 14...version).map { try entry($0, long) }, count: 9, through: version, more: true)
        }
        #expect(page.hasNext && page.messages.count <= MailPage.bytesBound / 8192 + 15)
        var empty = MailPage(after: 0, limit: 1)
        var parts: Int64 = 1
        while try empty.take([], count: 0, through: parts, more: true) { parts += 1 }
        #expect(parts == Int64(MailPage.partsBound) && empty.hasNext && empty.position == parts)
    }

    @Test func whatIsNoMessageIsNotListed() throws {
        for line in [
            "", "msg-v2 ann bob v1:E:60 voip_invite 17 x", "msg-v2 ann bob v1:E:60 instant x y",
            "msg-v1 a b c instant 1 x",
        ] {
            let entry = MailboxEntry(version: 1, expiresAt: RedisTime(milliseconds: 1), line: line)
            var page = MailPage(after: 0, limit: 1)
            do {
                _ = try page.take([entry], count: 1, through: 1, more: false)
                Issue.record("taken: \(line)")
            } catch {
                #expect(error.code == .failed && !error.detail.contains("voip"))
            }
        }
    }
}
