internal import UnixSignals

/// SIGHUP, by which the operator announces that files such as certificates have changed.
package enum ReloadSignal {
    /// Calls `act` for each signal until the task is cancelled. After the first call of this, SIGHUP no longer ends the
    /// process.
    package static func each(_ act: @Sendable () async -> Void) async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { await act() }
    }
}
