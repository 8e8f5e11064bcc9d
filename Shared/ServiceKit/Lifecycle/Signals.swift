internal import UnixSignals

/// SIGINT and SIGTERM, by which somebody ends a command that would go on.
package enum StopSignal {
    /// Waits for the first of them, or until the task is cancelled. After the first call of this,
    /// they no longer end the process.
    package static func wait() async {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}

/// SIGHUP, by which the operator announces that files such as certificates have changed.
package enum ReloadSignal {
    /// Calls `act` for each signal until the task is cancelled. After the first call of this, SIGHUP no longer ends the
    /// process.
    package static func each(_ act: @Sendable () async -> Void) async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { await act() }
    }
}
