internal import ArgumentParser
internal import SignalingProtocol

/// Which user of which app a command is about.
struct UserOptions: ParsableArguments {
    @Option(help: "The app.")
    var app: AppID

    @Option(help: "The account: 1 to 128 bytes without white space and control characters.")
    var account: Account

    /// For commands by which the account comes into use: refuses what no client can log in as.
    /// - Throws: `ValidationError`.
    func requireNewName() throws { try Self.requireNewName(account, of: "--account") }

    static func requireNewName(_ account: Account, of option: String) throws {
        guard (try? Account(new: account.rawValue)) != nil else {
            throw ValidationError("\(option) must not be . or ..: no client can log in as that")
        }
    }

    var key: UserKey { UserKey(app: app, account: account) }
}
