internal import NIOConcurrencyHelpers

/// Where the interfaces of old apps find the cluster: they have no place for its address in their methods.
package enum ClusterLocation {
    private static let configured = NIOLockedValueBox<GatewaySource?>(nil)

    /// Sets the location for all later logins and calls of the process; nil for that of the settings again.
    package static func configure(_ source: GatewaySource?) { configured.withLockedValue { $0 = source } }

    /// The location that the app has configured, else that of the first setting that is there; nil when there is none.
    /// - Parameter settings: texts of URLs with commas or spaces between them, in order of precedence.
    package static func current(_ settings: String?...) -> GatewaySource? {
        if let source = configured.withLockedValue({ $0 }) { return source }
        let text = settings.lazy.compactMap { $0 }.first ?? ""
        let urls = text.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
        return urls.isEmpty ? nil : .discovery(urls)
    }
}
