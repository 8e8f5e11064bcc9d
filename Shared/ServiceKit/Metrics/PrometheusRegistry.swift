package import Metrics
internal import Synchronization

/// The metrics of a process: a backend of swift-metrics that renders them as Prometheus text.
///
/// Counters get the suffix `_total`; timers and aggregating recorders become histograms, timers in seconds; the others
/// become gauges. Handlers made with the same label and dimensions share one series.
package final class PrometheusRegistry: MetricsFactory {
    /// The largest number of exposed series. Values of further ones are dropped; `heliograph_metrics_refused_total` counts
    /// them.
    package static let seriesBound = 10_000

    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    struct Family {
        let kind: Kind
        /// Series by their labels as text, such as `{code="404"}`.
        var series: [String: any PrometheusSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var count = 0
        var refused: Int64 = 0
    }

    private let state = Mutex(State())

    /// Creates an empty registry.
    package init() {}

    /// All metrics in the Prometheus text format 0.0.4, including those of the process itself.
    package func text() -> String {
        let (families, refused) = state.withLock { ($0.families, $0.refused) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.append(name: name, labels: labels, to: &text)
            }
        }
        text += "# TYPE heliograph_metrics_refused_total counter\nheliograph_metrics_refused_total \(refused)\n"
        ProcessMetrics.append(to: &text)
        return text
    }

    func series<Series: PrometheusSeries>(
        _ label: String, suffix: String = "", kind: Kind, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series {
        var name = PrometheusText.name(label)
        if !name.hasSuffix(suffix) { name += suffix }
        let labels = PrometheusText.labels(dimensions)
        return state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind)
            if let known = family.series[labels] as? Series { return known }
            let new = make()
            // The text format allows one kind per name, so the first kind wins.
            guard family.series[labels] == nil, family.kind == kind, state.count < Self.seriesBound else {
                state.refused += 1
                return new
            }
            family.series[labels] = new
            state.families[name] = family
            state.count += 1
            return new
        }
    }

    private func remove(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                for (labels, series) in family.series where series === handler {
                    state.families[name]?.series[labels] = nil
                    state.count -= 1
                }
            }
        }
    }
}

extension PrometheusRegistry {
    /// Makes a counter; its exposed name ends in `_total`.
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, suffix: "_total", kind: .counter, dimensions) { PrometheusCounter() }
    }

    /// Makes a floating-point counter; its exposed name ends in `_total`.
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, suffix: "_total", kind: .counter, dimensions) { PrometheusGauge() }
    }

    /// Makes a gauge.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, kind: .gauge, dimensions) { PrometheusGauge() }
    }

    /// Makes a histogram when `aggregate` is set, else a gauge.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return series(label, kind: .gauge, dimensions) { PrometheusGauge() } }
        return series(label, kind: .histogram, dimensions) { PrometheusHistogram(bounds: PrometheusHistogram.values) }
    }

    /// Makes a histogram of seconds; its exposed name ends in `_seconds`.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, suffix: "_seconds", kind: .histogram, dimensions) {
            PrometheusHistogram(bounds: PrometheusHistogram.seconds)
        }
    }

    /// Removes a counter.
    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    /// Removes a counter of fractions.
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    /// Removes a gauge.
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    /// Removes a recorder.
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    /// Removes a timer.
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
