internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol

/// A secret, on the command line or in a file: other users of the machine see command lines.
struct SecretOptions: ParsableArguments {
    @Option(
        help: """
            The secret that signs the requests, 16...128 bytes; by default that of before (but for rotate), or a random \
            one.
            """)
    var secret: String?

    @Option(help: "The file whose only line is the secret, which no list of processes shows then.")
    var secretFile: String?

    func validate() throws {
        guard secret == nil || secretFile == nil else { throw ValidationError("give --secret or --secret-file") }
        try Self.check(secret, of: "--secret")
        try Self.check(try fromFile(), of: "--secret-file")
    }

    /// The secret; nil when none is given.
    /// - Throws: `ValidationError` when the file cannot be used.
    func given() throws -> String? { try secret ?? fromFile() }

    private func fromFile() throws -> String? {
        guard let secretFile else { return nil }
        do throws(SecretFile.Problem) {
            return try SecretFile.read(secretFile)
        } catch {
            throw ValidationError("--secret-file \(error.text)")
        }
    }

    /// The secrets of webhooks and of before-hooks have the same bounds.
    private static func check(_ secret: String?, of option: String) throws {
        guard let bytes = secret?.utf8.count else { return }
        guard Webhook.secretBytes.contains(bytes), BeforeHook.secretBytes.contains(bytes) else {
            throw ValidationError("\(option) must have 16...128 bytes")
        }
    }
}
