/// Tells of a device's first failure since it was started.
struct FailureReport {
    /// Takes what has happened.
    var report: (@Sendable (String) -> Void)?
    private var isTold = false

    /// The device is started: its next failure is news, also when it is the same.
    mutating func start() { isTold = false }

    /// What is to be called, outside of a lock; nil without a failure, and when one was told since the start.
    mutating func news(of failure: AudioFileError?) -> (() -> Void)? {
        guard !isTold, let report, let failure else { return nil }
        isTold = true
        return { report(failure.description) }
    }
}
