import BusProtocol
import SignalingProtocol
import Testing

@testable import MessageStore
@testable import SignalingWire

/// Checks the declarations behind `Docs/protocol.md` against the parser and the golden files.
@Suite struct ProtocolDeclarationTests {
    private static let line = "s1.secret.app.anna"

    /// The result of parsing a call with these arguments, given as JSON texts.
    private func call(_ function: String, _ arguments: [String: String]) throws -> Result<ClientCall, SignalingError> {
        let members = arguments.map { ",\"\($0.key)\":\($0.value)" }.joined()
        let frame = "[\"call2\",[\"\(function)\",1,{\"line\":\"\(Self.line)\"\(members)}]]"
        guard case .call(let request) = try ClientFrame(decoding: Array(frame.utf8), line: Self.line) else {
            throw FrameError(.shape, "no call")
        }
        return request.call
    }

    private func refusal(_ result: Result<ClientCall, SignalingError>) -> Refusal? {
        guard case .failure(let error) = result else { return nil }
        return Refusal(error.code, error.reason.rawValue)
    }

    /// The arguments of a golden call as JSON texts, without `line`.
    private func arguments(_ fixture: String, of function: String) throws -> [String: String] {
        guard case .array(let frame) = try JSONValue.parse(Fixture.bytes("client/\(fixture).json")),
            case .array(let call) = frame[1], case .object(let members) = call[2]
        else { throw FrameError(.shape, fixture) }
        #expect(frame[0] == .string("call2") && call[0] == .string(function), "\(fixture)")
        var arguments: [String: String] = [:]
        for member in members where member.name != "line" { arguments[member.name] = member.value.compactText }
        return arguments
    }

    @Test func everyFunctionOfTheParserIsDeclared() throws {
        let source = try #require(Repository.text("Shared/SignalingWire/Client/ClientCall.swift"))
        let named = source.matches(of: /case "(\w+)":/).map { String($0.1) } + CallVerb.allCases.map(\.rawValue)
        #expect(named.count > 20, "the parser's source has another form")
        #expect(named.sorted() == FunctionTable.all.map(\.name).sorted())
    }

    @Test(arguments: FunctionTable.all.map(\.name)) func itsCallsHaveTheArgumentsThatAreDeclared(name: String) throws {
        let function = try #require(FunctionTable.all.first { $0.name == name })
        for fixture in function.calls {
            let given = try arguments(fixture, of: name)
            #expect(refusal(try call(name, given)) == nil)
            #expect(Set(given.keys).isSubset(of: function.arguments.map(\.name)), "\(fixture)")
        }
        let required = Set(function.arguments.filter(\.isRequired).map(\.name))
        #expect(required.isSubset(of: try arguments(function.calls[0], of: name).keys))
    }

    @Test(arguments: FunctionTable.all.map(\.name)) func eachArgumentIsCheckedAsDeclared(name: String) throws {
        let function = try #require(FunctionTable.all.first { $0.name == name })
        let good = try arguments(function.calls[0], of: name)
        for argument in function.arguments {
            var arguments = good
            arguments[argument.name] = nil
            let without = refusal(try call(name, arguments))
            #expect(without == (argument.isRequired ? .missing : nil), "\(argument.name) is missing")
            for value in argument.kind.accepted {
                arguments[argument.name] = value
                #expect(refusal(try call(name, arguments)) == nil, "\(argument.name) is \(value.prefix(60))")
            }
            for (value, expected) in argument.kind.refused {
                arguments[argument.name] = value
                #expect(refusal(try call(name, arguments)) == expected, "\(argument.name) is \(value.prefix(60))")
            }
        }
        // The required arguments alone are enough.
        #expect(
            refusal(try call(name, good.filter { given in function.arguments.contains { $0.name == given.key } }))
                == nil)
    }

    @Test(arguments: FunctionTable.all.map(\.name)) func itsAnswersHaveTheFieldsThatAreDeclared(name: String) throws {
        let function = try #require(FunctionTable.all.first { $0.name == name })
        for fixture in function.answers {
            guard case .array(let frame) = try JSONValue.parse(Fixture.bytes("server/\(fixture).json")),
                case .array(let answer) = frame[1], let data = answer[2].string
            else { throw FrameError(.shape, fixture) }
            #expect(frame[0] == .string("call2-ret") && answer[1] == .string(""))
            try expect(data, has: [ReplyField("result", .text, "")] + function.reply, fixture)
        }
    }

    @Test func itsEventsHaveTheFieldsThatAreDeclared() throws {
        for event in FrameTable.events {
            for fixture in event.examples {
                guard case .array(let frame) = try JSONValue.parse(Fixture.bytes("server/\(fixture).json")),
                    case .array(let parts) = frame[1], let line = parts[3].string
                else { throw FrameError(.shape, fixture) }
                let words = line.split(separator: " ", maxSplits: 6)
                #expect("`\(words[4])`" == event.title)
                try expect(String(words[6]), has: event.fields, fixture)
            }
        }
    }

    /// Compares the golden files with what the system sends in the special channels.
    @Test func eventsOfTheSpecialChannels() throws {
        let anna = Actor(
            user: UserKey(app: try AppID("app"), account: try Account("anna")), uid: 7, session: SessionID("s1"))
        let room = try ChannelName("room 1")
        let sent: [(ServerAnnouncement.Event, fixture: String)] = [
            (.online, "special-online"), (.offline(.leaveLogout), "special-offline"), (.join(room), "special-join"),
            (.leave(room, .leaveByUser), "special-leave"),
        ]
        #expect(sent.map(\.fixture) == FrameTable.specialEvents.flatMap(\.examples))
        for (event, fixture) in sent {
            let message = ServerAnnouncement(event, of: anna, at: RedisTime(milliseconds: 1_795_247_975_116))
                .message(CommandID("c"))
            let published = ChannelEvent(
                sequence: 1, id: 1_795_247_975_116_084, account: message.account, uid: message.uid,
                kind: .message(message.body))
            let frame = ServerFrame.channelEvent(published, channel: message.channel.name, id: published.id)
            #expect(text(frame) == text(try Fixture.bytes("server/\(fixture).json")))
            let declared = try #require(FrameTable.specialEvents.first { $0.examples.contains(fixture) })
            try expect(message.body, has: declared.fields, fixture)
        }
    }

    /// Compares the golden files of call events with what the gateway pushes.
    @Test func eventsOfCalls() throws {
        let anna = try Account("anna")
        for (type, _) in FrameTable.callEvents {
            let extra =
                switch type {
                case "voip_invite": #"{"_timeout":30}"#
                case "voip_invite_msg": #"{"msgtype":"dtmf","msgdata":"12#"}"#
                case "voip_invite_failed": #"{"code":704,"reason":"timeout"}"#
                default: ""
                }
            let content = CallContent(channel: try ChannelName("room 1"), peer: "bob", extra: extra, peerUID: 8)
            try expect(content.text, has: FrameTable.callFields, type)
            let line = MessageLine.call(
                type: type, MessageLine.Header(from: "bob", to: anna, ttl: 30, time: 1_795_247_975), content)
            let frame = ServerFrame.pushMessage(
                MailboxEntry(version: 1_795_247_864_380, expiresAt: RedisTime(milliseconds: 1), line: line))
            #expect(text(frame) == text(try Fixture.bytes("server/recvmsg-\(type.replacing("_", with: "-")).json")))
        }
    }

    @Test func itsFramesHaveTheMembersThatAreDeclared() throws {
        let ignored: Set = ["uid", "ip", "ver"]
        for frame in FrameTable.ofClients where !frame.members.isEmpty {
            var seen: Set<String> = []
            for fixture in frame.examples {
                guard case .array(let parts) = try JSONValue.parse(Fixture.bytes("client/\(fixture).json")),
                    case .object(let members) = parts[1]
                else { throw FrameError(.shape, fixture) }
                #expect(parts[0] == .string(frame.name))
                seen.formUnion(members.map(\.name))
            }
            #expect(seen.subtracting(ignored) == Set(frame.members.map(\.name)), "\(frame.name)")
        }
    }

    @Test func theAnswersToFramesHaveTheFieldsThatAreDeclared() throws {
        for frame in FrameTable.ofClients where !frame.reply.isEmpty {
            let declared = [ReplyField("result", .text, "")] + frame.reply
            var longest = 0
            for fixture in frame.answers {
                guard case .array(let parts) = try JSONValue.parse(Fixture.bytes("server/\(fixture).json")),
                    case .array(let answer) = parts[1], let data = answer[1].string,
                    case .object(let members) = try JSONValue.parse(data.utf8)
                else { throw FrameError(.shape, fixture) }
                #expect(parts[0] == .string("\(frame.name)_ret"))
                guard answer[0] == .string("") else { continue }
                try expect(data, has: Array(declared.prefix(members.count)), fixture)
                longest = max(longest, members.count)
            }
            #expect(longest == declared.count, "\(frame.name)")
        }
    }

    @Test func mediaFunctionsAreDeclared() throws {
        #expect(MediaTable.functions.map(\.function) == MediaCall.Function.allCases)
        for function in MediaTable.functions {
            for fixture in function.calls {
                let given = Set(try arguments(fixture, of: function.function.rawValue).keys)
                #expect(given.isSubset(of: function.arguments.map(\.name)), "\(fixture)")
                #expect(given.isSuperset(of: function.arguments.filter(\.isRequired).map(\.name)), "\(fixture)")
            }
            for answer in function.answers {
                guard case .array(let frame) = try JSONValue.parse(Fixture.bytes("server/\(answer.file).json")),
                    case .array(let parts) = frame[1], let data = parts[2].string
                else { throw FrameError(.shape, answer.file) }
                try expect(data, has: [ReplyField("result", .text, "")] + function.reply + answer.fields, answer.file)
            }
        }
        for event in MediaTable.events {
            guard case .array(let frame) = try JSONValue.parse(Fixture.bytes("server/\(event.file).json")),
                case .array(let parts) = frame[1]
            else { throw FrameError(.shape, event.file) }
            #expect(parts[1]["t"] == .string(event.name))
            let head = ["t", "channel", "pid"].map { ReplyField($0, .text, "") }
            try expect(parts[1].compactText, has: head + event.fields, event.file)
        }
    }

    private func expect(_ json: String, has fields: [ReplyField], _ what: String) throws {
        guard case .object(let members) = try JSONValue.parse(json.utf8) else { throw FrameError(.shape, what) }
        let found = members.map { "\($0.name): \(type($0.value))" }
        #expect(found == fields.map { "\($0.name): \($0.type.rawValue)" }, "\(what)")
    }

    private func type(_ value: JSONValue) -> String {
        switch value {
        case .number: ReplyField.JSONType.number.rawValue
        case .string: ReplyField.JSONType.text.rawValue
        case .array: ReplyField.JSONType.array.rawValue
        case .object: ReplyField.JSONType.object.rawValue
        case .bool: ReplyField.JSONType.boolean.rawValue
        case .null: "another type"
        }
    }
}
