package import NIOHTTP1
internal import ServiceMetrics

/// The largest request head that an HTTP listener reads, so that a peer without a login cannot fill memory with one.
///
/// NIO's own bound is 2 MiB. A head beyond this one is answered with 400, and its connection is closed.
package enum HTTPHeadBound {
    /// 8 KiB for the target or a field, 16 KiB in all, 64 fields. Pass them to `configureHTTPServerPipeline`.
    package static let limits: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 16 * 1024
        limits.maxHeaderFieldCount = 64
        return limits
    }()

    private static let refused = Counter(
        "heliograph_http_heads_refused_total", "Requests refused because their head was too large.")

    /// Declares the metric.
    static func declare() { _ = refused }

    /// Counts an error of the pipeline, if it is a head beyond the bound.
    static func note(_ error: any Error) {
        if case HTTPParserError.headerOverflow = error { refused.increment() }
    }
}
