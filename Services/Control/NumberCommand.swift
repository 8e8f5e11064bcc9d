internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol

/// `heliographctl number ...`.
struct NumberCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "number", abstract: "Assigns telephone numbers to accounts, lists and removes them.",
        subcommands: [Set.self, List.self, Remove.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Assigns a number to an account: calls from the app's trunk to the number ring there.")

        @Argument(help: "The number, as the trunk's requests name it.")
        var number: SIPNumberArgument

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func validate() throws { try user.requireNewName() }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let store = NumberStore(pool: pool)
                    guard try await store.set(number.text, to: user.key) else {
                        if try await AppStore(pool: pool).find(user.app) == nil { throw AppCommand.unknown(user.app) }
                        throw Failure.refused("the number \(number.text) belongs to another app")
                    }
                    guard let record = try await store.find(number.text) else {
                        throw NumberCommand.missing(number.text)
                    }
                    output.show(NumberOutput(record))
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the numbers.")

        @Option(help: "Only this app's.")
        var app: AppID?

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let numbers = try await NumberStore(pool: pool).list(app: app).map { NumberOutput($0) }
                    output.show(Listing(name: "numbers", records: numbers))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes a number.")

        @Argument(help: "The number.")
        var number: SIPNumberArgument

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await NumberStore(pool: pool).remove(number.text) else {
                        throw NumberCommand.missing(number.text)
                    }
                    output.show(Outcome(deed: "removed", subject: number.text, line: "removed \(number.text)"))
                }
            }
        }
    }

    static func missing(_ number: String) -> Failure { .refused("the number \(number) is not assigned") }
}
