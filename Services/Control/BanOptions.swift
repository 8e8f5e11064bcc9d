internal import ArgumentParser
internal import BusProtocol
internal import ServiceKit

/// Until when somebody is banned, and why.
struct BanOptions: ParsableArguments {
    @Option(help: "For so many seconds: 1 to 315360000, ten years.")
    var seconds: Int?

    @Option(help: "Until this time, in Unix seconds; at most ten years from now.")
    var until: Int64?

    @Option(help: "Why: up to 512 bytes. Who is banned is not told.")
    var reason = ""

    /// When the ban ends, in Unix seconds.
    var end: Int64 { until ?? WallClock.seconds + Int64(seconds ?? 0) }

    func validate() throws {
        guard (seconds != nil) != (until != nil) else { throw ValidationError("give either --seconds or --until") }
        let left = seconds.map(Int64.init) ?? (until ?? 0).subtractingReportingOverflow(WallClock.seconds).partialValue
        guard (Int64(UserBan.seconds.lowerBound)...Int64(UserBan.seconds.upperBound)).contains(left) else {
            throw ValidationError(
                seconds == nil
                    ? "--until must be in the future, by at most \(UserBan.seconds.upperBound) seconds"
                    : "--seconds must be 1...\(UserBan.seconds.upperBound)")
        }
        try Self.check(reason: reason)
    }

    /// - Throws: `ValidationError` for a reason that no ban or mute may have.
    static func check(reason: String) throws {
        guard UserBan.reasonBytes.contains(reason.utf8.count), !reason.utf8.contains(0) else {
            throw ValidationError("--reason may have up to \(UserBan.reasonBytes.upperBound) bytes")
        }
    }
}
