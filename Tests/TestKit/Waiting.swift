internal import Glibc

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

/// The factor by which tests' deadlines are longer than usual: `HELIOGRAPH_TEST_PATIENCE`, which `Scripts/sanitize`
/// sets because sanitized programs are several times slower; default 1. It applies to deadlines that end a hanging
/// test, never to times that a test is about.
package let patience: Int = {
    guard let text = getenv("HELIOGRAPH_TEST_PATIENCE") else { return 1 }
    guard let times = Int(String(cString: text)), times > 0 else {
        // A run with other deadlines than the caller asked for would prove nothing.
        fatalError("HELIOGRAPH_TEST_PATIENCE is no number above 0")
    }
    return times
}()
