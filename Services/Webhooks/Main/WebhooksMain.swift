import ClusterService
import ServiceKit
import WebhooksServer

/// The process that delivers webhooks; see `webhooks --help`.
@main
struct WebhooksMain {
    static func main() async {
        await ServiceMain.run(
            "webhooks", settings: { WebhooksConfiguration(reading: &$0) },
            assemble: { @Sendable in try await ServiceRuntime.assemble(WebhooksService($1), $0) })
    }
}
