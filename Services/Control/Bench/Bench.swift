internal import BusProtocol
internal import Glibc
internal import SignalingClient
internal import SignalingProtocol

/// What a run of `bench` counts, and its progress on standard error.
actor Bench {
    /// The largest number of messages that wait for their answers.
    static let mostUnanswered = 5000
    /// How long messages that were sent may take to arrive after the last one.
    private static let patience = Duration.seconds(10)
    private static let patienceWhenStopped = Duration.seconds(2)
    private static let barWidth = 30

    enum Phase: String {
        case logins, messages, logouts
        case cleaning = "clean-up"
    }

    private let wanted: (users: Int, messages: Int)
    private let isTerminal: Bool
    private(set) var users: [BenchUser] = []
    private(set) var isStopped = false
    private var isLoggingOut = false
    private var loggedOut = 0
    private var phase = Phase.logins
    private var phaseBegan = ContinuousClock.now
    private var shownAt: ContinuousClock.Instant?
    private var sending: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
    private var loginTime = Duration.zero
    private var ownTime: (before: Double, after: Double) = (0, 0)
    private var figures = BenchReport.Figures()
    private var firstError: String?

    /// - Parameter isTerminal: whether the progress is a bar that is drawn over itself.
    init(_ load: BenchLoad, isTerminal: Bool) {
        wanted = (load.users, load.rate * load.seconds)
        self.isTerminal = isTerminal
        figures.bytes = load.size
        figures.wantedPerSecond = load.rate
        figures.wantedUsers = load.users
    }

    // MARK: - What happens

    func began(_ phase: Phase) {
        switch phase {
        case .logins: break
        case .messages:
            loginTime = .now - phaseBegan
            ownTime = (Self.ownSeconds, Self.ownSeconds)
        case .logouts:
            if self.phase == .logins { loginTime = .now - phaseBegan }
            isLoggingOut = true
        case .cleaning: break
        }
        self.phase = phase
        phaseBegan = .now
        shownAt = nil
        showProgress()
    }

    func loggedIn(_ client: SignalingClient, as account: String, after time: Duration) {
        figures.logins.record(time)
        users.append(BenchUser(account: account, client: client))
        showProgress()
    }

    func couldNotLogIn(_ error: SignalingError) {
        // Given up because the run was stopped: not the cluster's failure.
        if isStopped, error.reason == .cancelled { return }
        figures.failedLogins += 1
        note(error)
        showProgress()
    }

    /// A message was stored.
    /// - Parameter time: since it was due.
    func sent(after time: Duration) {
        figures.answers.record(time)
        let now = ContinuousClock.now
        sending = (sending?.first ?? now, now)
        ownTime.after = Self.ownSeconds
        showProgress()
    }

    func couldNotSend(_ error: SignalingError) {
        if isStopped, error.reason == .cancelled { return }
        figures.failedMessages += 1
        note(error)
        showProgress()
    }

    /// A user got a message of this run.
    func received(_ text: String) {
        guard let due = BenchStamp.due(in: text) else { return }
        figures.deliveries.record(.nanoseconds(Int64(clamping: BenchStamp.now &- due)))
    }

    /// A user has been logged out, by us or by the cluster.
    func ended(_ error: SignalingError) {
        loggedOut += 1
        showProgress()
        guard !isLoggingOut else { return }
        figures.lostUsers += 1
        note(error)
    }

    private func note(_ error: SignalingError) { firstError = firstError ?? "\(error)" }

    // MARK: - The end

    /// Nothing more is begun.
    func stop() { isStopped = true }

    /// Waits until somebody stops the run, or until the task is cancelled.
    func untilStopped() async {
        while !isStopped, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Waits until all messages that were accepted have arrived, for a bounded time.
    func settle() async {
        let begin = ContinuousClock.now
        while figures.deliveries.count < figures.answers.count,
            ContinuousClock.now - begin < (isStopped ? Self.patienceWhenStopped : Self.patience)
        {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Removes the bar.
    func finish() { if isTerminal, shownAt != nil { write("\r\u{1B}[K") } }

    /// - Parameter sessionsLeft: how many sessions the cluster had not ended when the app was removed.
    func report(sessionsLeft: Int) -> BenchReport {
        var report = BenchReport(
            figures: figures, firstError: firstError, wasStopped: isStopped, sessionsLeft: sessionsLeft)
        report.users = users.count
        report.loginSeconds = max(loginTime / .seconds(1), 0.001)
        report.sendSeconds = sending.map { max(($0.last - $0.first) / .seconds(1), 0.001) } ?? 0
        if report.sendSeconds > 0.5 { report.ownCores = (ownTime.after - ownTime.before) / report.sendSeconds }
        return report
    }

    /// The CPU time that this process has used, in seconds.
    private static var ownSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: - Progress

    /// How far the phase is, and of how much; nil where that is not known.
    private var progress: (done: Int, all: Int)? {
        switch phase {
        case .logins: (users.count + figures.failedLogins, wanted.users)
        case .messages: (figures.answers.count + figures.failedMessages, wanted.messages)
        case .logouts: (loggedOut, users.count)
        case .cleaning: nil
        }
    }

    /// Shows the progress, four times a second at most; a line every five seconds where there is no terminal.
    private func showProgress() {
        let now = ContinuousClock.now
        let pause = isTerminal ? Duration.milliseconds(250) : .seconds(5)
        guard shownAt.map({ now - $0 >= pause }) ?? isTerminal else {
            if shownAt == nil { shownAt = now }
            return
        }
        shownAt = now
        let (done, all) = progress ?? (0, 0)
        let share = progress == nil ? 1 : Double(done) / Double(max(1, all))
        let failed = figures.failedLogins + figures.failedMessages
        let text =
            progress == nil
            ? phase.rawValue : "\(phase.rawValue) \(done) of \(all)  \(Int(share * 100)) %  failed \(failed)"
        guard isTerminal else { return write("heliographctl: \(text)\n") }
        let filled = min(Self.barWidth, Int(share * Double(Self.barWidth)))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
        write("\r[\(bar)] \(text)\u{1B}[K")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// A user of a bench.
struct BenchUser: Sendable {
    let account: String
    let client: SignalingClient
}

/// The time when a message was due, which it carries, in nanoseconds of this machine's monotonic clock: messages come
/// back to the process that sent them.
enum BenchStamp {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A message of at least this size that was due then.
    static func text(due: UInt64, bytes: Int) -> String {
        let stamp = "\(due) "
        return stamp + String(repeating: ".", count: max(0, bytes - stamp.utf8.count))
    }

    /// When a message was due; nil for a text without a stamp.
    static func due(in text: String) -> UInt64? { UInt64(text.prefix { $0 != " " }) }
}
