import ClusterService
import PresenceServer
import ServiceKit

/// The presence service's process; see `presence --help`.
@main
struct PresenceMain {
    static func main() async {
        await ServiceMain.run("presence") { @Sendable context in
            try await ServiceRuntime.assemble(PresenceService(), context)
        }
    }
}
