import ClusterService
import PresenceServer
import ServiceKit

/// The process of the presence service; see `presence --help`.
@main
struct PresenceMain {
    static func main() async {
        await ServiceMain.run("presence") { @Sendable context in
            try await ServiceRuntime.assemble(PresenceService(), context)
        }
    }
}
