import ChannelStateServer
import ServiceKit

/// The channel-state service's process; see `channel-state --help`.
@main
struct ChannelStateMain {
    static func main() async {
        await ServiceMain.run("channel-state") { @Sendable context in try await ChannelStateService.assemble(context) }
    }
}
