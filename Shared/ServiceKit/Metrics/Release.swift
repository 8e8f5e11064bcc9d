internal import ServiceMetrics

/// The release of which this program is.
enum Release {
    /// The title of the release's section in CHANGELOG.md, in small letters.
    static let version = "unreleased"

    /// Declares the metric that names it.
    static func declare(service: String, in registry: MetricRegistry = .process) {
        Gauge(
            "heliograph_build_info", "1; the labels say which release of which service runs.",
            labels: ["service": service, "version": version], in: registry
        ).set(1)
    }
}
