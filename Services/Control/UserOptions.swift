internal import ArgumentParser
internal import SignalingProtocol

/// Which user of which app a command is about.
struct UserOptions: ParsableArguments {
    @Option(help: "The app.")
    var app: AppID

    @Option(help: "The account: 1 to 128 bytes without white space and control characters.")
    var account: Account

    var key: UserKey { UserKey(app: app, account: account) }
}
