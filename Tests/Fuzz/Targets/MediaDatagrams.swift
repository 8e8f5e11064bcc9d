import CMedia
import CMediaNode
import CMediaPeer

/// Three engines in a channel of one media node, and a stranger, who send it datagrams over loopback. The node is
/// opened once, the engines join anew for each input. The clock is the input's own.
///
/// An input is a list of steps: a byte, whose lower three bits say who sends what and whose upper five how much time
/// passes then (10 ms each; 31: 3 s), two bytes with the size, and as many bytes.
final class MediaDatagrams {
    private enum Step: UInt8 {
        case stranger, rawOfFirst, audioOfFirst, reportOfFirst, rawOfSecond, audioOfSecond, reportOfSecond, act
    }

    /// Made once: the fuzzer has one thread.
    nonisolated(unsafe) private static var made: MediaDatagrams?
    static var shared: MediaDatagrams {
        if let made { return made }
        let new = MediaDatagrams()
        made = new
        return new
    }

    private static let ids: ClosedRange<UInt64> = 1...3
    /// The reasons of datagrams that are not read, but for CM_DROP_SOURCE, which is also one of authentic packets.
    private static let unread = [
        CM_DROP_SIZE, CM_DROP_UNKNOWN, CM_DROP_STUN_INVALID, CM_DROP_STUN_UNKNOWN_UFRAG, CM_DROP_STUN_FORGED,
        CM_DROP_STUN_TAKEN, CM_DROP_STRANGER, CM_DROP_DTLS, CM_DROP_NO_KEYS, CM_DROP_FORGED, CM_DROP_REPLAYED,
        CM_DROP_TOO_OLD, CM_DROP_TOO_MANY_SOURCES,
    ]
    private static let unused = [
        CM_DROP_INVALID, CM_DROP_RATE, CM_DROP_REPORT_RATE, CM_DROP_PAYLOAD_TYPE, CM_DROP_VIDEO,
    ]

    private var node: OpaquePointer?
    private var stranger: OpaquePointer?
    private var callers: [OpaquePointer?] = []
    private var now: UInt64 = 1_000_000_000
    /// Of this input: ufrags with the place of their owner and the password.
    private var secrets: [[UInt8]: (owner: Int, password: [UInt8])] = [:]
    private var restarts: [Int] = []
    private var sent: UInt64 = 0
    /// The stranger sent a right check of somebody's, or one participant that of another: addresses change owners.
    private var hasStrangerChecked = false
    private var isBorrowed = false

    private init() {
        var settings = cm_node_settings()
        settings.has_ipv4 = true
        settings.ipv4 = (127, 0, 0, 1)
        settings.limits = cm_node_default_limits()
        settings.clock = { Unmanaged<MediaDatagrams>.fromOpaque($0!).takeUnretainedValue().now }
        let context = Unmanaged.passUnretained(self).toOpaque()
        holds(cm_node_open(&node, &settings, { _, _ in }, context) == 0, "a node opens")
        var own = cm_caller_settings()
        own.port = cm_node_port(node)
        stranger = cm_caller_open(&own)
        holds(stranger != nil, "there is a stranger")
    }

    func run(_ bytes: [UInt8]) {
        begin()
        let before = counts
        let strangerBefore = cm_caller_counts(stranger).datagrams
        let readBefore = datagrams
        sent = 0
        var rest = bytes[...]
        while rest.count >= 3 {
            let (how, high, low) = (rest.removeFirst(), rest.removeFirst(), rest.removeFirst())
            let data = Array(rest.prefix(Int(high) << 8 | Int(low)))
            rest = rest.dropFirst(data.count)
            step(Step(rawValue: how & 7)!, data)
            settle(milliseconds: how >> 3 == 31 ? 3000 : UInt64(how >> 3) * 10)
        }
        let hasHeard = cm_caller_counts(stranger).datagrams != strangerBefore
        holds(!hasHeard || hasStrangerChecked, "a stranger gets nothing without a right check")
        judge(before, arrived: UInt64(datagrams - readBefore))
        end()
    }

    private func begin() {
        (hasStrangerChecked, isBorrowed) = (false, false)
        secrets = [:]
        restarts = Self.ids.map { _ in 0 }
        // Rates and silence of the input before are long over.
        now += 60_000_000
        for id in Self.ids {
            // The second one's source is not announced, so that its first packet decides. One slot: speakers compete.
            var member = cm_caller_member(
                id: id, channel: 1, is_web: false, is_ipv6: false, slots: 1, has_sources: id != 2,
                has_wrong_certificate: false, suite: id == 2 ? CM_SUITE_CM_128_SHA1_80 : CM_SUITE_GCM_128)
            var error: Int32 = 0
            let caller = cm_caller_join(node, &member, &error)
            holds(caller != nil, "a participant joins: \(error)")
            callers.append(caller)
            let digits = String(id)
            add("u" + pad(digits, 7), "p" + pad(digits, 23), owner: callers.count - 1)
            check(caller)
        }
        _ = cm_node_turn(node, 0)
        poll()
        holds(callers.allSatisfy { cm_caller_counts($0).answers == 1 }, "right checks are answered")
    }

    private func end() {
        for (id, caller) in zip(Self.ids, callers) {
            cm_node_remove(node, id)
            cm_caller_close(caller)
        }
        callers = []
    }

    // MARK: Steps

    private func step(_ step: Step, _ data: [UInt8]) {
        switch step {
        case .stranger: send(data, of: nil)
        case .rawOfFirst: send(data, of: 0)
        case .rawOfSecond: send(data, of: 1)
        case .audioOfFirst: seal(data, of: 0, isReport: false)
        case .audioOfSecond: seal(data, of: 1, isReport: false)
        case .reportOfFirst: seal(data, of: 0, isReport: true)
        case .reportOfSecond: seal(data, of: 1, isReport: true)
        case .act: act(data)
        }
    }

    private func send(_ data: [UInt8], of sender: Int?) {
        if let owner = owner(ofCheck: data), owner != sender {
            if sender == nil { hasStrangerChecked = true } else { isBorrowed = true }
        }
        // What the kernel refuses to send does not come.
        guard data.count <= 2000 else { return }
        cm_caller_send(sender.map { callers[$0] } ?? stranger, data, data.count)
        sent += 1
    }

    private func seal(_ data: [UInt8], of sender: Int, isReport: Bool) {
        if cm_caller_seal(callers[sender], data, data.count, isReport) { sent += 1 }
    }

    /// What participants do right, and what the program does.
    private func act(_ data: [UInt8]) {
        guard let what = data.first, data.count > 1 else { return }
        let index = Int(what >> 3) % callers.count
        switch what & 7 {
        case 0, 1, 2:
            if cm_caller_say(callers[index], data[1] & 127, 1) { sent += 1 }
        case 3: check(callers[index])
        case 4: cm_node_allow(node, UInt64(index + 1), UInt32(data[1] & 7))
        case 5:
            if cm_caller_report(callers[index], UInt64(data[1]) << 32) { sent += 1 }
        case 6: restart(index, midId: data[1] % 15)
        default: now += UInt64(data[1]) * 1000
        }
    }

    private func restart(_ index: Int, midId: UInt8) {
        var how = cm_caller_restart(has_new_certificate: false, ssrc: 0, opus: 0, mid_id: midId)
        // After silence the program has nothing to restart.
        guard cm_caller_restart(callers[index], node, UInt64(index + 1), &how) == 0 else { return }
        secrets = secrets.filter { $0.value.owner != index }
        restarts[index] += 1
        let before = "r\(restarts[index])-"
        add(before + String(index + 1), before + pad(String(index + 1), 20), owner: index)
        cm_caller_renew(callers[index])
        check(callers[index])
    }

    private func check(_ caller: OpaquePointer?) {
        var check = cm_caller_check(is_nominating: true, is_controlled: false, is_forged: false)
        cm_caller_check(caller, &check)
        sent += 1
    }

    private func settle(milliseconds: UInt64) {
        _ = cm_node_turn(node, 0)
        poll()
        guard milliseconds > 0 else { return }
        now += milliseconds * 1000
        _ = cm_node_turn(node, 0)
        poll()
    }

    private func poll() { for caller in callers + [stranger] { _ = cm_caller_poll(caller, 10_000) } }

    // MARK: What holds

    private func judge(_ before: cm_node_counts, arrived: UInt64) {
        let after = counts
        func dropped(_ reasons: [cm_drop]) -> UInt64 {
            reasons.reduce(0) { $0 + Self.dropped(after, $1) - Self.dropped(before, $1) }
        }
        let checks = after.checks - before.checks
        let audio = after.audio_sent - before.audio_sent
        let authentic = Self.ids.reduce(UInt64(0)) { sum, id in
            var counts = cm_participant_counts()
            holds(cm_node_participant_counts(node, id, &counts), "participants stay until they are removed")
            return sum + counts.packets_received
        }
        holds(after.packets_received - before.packets_received == sent, "all datagrams come")
        let read = dropped(Self.unread) + checks + authentic
        let isCounted = read <= sent && sent - read <= dropped([CM_DROP_SOURCE])
        holds(isCounted, "each datagram is read, or dropped and counted once")
        holds(dropped(Self.unused) <= authentic, "what is authentic is dropped once")
        holds(audio <= 2 * authentic, "a packet goes to each of the others once")
        holds(dropped([CM_DROP_PROTECT, CM_DROP_SEND]) == 0, "what is written can be encrypted and sent")
        let all = after.packets_sent - before.packets_sent
        holds(all == checks + audio + after.reports_sent - before.reports_sent, "nothing else is sent")
        holds(all == arrived, "what is sent arrives")
        if isBorrowed { return }
        for caller in callers { holds(cm_caller_counts(caller).forged == 0, "what comes is authentic") }
    }

    private var counts: cm_node_counts {
        var counts = cm_node_counts()
        cm_node_counts(node, &counts)
        return counts
    }

    /// What has come to all sockets.
    private var datagrams: UInt32 { (callers + [stranger]).reduce(0) { $0 + cm_caller_counts($1).datagrams } }

    private static func dropped(_ counts: cm_node_counts, _ reason: cm_drop) -> UInt64 {
        withUnsafeBytes(of: counts.dropped) { $0.bindMemory(to: UInt64.self)[Int(reason.rawValue)] }
    }

    /// Whose right check it is.
    private func owner(ofCheck data: [UInt8]) -> Int? {
        var stun = cm_stun()
        guard cm_stun_read(&stun, data, data.count), stun.kind == CM_STUN_REQUEST else { return nil }
        let start = Int(stun.ufrag_offset)
        guard let secret = secrets[Array(data[start..<(start + Int(stun.ufrag_size))])] else { return nil }
        return secret.password.withUnsafeBufferPointer { password in
            var known = cm_stun_secret(password: password.baseAddress, size: password.count, hmac: cm_hmac_sha1)
            return cm_stun_is_authentic(&stun, data, &known) ? secret.owner : nil
        }
    }

    private func add(_ ufrag: String, _ password: String, owner: Int) {
        secrets[Array(ufrag.utf8)] = (owner, Array(password.utf8))
    }

    private func pad(_ digits: String, _ count: Int) -> String {
        String(repeating: "0", count: count - digits.count) + digits
    }
}
