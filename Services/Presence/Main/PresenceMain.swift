import ClusterService
import PresenceServer
import ServiceKit

/// The process of the presence service; see `presence --help`.
@main
struct PresenceMain {
    static func main() async {
        await ServiceMain.run(
            "presence", settings: { PresenceConfiguration(reading: &$0) },
            assemble: { @Sendable in try await ServiceRuntime.assemble(PresenceService($1), $0) })
    }
}
