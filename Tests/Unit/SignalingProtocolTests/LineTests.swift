import SignalingProtocol
import Testing

@Suite struct LineTests {
    private static let secret = "0123456789abcdef0123456789abcdef"

    @Test(arguments: ["s", "gateway1-01ab23cd-0-1z", String(repeating: "s", count: 64)])
    func whatAGatewayMakesIsRead(session: String) throws {
        #expect(try Line(wire: "\(session).\(Self.secret).app.anna").session == SessionID(session))
    }

    @Test(arguments: [
        "anna", "a.b.c", "a:b", "{}", "%", "%2E", "100%", "日本", "🙂", "e\u{301}", "\u{E9}", "\"\\/", "a..",
        String(repeating: ".", count: 128),
    ])
    func linesComeBackWhole(account: String) throws {
        for app in ["app", "a.b", "a:{%}"] {
            let line = Line(
                user: UserKey(app: try AppID(app), account: try Account(account)), session: SessionID("g1-7"),
                secret: SecureRandom.hex(bytes: 16))
            let read = try Line(wire: line.wire)
            #expect(read == line)
            #expect(read.user.account.rawValue.utf8.elementsEqual(account.utf8))
            #expect(!line.wire.contains(" "))
        }
    }

    @Test(arguments: [
        "", ".", "...", "a.b.c", "a.b.c.d.e", ".secret.app.anna", "s..app.anna", "s.secret..anna", "s.secret.app.",
        "s.\(secret).app.a%20b", "s.\(secret).app.%", "s.\(secret).app.%G0", "s.\(secret).app.%FF",
        "s.\(secret).a%20b.anna", "nobody.knows.this.line.", " . . . ", "s.secret.app.anna", "s.\(secret)0.app.anna",
        "s.0123456789ABCDEF0123456789ABCDEF.app.anna", "s.x123456789abcdef0123456789abcdef.app.anna",
        "a b.\(secret).app.anna", "a\"b.\(secret).app.anna", "a:b.\(secret).app.anna", "a{b.\(secret).app.anna",
        "a%b.\(secret).app.anna",
        "a\nb.\(secret).app.anna", "a\0b.\(secret).app.anna", "é.\(secret).app.anna",
        String(repeating: "s", count: 65) + ".\(secret).app.anna",
    ])
    func otherTextsAreRefused(text: String) {
        #expect { try Line(wire: text) } throws: {
            ($0 as? SignalingError)?.code == .notLoggedIn && ($0 as? SignalingError)?.reason == .badLine
        }
    }

    @Test func everyCutIsRefusedOrAnotherLine() throws {
        let line = Line(
            user: UserKey(app: try AppID("app"), account: try Account("a.n")), session: SessionID("s1"),
            secret: Self.secret)
        for length in 0..<line.wire.utf8.count {
            let cut = String(line.wire.prefix(length))
            #expect((try? Line(wire: cut)) != line)
        }
    }

    @Test func secretsAreLongAndDiffer() {
        let secrets = Set((0..<1000).map { _ in SecureRandom.hex(bytes: 16) })
        #expect(secrets.count == 1000)
        #expect(secrets.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test func lettersAndDigitsAreRandom() {
        let texts = (0..<1000).map { _ in SecureRandom.alphanumeric(count: 8) }
        #expect(Set(texts).count == 1000)
        #expect(texts.allSatisfy { $0.utf8.count == 8 })
        // Of 8,000 characters, each of the 62 occurs, unless in one run of 10⁵⁴.
        #expect(Set(texts.joined()) == Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    }
}
