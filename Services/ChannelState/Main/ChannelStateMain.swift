import ChannelStateServer
import ServiceKit

/// The channel-state service's process; see `channel-state --help`.
@main
struct ChannelStateMain {
    static func main() async {
        await ServiceMain.run(
            "channel-state", settings: { ChannelStateConfiguration(reading: &$0) },
            assemble: { @Sendable in try await ChannelStateService.assemble($0, $1) })
    }
}
