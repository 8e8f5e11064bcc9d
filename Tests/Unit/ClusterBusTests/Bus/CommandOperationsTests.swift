import BusProtocol
import ClusterState
import FoundationEssentials
import SignalingProtocol
import Testing

/// During an upgrade processes of the release before run, so nothing is sent to them that they do not know.
@Suite struct CommandOperationsTests {
    /// Every command; ``theListHasEveryCommand()`` compares it with the sources.
    private static let commands: [any ServiceCommand.Type] = [
        GetAPIKey.self, CreateAPIKey.self, RevokeAPIKey.self,
        BanAddress.self, LiftAddressBan.self, ListAddressBans.self, GetBannedNetworks.self,
        GetApp.self,
        BanUser.self, GetBan.self, LiftBan.self, RevokeTokens.self, GetRevokedTokens.self,
        JoinChannel.self, LeaveChannel.self, ChangeChannelAttributes.self, CountMembers.self, QueryMember.self,
        ListMembers.self,
        GetDatabaseServers.self,
        NoteMailboxAct.self,
        ReassertDetachedSessions.self,
        CallAct.self, FindCall.self, EndSessionCalls.self,
        ListRecords.self,
        JoinMedia.self, LeaveMedia.self, MuteMedia.self, ResumeMedia.self, RestartMedia.self,
        RenewMedia.self,
        RestrictMember.self, LiftRestriction.self, ListRestrictions.self,
        DialPhone.self, OrderPhone.self, PhoneReport.self, InviteFromPhone.self,
        DrainProcess.self,
        ReassertSessions.self, ReassertMembers.self, ForgetMember.self,
        ChangeUserAttribute.self, ChangeChannelAttribute.self, ListChannelAttributes.self,
        OpenSession.self, ResumeSession.self, DetachSession.self, CloseSession.self,
        ApplySettings.self, ExportSettings.self, RemoveApp.self,
        ReportUsage.self,
        DisconnectUser.self, QueryUserStatus.self, SetUserAttribute.self, GetUserAttribute.self,
        ListUserAttributes.self,
    ]
    private static let root = "/" + #filePath.split(separator: "/").dropLast(5).joined(separator: "/")

    /// The commit of the release before, as `Tests/Upgrade/previous-operations` names it.
    private let commit: String
    /// The level of that release.
    private let level: Int64
    /// The operations that it knows, each with its service.
    private let operations: Set<String>

    init() throws {
        let lines = try Self.lines("Tests/Upgrade/previous-operations")
        commit = lines[0]
        level = try #require(Int64(lines[1].dropFirst("level ".count)))
        operations = Set(lines.dropFirst(2))
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func name(_ command: any ServiceCommand.Type) -> String {
        "\(command.service.rawValue) \(command.operation)"
    }

    @Test func theListHasEveryCommand() throws {
        let folder = "Shared/BusProtocol/Commands"
        var declared: [String] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(folder)") {
            declared += try Self.lines("\(folder)/\(file)").compactMap {
                $0.prefixMatch(of: #/package struct (\w+): ServiceCommand\b/#).map { String($0.output.1) }
            }
        }
        #expect(declared.sorted() == Self.commands.map { "\($0)" }.sorted())
        #expect(Set(Self.commands.map(Self.name)).count == Self.commands.count)
    }

    @Test func theOperationsAreThoseOfTheReleaseBefore() throws {
        #expect(try Self.lines("Tests/Upgrade/previous-release") == [commit])
        #expect((ClusterLevel.current - 1...ClusterLevel.current).contains(level))
    }

    @Test func commandsThatTheReleaseBeforeDoesNotKnowHaveAHigherLevel() {
        for command in Self.commands where !operations.contains(Self.name(command)) {
            // Of a service that came later, as media has, no process is older.
            guard operations.contains(where: { $0.hasPrefix("\(command.service.rawValue) ") }) else { continue }
            #expect(command.level > level, "\(Self.name(command))")
        }
        for command in Self.commands { #expect(command.level <= ClusterLevel.current, "\(Self.name(command))") }
    }

    @Test func commandsOfTheReleaseBeforeAreStillKnown() {
        #expect(operations.subtracting(Self.commands.map(Self.name)).isEmpty)
        for command in Self.commands where operations.contains(Self.name(command)) {
            #expect(command.level <= level, "\(Self.name(command))")
        }
    }
}
