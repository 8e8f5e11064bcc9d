internal import Glibc
internal import SignalingWire

/// Times, in buckets that are 2 % wide, so that any number of them takes the same memory.
struct BenchTimes: Sendable {
    private static let growth = log(1.02)
    /// From a microsecond to more than an hour.
    private var buckets = [Int](repeating: 0, count: 1200)
    private(set) var count = 0
    private var longest = Duration.zero

    mutating func record(_ time: Duration) {
        let microseconds = max(1, time / .microseconds(1))
        buckets[min(buckets.count - 1, Int(log(microseconds) / Self.growth))] += 1
        count += 1
        longest = max(longest, time)
    }

    /// The time in milliseconds that so many percent did not exceed; nil without times.
    func milliseconds(percent: Double) -> Double? {
        guard count > 0 else { return nil }
        if percent >= 100 { return longest / .milliseconds(1) }
        let wanted = Int((Double(count) * percent / 100).rounded(.up))
        var seen = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if seen >= wanted { return min(exp(Double(index + 1) * Self.growth) / 1000, longest / .milliseconds(1)) }
        }
        return longest / .milliseconds(1)
    }
}

/// The result of a run of `bench`.
struct BenchReport: Printable {
    struct Figures: Sendable {
        var wantedUsers = 0
        var wantedPerSecond = 0
        var bytes = 0
        var logins = BenchTimes()
        var failedLogins = 0
        /// From the call to its answer.
        var answers = BenchTimes()
        var failedMessages = 0
        /// From the call to the receiver's event.
        var deliveries = BenchTimes()
        /// Users that the cluster has logged out.
        var lostUsers = 0
    }

    let figures: Figures
    /// The first error that a user got.
    let firstError: String?
    /// Whether somebody has ended the run early.
    let wasStopped: Bool
    /// How many sessions the cluster had not ended when the app was removed.
    let sessionsLeft: Int
    var users = 0
    var loginSeconds = 0.0
    var sendSeconds = 0.0
    /// How many cores this process used while it sent; nil when that was too short to tell.
    var ownCores: Double?

    /// Whether everything that was tried has succeeded.
    var isClean: Bool {
        figures.failedLogins + figures.failedMessages + figures.lostUsers + sessionsLeft == 0
            // Of a stopped run, messages may arrive whose answers nobody waited for.
            && figures.deliveries.count >= figures.answers.count && (users > 1 || wasStopped)
    }

    private var messagesPerSecond: Double { sendSeconds > 0 ? Double(figures.answers.count) / sendSeconds : 0 }
    private var loginsPerSecond: Double { loginSeconds > 0 ? Double(users) / loginSeconds : 0 }

    private static let percents = [50.0, 95, 99, 100]

    private static func json(_ times: BenchTimes) -> JSONValue {
        .object(
            percents.map { percent in
                let name = percent == 100 ? "max" : "p\(Int(percent))"
                return JSONMember(name, times.milliseconds(percent: percent).map { .number(tenths($0)) } ?? .null)
            }.sorted { $0.name < $1.name })
    }

    /// A number with one digit after the point.
    private static func tenths(_ number: Double) -> String {
        let whole = Int((number * 10).rounded())
        return "\(whole / 10).\(whole % 10)"
    }

    var members: [JSONMember] {
        var members = [
            JSONMember("users", users), JSONMember("failedLogins", figures.failedLogins),
            JSONMember("loginsPerSecond", .number(Self.tenths(loginsPerSecond))),
            JSONMember("loginMilliseconds", Self.json(figures.logins)),
            JSONMember("messageBytes", figures.bytes),
            JSONMember("messagesSent", figures.answers.count),
            JSONMember("messagesPerSecond", .number(Self.tenths(messagesPerSecond))),
            JSONMember("messagesFailed", figures.failedMessages),
            JSONMember("messagesDelivered", figures.deliveries.count),
            JSONMember("answerMilliseconds", Self.json(figures.answers)),
            JSONMember("deliveryMilliseconds", Self.json(figures.deliveries)),
            JSONMember("lostUsers", figures.lostUsers), JSONMember("sessionsLeft", sessionsLeft),
            JSONMember("ownCores", ownCores.map { .number(Self.tenths($0)) } ?? .null),
            JSONMember("wasStopped", wasStopped),
        ]
        members.append(JSONMember("firstError", firstError))
        return members
    }

    private static func line(_ times: BenchTimes) -> String {
        percents.compactMap { percent in
            times.milliseconds(percent: percent).map {
                (percent == 100 ? "max" : "p\(Int(percent))") + " \(tenths($0))"
            }
        }.joined(separator: "  ")
    }

    var lines: [String] {
        var lines = [
            "users      \(users) of \(figures.wantedUsers)  failed \(figures.failedLogins)  lost \(figures.lostUsers)  "
                + "\(Self.tenths(loginsPerSecond)) logins/s",
            "login ms   \(Self.line(figures.logins))",
            "messages   \(figures.answers.count) sent  \(figures.deliveries.count) delivered  "
                + "failed \(figures.failedMessages)  \(Self.tenths(messagesPerSecond)) messages/s "
                + "of \(figures.wantedPerSecond), \(figures.bytes) bytes each",
            "answer ms  \(Self.line(figures.answers))", "arrival ms \(Self.line(figures.deliveries))",
        ]
        if let ownCores { lines.append("this program used \(Self.tenths(ownCores)) cores while it sent") }
        if wasStopped { lines.append("ended early") }
        if sessionsLeft > 0 { lines.append("\(sessionsLeft) sessions have not ended") }
        if let firstError { lines.append("first error: \(firstError.visible)") }
        return lines
    }
}
