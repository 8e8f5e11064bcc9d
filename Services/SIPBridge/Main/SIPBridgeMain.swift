internal import ClusterService
internal import SIPBridgeServer
internal import ServiceKit

@main
enum SIPBridgeMain {
    static func main() async {
        await ServiceMain.run(
            "sip-bridge", settings: SIPBridgeConfiguration.init(reading:),
            assemble: { try await ServiceRuntime.assemble(SIPBridge($1), $0) })
    }
}
