internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol

extension WebhookCommand {
    /// `heliographctl webhook rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces the secret of a webhook of an app and prints the new one; both sign for a day.",
            discussion:
                "The new secret is a random one unless it is given. Of the secrets before, only the latest signs on.")

        @OptionGroup var place: WebhookPlace

        @OptionGroup var secret: SecretOptions

        @OptionGroup var overlap: OverlapOptions

        @Flag(help: "Replace nothing: end the time of the secret before, because receivers have followed.")
        var finish = false

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !finish || (secret.secret == nil && secret.secretFile == nil) else {
                throw ValidationError("--finish takes no secret")
            }
        }

        func run() async throws {
            try await Failure.reported {
                let (given, key) = (try secret.given(), place.key)
                try await Database.with { pool in
                    _ = try await WebhookRecord.existing(key, in: pool)
                    let store = WebhookStore(pool: pool)
                    if finish {
                        guard try await store.endRotation(key) else {
                            throw Failure.refused("no secret before signs the requests to \(key)")
                        }
                    } else {
                        let secret = given ?? SecureRandom.hex(bytes: 32)
                        guard try await store.rotate(key, to: secret, overlap: overlap.duration) else {
                            throw Failure.refused("the webhook\(key.suffix) of \(key.app) has this secret already")
                        }
                    }
                    output.show(try await WebhookRecord.existing(key, in: pool).output(withSecret: true))
                }
            }
        }
    }
}
