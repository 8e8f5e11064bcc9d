import CMedia
import CMediaNode
import CMediaPeer
import Testing

/// A participant's other end.
final class Caller {
    let id: UInt64
    fileprivate let caller: OpaquePointer

    fileprivate init(_ id: UInt64, _ caller: OpaquePointer) {
        self.id = id
        self.caller = caller
    }

    deinit { cm_caller_close(caller) }

    var uid: UInt32 { UInt32(1000 + id) }
    var ssrc: UInt32 { UInt32(10_000 + id) }
    /// The SSRC of its first slot.
    var slot: UInt32 { UInt32(100_000 + 100 * id) }
    var counts: cm_caller_counts { cm_caller_counts(caller) }
    var hasKeys: Bool { cm_caller_has_keys(caller) }
    /// What the page or engine sent last, encrypted.
    var last: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(CM_PACKET_SIZE))
        return Array(bytes[..<cm_caller_last(caller, &bytes)])
    }

    func check(isNominating: Bool = true, isControlled: Bool = false, isForged: Bool = false) {
        var check = cm_caller_check(is_nominating: isNominating, is_controlled: isControlled, is_forged: isForged)
        cm_caller_check(caller, &check)
    }

    /// A check that others can send.
    func writtenCheck(isNominating: Bool = true, isForged: Bool = false) -> [UInt8] {
        var check = cm_caller_check(is_nominating: isNominating, is_controlled: false, is_forged: isForged)
        var bytes = [UInt8](repeating: 0, count: Int(CM_PACKET_SIZE))
        return Array(bytes[..<cm_caller_write_check(caller, &check, &bytes)])
    }

    func say(_ level: UInt8 = 30, first: UInt8 = 1) { #expect(cm_caller_say(caller, level, first)) }
    func send(_ bytes: [UInt8]) { cm_caller_send(caller, bytes, bytes.count) }
    func report(ntp: UInt64) { #expect(cm_caller_report(caller, ntp)) }
    func tell(_ block: cm_report_block) {
        var block = block
        #expect(cm_caller_tell(caller, &block))
    }
    func skip(_ packets: UInt16) { cm_caller_skip(caller, packets) }
    func set(ssrc: UInt32, payloadType: UInt8 = 111) { cm_caller_set(caller, ssrc, payloadType) }
    /// Knows of a restart.
    func renew() { cm_caller_renew(caller) }
    func move() { #expect(cm_caller_move(caller)) }
    fileprivate func shake() { cm_caller_shake(caller) }
    @discardableResult fileprivate func poll() -> Bool { cm_caller_poll(caller, 1000) > 0 }

    /// What was heard since the last call.
    func heard() -> [cm_heard] {
        var all: [cm_heard] = []
        var next = cm_heard()
        while cm_caller_take(caller, &next) { all.append(next) }
        return all
    }

    func uids() -> Set<UInt32> { Set(heard().map(\.uid)) }
}

/// What a participant is like, and how it is connected.
struct CallerKind {
    static let engine = CallerKind()
    static let page = CallerKind(isWeb: true)

    var isWeb = false
    var isIPv6 = false
    /// How many others it can hear at a time.
    var slots: UInt32 = 6
    /// Whether its packets say which slot they are for by a source of their own.
    var hasSources = true
    var hasWrongCertificate = false
    var suite = Suite.gcm
}

/// A node on loopback with a scripted clock, which has a turn when the test says so, and its callers.
final class Channel {
    private(set) var node: OpaquePointer
    private let certificate: OpaquePointer
    private(set) var events: [cm_node_event] = []
    private(set) var callers: [Caller] = []
    private(set) var wakes = 0
    /// In microseconds.
    private(set) var now: UInt64 = 1_000_000_000
    /// Called with each event.
    var onEvent: ((cm_node_event) -> Void)?

    init(limits: cm_node_limits = cm_node_default_limits(), hasIPv6: Bool = false) throws {
        certificate = try #require(cm_dtls_context_make())
        node = certificate
        var settings = cm_node_settings()
        settings.has_ipv4 = true
        settings.ipv4 = (127, 0, 0, 1)
        settings.has_ipv6 = hasIPv6
        settings.ipv6.15 = 1
        settings.limits = limits
        settings.dtls = certificate
        settings.clock = { Channel.of($0).now }
        settings.woken = { Channel.of($0).wakes += 1 }
        var opened: OpaquePointer?
        let error = cm_node_open(
            &opened, &settings,
            { context, event in
                let channel = Channel.of(context)
                guard let event else { return }
                channel.events.append(event.pointee)
                channel.onEvent?(event.pointee)
            }, Unmanaged.passUnretained(self).toOpaque())
        #expect(error == 0)
        node = try #require(opened)
    }

    deinit {
        cm_node_close(node)
        cm_dtls_context_free(certificate)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Channel {
        guard let context else { preconditionFailure("the context is a channel") }
        return Unmanaged<Channel>.fromOpaque(context).takeUnretainedValue()
    }

    var counts: cm_node_counts {
        var counts = cm_node_counts()
        cm_node_counts(node, &counts)
        return counts
    }

    func dropped(_ reason: cm_drop) -> UInt64 {
        withUnsafeBytes(of: counts.dropped) { $0.bindMemory(to: UInt64.self)[Int(reason.rawValue)] }
    }

    var droppedInAll: UInt64 { (0..<CM_DROP_COUNT.rawValue).reduce(0) { $0 + dropped(cm_drop($1)) } }

    func count(_ kind: cm_node_event_kind, of caller: Caller) -> Int {
        events.count { $0.kind == kind && $0.id == caller.id }
    }

    /// Loopback delivers at once: the loop has turns until nobody gets anything more.
    func run() {
        var isBusy = true
        while isBusy {
            let before = counts.packets_received
            #expect(cm_node_turn(node, 0) == 0)
            isBusy = callers.reduce(false) { $1.poll() || $0 } || counts.packets_received != before
        }
    }

    func pass(milliseconds: UInt64) {
        now += milliseconds * 1000
        run()
    }

    /// Somebody whom the node does not know, or knows without a check.
    func open(_ id: UInt64, _ kind: CallerKind = .engine, channel: UInt64 = 1) throws -> Caller {
        var member = cm_caller_member(
            id: id, channel: channel, is_web: kind.isWeb, is_ipv6: kind.isIPv6, slots: kind.slots,
            has_sources: kind.hasSources, has_wrong_certificate: kind.hasWrongCertificate, suite: kind.suite.code)
        var error: Int32 = 0
        let caller = Caller(id, try #require(cm_caller_join(node, &member, &error), "error \(error)"))
        callers.append(caller)
        return caller
    }

    func join(_ id: UInt64, _ kind: CallerKind = .engine, channel: UInt64 = 1) throws -> Caller {
        let caller = try open(id, kind, channel: channel)
        caller.check()
        run()
        if kind.isWeb {
            caller.shake()
            run()
        }
        #expect(caller.hasKeys && count(CM_EVENT_CONNECTED, of: caller) == 1)
        return caller
    }

    func errorOfJoining(_ id: UInt64, channel: UInt64 = 1, slots: UInt32 = 6) -> Int32 {
        var member = cm_caller_member()
        member.id = id
        member.channel = channel
        member.slots = slots
        var error: Int32 = 0
        guard let caller = cm_caller_join(node, &member, &error) else { return error }
        cm_caller_close(caller)
        return 0
    }

    func allow(_ caller: Caller, _ allowed: Int) { cm_node_allow(node, caller.id, UInt32(allowed)) }

    func remove(_ caller: Caller) {
        cm_node_remove(node, caller.id)
        callers.removeAll { $0 === caller }
    }

    /// Forgets the events until now.
    func forget() { events = [] }

    /// Everybody in `speakers` says so many frames of 20 ms.
    func talk(_ speakers: [(caller: Caller, level: UInt8)], frames: Int = 10) {
        for _ in 0..<frames {
            for speaker in speakers { speaker.caller.say(speaker.level) }
            pass(milliseconds: 20)
        }
    }

    func talk(_ speakers: Caller..., frames: Int = 10) { talk(speakers.map { ($0, 30) }, frames: frames) }

    func shake(_ caller: Caller) { caller.shake() }

    /// Restarts a participant, of which its other end knows after `renew`.
    func restart(
        _ caller: Caller, hasNewCertificate: Bool = false, ssrc: UInt32 = 0, opus: UInt8 = 0, mid: UInt8 = 0
    ) -> Int32 {
        var restart = cm_caller_restart(
            has_new_certificate: hasNewCertificate, ssrc: ssrc, opus: opus, mid_id: mid)
        return cm_caller_restart(caller.caller, node, caller.id, &restart)
    }

    func counts(of caller: Caller) -> cm_participant_counts {
        var counts = cm_participant_counts()
        #expect(cm_node_participant_counts(node, caller.id, &counts))
        return counts
    }
}
