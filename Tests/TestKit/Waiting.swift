/// Waits until a condition holds, looking every few milliseconds.
/// - Parameters:
///   - what: the condition in words, for the failure.
///   - deadline: how long to wait at most, times ``patience``; default 20 s.
///   - isolation: the caller's.
///   - condition: returns nil when it holds, or else why it does not.
/// - Throws: ``TestFailure`` with the last reason.
package func waitUntil(
    _ what: String, within deadline: Duration = .seconds(20), isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> String?
) async throws {
    let end = ContinuousClock.now + deadline * patience
    while let reason = try await condition() {
        guard ContinuousClock.now < end else {
            throw TestFailure("not within \(deadline * patience): \(what): \(reason)")
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// Lets time pass where there is no condition to wait for: that something lasts, or that a bound in seconds holds,
/// cannot be tested otherwise. Nothing else in the tests sleeps (`Scripts/check-tests`).
/// - Parameters:
///   - duration: how long.
///   - why: what the time is for.
/// - Throws: `CancellationError`.
package func letPass(
    _ duration: Duration, _ why: StaticString, isolation: isolated (any Actor)? = #isolation
) async throws {
    try await Task.sleep(for: duration)
}
