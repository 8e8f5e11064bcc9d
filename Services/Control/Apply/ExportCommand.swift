internal import ArgumentParser
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// `heliographctl export`.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a file for `heliographctl apply` of what is set up, without secrets.")

    @Option(help: "Only this app.")
    var app: AppID?

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                let state = try await SettingStore(pool: pool).read()
                if let app, state.apps[app] == nil { throw AppCommand.unknown(app) }
                print(ExportFile.text(state, app: app), terminator: "")
            }
        }
    }
}
