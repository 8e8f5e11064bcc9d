import SignalingProtocol
import Testing

@testable import SignalingWire

@Suite struct MemberListTextTests {
    private func latest(_ text: String) -> LatestMembers { LatestMembers(text: Array(text.utf8)) }

    private func lines(_ numbers: Range<Int>) -> String { numbers.map { "\($0) user-\($0)\n" }.joined() }

    private func written(_ list: MemberListText) -> String { String(decoding: list.bytes, as: UTF8.self) }

    @Test func newestFirst() {
        #expect(written(MemberListText(latest(""))) == "")
        #expect(written(MemberListText(latest("1 anna\n"))) == #"[\"anna\",1]"#)
        #expect(written(MemberListText(latest("1 anna\n2 bob\n"))) == #"[\"bob\",2],[\"anna\",1]"#)
    }

    /// However the members have changed, a list that is written from the one before is what it would be without it.
    @Test(arguments: [
        ("", "1 anna\n"), ("1 anna\n", ""), ("1 anna\n", "1 anna\n"), ("1 anna\n", "1 anna\n2 bob\n"),
        ("1 anna\n", "1 bobo\n2 anna\n"), ("1 anna\n2 bob\n", "1 anna\n"),
        ("1 anna\n2 bob\n", "      \n2 bob\n3 eve\n"), ("      \n2 bob\n", "      \n2 bob\n3 eve\n"),
        ("1 anna\n", "1 anna\n     \n"), ("\n", "\n1 anna\n"),
        // A line that has not ended may go on.
        ("1 anna", "1 anna-2\n"), ("1 anna", "1 anna\n2 bob\n"),
        // What JSON escapes, in those before and in those who have joined.
        ("1 \"a\\\n", "1 \"a\\\n2 bob\n"), ("1 anna\n", "1 anna\n2 \",1],[\"\n3 c\n"), ("1 é\n", "1 é\n2 日本\n"),
    ])
    func writtenFromTheOneBefore(former: String, next: String) {
        let anew = MemberListText(latest(next))
        #expect(MemberListText(latest(next), after: MemberListText(latest(former))) == anew)
    }

    /// A channel fills, beyond what is listed, by one member and by more at a time.
    @Test(arguments: [1, 7, 199, 200, 201])
    func aChannelFills(step: Int) {
        var list = MemberListText(latest(""))
        for end in stride(from: step, through: 3 * Limits.userListLatest + step, by: step) {
            let members = latest(lines(0..<end))
            list = MemberListText(members, after: list)
            #expect(list == MemberListText(members))
            #expect(written(list).hasPrefix(#"[\"user-\#(end - 1)\",\#(end - 1)]"#))
            #expect(list.latest.all.count == min(end, Limits.userListLatest))
        }
    }
}
