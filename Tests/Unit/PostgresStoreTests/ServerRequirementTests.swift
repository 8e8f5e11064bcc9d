import Testing

@testable import PostgresStore

@Suite struct ServerRequirementTests {
    private func parse(_ url: String) throws -> ServerRequirement { try PostgresConfiguration(url: url).requirement }

    @Test func theURLSaysWhichServersMayBeUsed() throws {
        #expect(try parse("postgresql://u@a,b/d?target_session_attrs=read-write") == .readWrite)
        #expect(try parse("postgresql://u@a,b/d?target_session_attrs=primary") == .primary)
        #expect(try parse("postgresql://u@a,b/d?target_session_attrs=any") == .any)
        #expect(try parse("postgresql://u@a/d") == .any)
        #expect(try parse("postgresql://u@a,b/d") == .readWrite)
    }

    @Test(arguments: ["standby", "read-only", "prefer-standby", "primery"])
    func serversThatTakeNoWritesCannotBeAskedFor(value: String) {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConfiguration(url: "postgresql://u:secret@a,b/d?target_session_attrs=\(value)")
        }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func refusals() {
        typealias Case = (requirement: ServerRequirement, isStandby: Bool, isReadOnly: Bool, kind: PostgresError.Kind?)
        let cases: [Case] = [
            (.any, true, true, nil), (.primary, false, true, nil), (.primary, true, false, .standby),
            (.readWrite, false, false, nil), (.readWrite, true, true, .standby), (.readWrite, false, true, .closed),
        ]
        for (requirement, isStandby, isReadOnly, kind) in cases {
            let refusal = requirement.refusal(isStandby: isStandby, isReadOnly: isReadOnly)
            #expect(refusal?.kind == kind, "\(requirement) \(isStandby) \(isReadOnly)")
        }
    }

    @Test func eachHostHasItsOwnPort() throws {
        let several = try PostgresConfiguration(url: "postgresql://u@a:1,b:2/d")
        #expect(several.hosts == [["host": "a", "port": "1"], ["host": "b", "port": "2"]])
        #expect((0..<2).map(several.name) == ["a:1", "b:2"])
        #expect(several.connectTimeout == .seconds(1))
        let single = try PostgresConfiguration(url: "postgresql://u@a/d")
        #expect(single.hosts == [["host": "a"]] && single.connectTimeout == .seconds(3))
        let samePort = try PostgresConfiguration(url: "postgresql:///d?host=a,b&port=7")
        #expect(samePort.hosts == [["host": "a", "port": "7"], ["host": "b", "port": "7"]])
    }
}
