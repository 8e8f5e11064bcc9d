import SignalingProtocol
import Testing

@Suite struct LatestMembersTests {
    private func member(_ account: String, _ uid: UInt32) throws -> Member {
        Member(account: try Account(account), uid: uid)
    }

    private func accounts(_ text: String) -> [String] {
        LatestMembers(text: Array(text.utf8)).all.map(\.account.rawValue)
    }

    @Test func newestFirstFromLinesOldestFirst() throws {
        let members = [try member("é\"\\", .max), try member("bob", 0), try member("anna", 12)]
        let latest = LatestMembers(members)
        #expect(String(decoding: latest.text, as: UTF8.self) == "12 anna\n0 bob\n4294967295 é\"\\\n")
        #expect(latest.all == members)
        #expect(LatestMembers([]).all.isEmpty)
    }

    @Test func noMoreThanAreListed() throws {
        let members = try (0..<250).map { try member("u\($0)", $0) }
        #expect(LatestMembers(members).all == Array(members.prefix(Limits.userListLatest)))
    }

    @Test(arguments: [
        "", "\n", "\n\n", "1 a", " \n", "1\n", "1 \n", " a\n", "x a\n", "-1 a\n", "1x a\n", "99999999999 a\n",
        "1 a b\n",
    ])
    func linesThatAreNoneAreLeftOut(text: String) {
        #expect(accounts(text).isEmpty)
        #expect(accounts("7 first\n" + text) == ["first"])
        if text.hasSuffix("\n") { #expect(accounts(text + "8 last\n") == ["last"]) }
    }
}
