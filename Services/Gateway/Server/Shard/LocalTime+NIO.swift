internal import GatewayLogic
internal import NIOCore
internal import Pacing

extension LocalTime {
    /// The present moment.
    static var now: LocalTime { LocalTime(.now()) }

    /// Makes a moment from a deadline or a reading of the event loops' clock.
    init(_ deadline: NIODeadline) { self.init(nanoseconds: Int64(deadline.uptimeNanoseconds)) }

    /// The moment as NIO takes it.
    var deadline: NIODeadline { .uptimeNanoseconds(UInt64(nanoseconds)) }
}
