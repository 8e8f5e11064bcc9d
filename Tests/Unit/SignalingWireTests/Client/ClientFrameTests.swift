import SignalingProtocol
import SignalingWire
import Testing

@Suite struct ClientFrameTests {
    private func decode(_ text: String) throws -> ClientFrame { try ClientFrame(decoding: Array(text.utf8)) }

    private func login(_ fixture: String) throws -> LoginRequest {
        guard case .login(let login) = try ClientFrame(decoding: Fixture.bytes("client/\(fixture).json")) else {
            throw FrameError(.shape, "no login")
        }
        return login
    }

    private func login(text: String) throws -> LoginRequest {
        guard case .login(let login) = try decode("[\"login\",\(text)]") else { throw FrameError(.shape, "no login") }
        return login
    }

    @Test func loginsOfRealClients() throws {
        let web = try login("login-web")
        #expect(web.app == "970CA35de60c44645bbae8a215061b33" && web.account == "anna")
        #expect(web.token == "_no_need_token" && web.device == "websdk" && !web.push)
        let python = try login("login-python")
        #expect(python.app == "app" && python.device == "javasdk")
        #expect(python.token == "1:app:1514219634:82539e1f3973bcfe3f0d0c8993e6c051")
        #expect(try login("login-oldest").app == nil)
        #expect(try login("login-push").push)
    }

    @Test func missingMembersOfALoginAreEmpty() throws {
        let login = try login(text: "{}")
        #expect(login.app == nil && login.account.isEmpty && login.token.isEmpty && login.device.isEmpty && !login.push)
        // A number is accepted as a name; other JSON values are not.
        #expect(try self.login(text: #"{"account":12,"vid":[1],"token":null}"#).account == "12")
        #expect(try self.login(text: #"{"account":{"a":1},"vid":[1]}"#).account.isEmpty)
        #expect(try self.login(text: #"{"push":true}"#).push)
        #expect(try !self.login(text: #"{"push":0}"#).push)
    }

    @Test func theDeviceIsBoundedVisibleText() throws {
        let login = try login(text: "{\"device\":\"a b\\u0000é\(String(repeating: "x", count: 100))\"}")
        #expect(login.device == "ab" + String(repeating: "x", count: LoginRequest.deviceBytes - 2))
    }

    @Test func resumingClients() throws {
        guard case .lineLogin(let web) = try ClientFrame(decoding: Fixture.bytes("client/line-login-web.json")),
            case .lineLogin(let own) = try ClientFrame(decoding: Fixture.bytes("client/line-login-resume.json")),
            case .lineLogin(let empty) = try decode("[\"line_login\",{}]")
        else {
            Issue.record("no line_login")
            return
        }
        #expect(web.line == "s1.secret.app.anna" && web.channel == nil && web.after == nil)
        #expect(own.channel == "room" && own.after == 1_795_247_975_116_084)
        #expect(empty.line.isEmpty)
    }

    @Test(arguments: ["-1", "9223372036854775807", "9007199254740993", "1.5", "null", "\"x\""])
    func idsThatNoClientSawAreNone(after: String) throws {
        guard case .lineLogin(let request) = try decode("[\"line_login\",{\"line\":\"x\",\"after\":\(after)}]") else {
            Issue.record("no line_login")
            return
        }
        #expect(request.after == nil)
    }

    @Test func pingsKeepTheirNumber() throws {
        #expect(try ClientFrame(decoding: Fixture.bytes("client/ping-web.json")) == .ping(.number("1")))
        #expect(try ClientFrame(decoding: Fixture.bytes("client/ping-python.json")) == .ping(.number("0")))
    }

    @Test(arguments: ["0", "1", "-1", "1.0", "1e3", "12345678901234567890123456789012"])
    func callsKeepTheirNumber(id: String) throws {
        guard case .call(let request) = try decode("[\"call2\",[\"f\",\(id),{}]]") else {
            Issue.record("no call")
            return
        }
        #expect(request.id == id)
        #expect { try request.call.get() } throws: { ($0 as? SignalingError)?.reason == .unknownFunction }
    }

    @Test(arguments: [
        "", "this is not JSON", "[\"call2\",[\"user_getmsg\",1", "[\"ping\",1]]", "\u{FEFF}[\"ping\",1]",
        "[\"ping\",01]",
    ])
    func whatIsNotJSONIsMalformed(text: String) {
        #expect { try decode(text) } throws: { ($0 as? FrameError)?.kind == .malformed }
    }

    @Test(arguments: [
        "null", "1", "\"login\"", "{\"name\":\"login\"}", "[]", "[\"login\"]", "[\"ping\",1,2]", "[1,{}]",
        "[null,null]",
        "[\"login\",5]", "[\"login\",[]]", "[\"login\",\"{}\"]", "[\"line_login\",null]", "[\"call2\",{}]",
        "[\"call2\",[]]",
        "[\"call2\",[\"f\",1]]", "[\"call2\",[\"f\",1,{},2]]", "[\"call2\",[5,1,{}]]", "[\"call2\",[\"f\",\"1\",{}]]",
        "[\"call2\",[\"f\",null,{}]]", "[\"call2\",[\"f\",123456789012345678901234567890123,{}]]",
    ])
    func otherShapesAreRefused(text: String) {
        #expect { try decode(text) } throws: { ($0 as? FrameError)?.kind == .shape }
    }

    @Test(arguments: ["", "Login", "call", "notify", "close", "pong", "login_ret", "join"])
    func otherNamesAreRefused(name: String) {
        #expect { try decode("[\"\(name)\",{}]") } throws: { ($0 as? FrameError)?.kind == .unknownName }
    }

    @Test func errorsDoNotQuoteTheFrame() {
        for text in ["[\"sEcReT\",{}]", "sEcReT", "[\"login\",\"sEcReT\"]", "[\"call2\",[\"sEcReT\",\"1\",{}]]"] {
            #expect { try decode(text) } throws: { ($0 as? FrameError)?.message.contains("sEcReT") == false }
        }
    }

    @Test func everyIncompleteFrameIsRefused() throws {
        for name in try Fixture.names(in: "client") {
            let bytes = try Fixture.bytes(name)
            var received: [UInt8] = []
            for byte in bytes.dropLast() {
                received.append(byte)
                #expect(throws: FrameError.self) { try ClientFrame(decoding: received) }
            }
            #expect(throws: Never.self) { try ClientFrame(decoding: bytes) }
        }
    }
}
