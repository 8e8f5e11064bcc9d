internal import ArgumentParser
internal import BusProtocol
internal import Pacing
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire
internal import WebhookClient

extension WebhookCommand {
    /// `heliographctl webhook test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an event of the kind test to a webhook's receiver at once, past what waits.",
            discussion: """
                This machine makes the request, by the rules of webhooks processes: the same signatures, the same addresses, and \
                HELIOGRAPH_WEBHOOKS_TIMEOUT and HELIOGRAPH_WEBHOOKS_TLS_AUTHORITY. Nothing is repeated or noted. Ends with 1 \
                when the receiver does not take it.
                """)

        @OptionGroup var place: WebhookPlace

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                let (timeout, transport) = try Self.settings()
                var webhook: Webhook?
                let key = place.key
                try await Database.with { pool in webhook = try await WebhookRecord.existing(key, in: pool).webhook }
                guard let webhook else { throw WebhookRecord.missing(key) }
                let result = await Self.send(to: webhook, over: transport, within: timeout)
                await transport.close()
                output.show(result)
                if result.error != nil { throw ExitCode.failure }
            }
        }

        private static func settings() throws -> (timeout: Duration, transport: WebhookTransport) {
            var reader = EnvironmentReader.process()
            let timeout = reader.duration(
                "WEBHOOKS_TIMEOUT", default: .seconds(10), in: .milliseconds(100) ... .seconds(60))
            let authority = reader.optional("WEBHOOKS_TLS_AUTHORITY")
            _ = try reader.finish()
            do {
                return (timeout, try WebhookTransport(authorityFile: authority))
            } catch {
                throw Failure.refused("the file of HELIOGRAPH_WEBHOOKS_TLS_AUTHORITY cannot be used")
            }
        }

        private static func send(
            to webhook: Webhook, over transport: WebhookTransport, within timeout: Duration
        ) async -> TestOutput {
            let now = WallClock.milliseconds
            let id = "test-\(now)-\(SecureRandom.hex(bytes: 8))"
            let event = JSONValue.object([
                JSONMember("id", id), JSONMember("kind", "test"), JSONMember("at", now),
            ])
            let body = WebhookRequest.body(app: webhook.key.app.rawValue, events: [event.compactText])
            let start = ContinuousClock.now
            let answer = await transport.post(
                WebhookTransport.Message(
                    body, signature: WebhookSignature.header(of: body, secrets: webhook.secrets, time: now / 1000)),
                to: WebhookTransport.Destination(webhook.url, allowed: webhook.allowed), within: timeout,
                answerBytes: WebhookTransport.ignoredAnswerBytes)
            var result = TestOutput(
                webhook: webhook.key, id: id, duration: (ContinuousClock.now - start).wholeMilliseconds)
            switch answer {
            case .success(let answer): (result.status, result.error) = (Int64(answer.status), answer.failure?.text)
            case .failure(let failure): result.error = failure.text
            }
            return result
        }
    }
}

/// What became of a test event.
private struct TestOutput: Printable {
    let webhook: WebhookKey
    let id: String
    /// In milliseconds.
    let duration: Int64
    /// Nil without an answer.
    var status: Int64?
    /// Nil when the receiver has taken the event.
    var error: String?

    var members: [JSONMember] {
        [
            JSONMember("app", webhook.app.rawValue), JSONMember("name", webhook.name.rawValue), JSONMember("id", id),
            JSONMember("duration", duration), JSONMember("status", status), JSONMember("error", error),
        ]
    }

    var lines: [String] {
        [
            error.map { "failed after \(duration) ms: \($0)" }
                ?? "the receiver took \(id) with status \(status ?? 0) after \(duration) ms"
        ]
    }
}
