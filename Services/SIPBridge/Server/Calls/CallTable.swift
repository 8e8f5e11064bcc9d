internal import BusProtocol
internal import ServiceMetrics
internal import SignalingProtocol

/// The calls of a bridge: by their ids, and by the Call-IDs of their dialogs.
@SIPThread
struct CallTable {
    private var calls: [String: PhoneCallDriver] = [:]
    /// A Call-ID may belong to two calls: if one of our calls is routed back to this bridge, both of its ends are here.
    private var byCallID: [String: [PhoneCallDriver]] = [:]
    /// The ids of calls that have not ended. An ended call is kept for a while, to answer repeated messages.
    private(set) var active: Set<String> = []

    /// The call with an id.
    subscript(id: String) -> PhoneCallDriver? { calls[id] }

    /// The calls that have not ended.
    var ongoing: [PhoneCallDriver] { calls.values.filter { !$0.isOver } }

    /// The calls whose dialogs have a Call-ID.
    func drivers(_ callID: String) -> [PhoneCallDriver] { byCallID[callID] ?? [] }

    /// Adds a new call.
    mutating func add(_ driver: PhoneCallDriver) {
        calls[driver.call.id] = driver
        active.insert(driver.call.id)
        PhoneMetrics.shared.active.set(active.count)
    }

    /// Registers a call under its Call-ID, if it has one and was not removed meanwhile.
    mutating func registerDialog(of driver: PhoneCallDriver) {
        guard let id = driver.sipCallID, calls[driver.call.id] === driver else { return }
        byCallID[id, default: []].append(driver)
    }

    /// Records that a call has ended.
    mutating func ended(_ driver: PhoneCallDriver) {
        active.remove(driver.call.id)
        PhoneMetrics.shared.active.set(active.count)
    }

    /// Removes a call for which no message is expected any more.
    mutating func remove(_ driver: PhoneCallDriver) {
        calls[driver.call.id] = nil
        guard let id = driver.sipCallID else { return }
        byCallID[id]?.removeAll { $0 === driver }
        if byCallID[id]?.isEmpty == true { byCallID[id] = nil }
    }
}
