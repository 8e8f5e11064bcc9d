import ChannelStateServer
import ClusterService
import ServiceKit

/// The process of the channel-state service; see `channel-state --help`.
@main
struct ChannelStateMain {
    static func main() async {
        await ServiceMain.run(
            "channel-state", settings: { ChannelStateConfiguration(reading: &$0) },
            assemble: { @Sendable in try await ServiceRuntime.assemble(ChannelStateService($1), $0) })
    }
}
