internal import UnixSignals

/// SIGHUP: the operator says that files, such as certificates, have changed.
package enum ReloadSignal {
    /// Calls back for each signal until the task is cancelled. From the first call on SIGHUP no longer ends the process.
    package static func each(_ act: @Sendable () async -> Void) async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { await act() }
    }
}
