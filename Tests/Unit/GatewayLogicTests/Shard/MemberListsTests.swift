import GatewayLogic
import SignalingProtocol
import SignalingWire
import Testing

@Suite struct MemberListsTests {
    private func channel(_ name: String) throws -> ChannelKey {
        ChannelKey(app: try AppID("app"), name: try ChannelName(name))
    }

    /// Members 0 until `count`, as Redis has them.
    private func members(_ count: Int, _ name: String = "user") -> LatestMembers {
        LatestMembers(text: Array((0..<count).map { "\($0) \(name)-\($0)\n" }.joined().utf8))
    }

    @Test func channelsFillBesideEachOther() throws {
        var lists = MemberLists()
        let (red, blue) = (try channel("red"), try channel("blue"))
        for count in 150..<250 {
            #expect(lists.list(members(count, "red"), in: red) == MemberListText(members(count, "red")))
            #expect(lists.list(members(count, "blue"), in: blue) == MemberListText(members(count, "blue")))
        }
        let last = [members(249, "red"), members(249, "blue")].map { MemberListText($0).size }
        #expect(lists.bytes == last.reduce(0, +))
    }

    @Test func shortListsAreNotKept() throws {
        var lists = MemberLists()
        #expect(lists.list(members(10), in: try channel("small")) == MemberListText(members(10)))
        #expect(lists.bytes == 0)
    }

    /// The longest lists: each account as long as it may be, of what takes most bytes in JSON.
    @Test func whatIsKeptIsBounded() throws {
        var lists = MemberLists()
        let account = String(repeating: "\"", count: Limits.accountBytes)
        let longest = LatestMembers(
            text: Array(String(repeating: "4294967295 \(account)\n", count: Limits.userListLatest + 50).utf8))
        for number in 0..<100 {
            let list = lists.list(longest, in: try channel("c\(number)"))
            #expect(list == MemberListText(longest))
            #expect((list.size...MemberLists.boundBytes).contains(lists.bytes))
        }
    }
}
