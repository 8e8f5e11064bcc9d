import ClusterService
import MediaServer
import ServiceKit

/// The media node, through which the users of a media channel hear each other; see `media --help`.
@main
struct MediaMain {
    static func main() async {
        await ServiceMain.run(
            "media", settings: MediaConfiguration.init(reading:),
            assemble: { try await ServiceRuntime.assemble(MediaService($1), $0) })
    }
}
