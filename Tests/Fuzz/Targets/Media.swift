import CMedia
import CMediaNode
import MediaLogic

extension FuzzTarget {
    /// What arrives at a media node's port, reports about packets, and offers of browsers.
    static let media = [
        FuzzTarget("rtp-packet") { input in
            input.atItsSize { data, size in
                switch cm_kind_of(data, size) {
                case CM_KIND_STUN: askBinding(data, size)
                case CM_KIND_DTLS: shakeHands(data, size)
                default: break
                }
                var vp8 = cm_vp8()
                if cm_vp8_read(&vp8, data, size) {
                    holds(Int(vp8.descriptor_size) <= size, "a descriptor is in its packet")
                }
                _ = cm_h264_is_key(data, size)
                var rtp = cm_rtp()
                guard cm_rtp_read(&rtp, data, size) else { return }
                holds(Int(rtp.payload_offset) + Int(rtp.payload_size) <= size, "a payload is in its packet")
                for id in UInt32(0)...256 {
                    var count: UInt8 = 0
                    guard let value = cm_rtp_extension(&rtp, data, id, &count) else { continue }
                    holds(value - data + Int(count) <= size, "an extension is in its packet")
                }
                holds(cm_opus_level(&rtp, data, 1) <= 127, "a level has seven bits")
                forward(&rtp, data)
            }
        },
        FuzzTarget("rtcp") { input in
            input.atItsSize { data, size in
                let isValid = cm_rtcp_is_valid(data, size)
                var position = 0
                var packet = cm_rtcp()
                while cm_rtcp_next(&packet, data, size, &position) {
                    for index in 0...UInt32(packet.items) {
                        _ = cm_rtcp_block(&packet, data, index)
                        _ = cm_rtcp_ssrc(&packet, data, index)
                        var (first, following): (UInt16, UInt16) = (0, 0)
                        cm_rtcp_nack(&packet, data, index, &first, &following)
                    }
                }
                holds(position <= size, "packets are in their compound")
                holds(
                    isValid || position < size || size == 0 || size > Int(CM_PACKET_SIZE), "a compound is its packets")
            }
        },
        FuzzTarget("media-datagrams") { input in MediaDatagrams.shared.run(input.bytes) },
        FuzzTarget("media-stream") { input in MediaStream().run(input.bytes) },
        FuzzTarget("media-offer") { input in
            guard let offer = try? MediaOffer(input.text, audioSlots: 2, videoSlots: 2) else { return }
            holds(offer.fingerprint.count == 32, "a fingerprint is whole")
            let slots = [MediaAnswer.Slot(ssrc: 1), MediaAnswer.Slot(ssrc: 2, retransmission: 3)]
            let answer = MediaAnswer(
                ufrag: "u", password: "p", fingerprint: offer.fingerprint,
                candidates: [MediaAnswer.Candidate(.udp, address: "192.0.2.1", port: 1)], audioSlots: slots,
                videoSlots: slots, name: "n")
            let read = try? SDPDescription(answer.text(to: offer))
            holds(read != nil, "an answer is a description")
            guard let read else { return }
            holds(read.sections.count == offer.sections.count, "an answer has the offer's sections")
            for (section, offered) in zip(read.sections, offer.sections) {
                holds(section.isRejected == (offered.role == .none), "a section is answered by its role")
            }
        },
    ]

    /// Answers a Binding message as if it were authentic.
    private static func askBinding(_ data: UnsafePointer<UInt8>, _ size: Int) {
        var stun = cm_stun()
        guard cm_stun_read(&stun, data, size) else { return }
        holds(Int(stun.ufrag_offset) + Int(stun.ufrag_size) <= size, "a ufrag is in its message")
        [UInt8](repeating: 1, count: 22).withUnsafeBufferPointer { password in
            var secret = cm_stun_secret(password: password.baseAddress, size: password.count, hmac: cm_hmac_sha1)
            _ = cm_stun_is_authentic(&stun, data, &secret)
            var address = cm_address()
            address.is_ipv6 = stun.transaction.0 & 1 == 1
            var out = [UInt8](repeating: 0, count: 200)
            let count = cm_stun_write_answer(&stun, &address, &secret, &out, out.count)
            holds(5 * count <= 6 * size, "an answer is no amplification")
            var answer = cm_stun()
            holds(count == 0 || cm_stun_read(&answer, out, count), "an answer is a message")
        }
    }

    /// Made once: the fuzzer has one thread.
    nonisolated(unsafe) private static let certificate = cm_dtls_context_make()

    /// A stranger's records to a new server, in two datagrams.
    private static func shakeHands(_ data: UnsafePointer<UInt8>, _ size: Int) {
        let fingerprint = [UInt8](repeating: 1, count: Int(CM_FINGERPRINT_SIZE))
        let server = cm_dtls_open(
            certificate, fingerprint,
            { _, data, size in holds(data != nil && size <= Int(CM_DTLS_MTU), "a datagram fits") }, nil)
        guard let server else { return }
        let first = size / 2
        for state in [
            cm_dtls_receive(server, data, size), cm_dtls_receive(server, data, first),
            cm_dtls_receive(server, data + first, size - first), cm_dtls_tick(server),
        ] {
            holds(state != CM_DTLS_DONE, "nobody is let in without a certificate")
        }
        cm_dtls_close(server)
    }

    /// Rewrites a packet, which must be one again.
    private static func forward(_ rtp: inout cm_rtp, _ data: UnsafePointer<UInt8>) {
        var slot = cm_slot()
        cm_slot_init(&slot, 1, 2, 90_000, false, 77)
        cm_slot_switch(&slot, 5, rtp.ssrc, 0)
        var format = cm_format()
        format.payload_types = (96, 255, 255, 255)
        format.rtx_payload_types = (97, 255, 255, 255)
        format.ids = cm_extension_ids(send_time: 1, mid: 2)
        format.mid_size = 16
        var out = [UInt8](repeating: 0, count: Int(CM_PACKET_SIZE))
        var count = 0
        guard cm_slot_write(&slot, &rtp, data, &format, 1000, &out, out.count, &count) == CM_SENT else { return }
        var again = cm_rtp()
        holds(cm_rtp_read(&again, out, count), "what is forwarded is a packet")
        holds(again.payload_size == rtp.payload_size && again.csrc_count == 1, "it has the payload, and one source")
        _ = cm_slot_resend(&slot, again.sequence, &rtp, data, &format, 2000, &out, out.count, &count)
    }
}

/// One source's packets as any network may bring them, four bytes each: sequence number, time that passed, what else
/// happens.
private final class MediaStream {
    private let slot = UnsafeMutablePointer<cm_slot>.allocate(capacity: 1)
    private let arrivals = UnsafeMutablePointer<cm_arrivals>.allocate(capacity: 1)
    private let reception = UnsafeMutablePointer<cm_reception>.allocate(capacity: 1)
    /// Made with the first switch: clearing 780 KB takes longer than all else.
    private var ring: UnsafeMutablePointer<cm_ring>?
    private var format = cm_format()
    private var out = [UInt8](repeating: 0, count: 1500)
    private let noPayload: [UInt8] = [0]
    private var sent: Set<Int> = []
    private var last = 0
    private var now: UInt64 = 1_000_000

    init() {
        slot.initialize(to: cm_slot())
        arrivals.initialize(to: cm_arrivals())
        reception.initialize(to: cm_reception())
        cm_slot_init(slot, 1, 2, 48_000, true, 3)
        cm_slot_switch(slot, 1, 9, 0)
    }

    deinit {
        slot.deallocate()
        arrivals.deallocate()
        reception.deallocate()
        ring?.deallocate()
    }

    func run(_ bytes: [UInt8]) {
        for (index, start) in stride(from: 0, to: bytes.count - 3, by: 4).enumerated() {
            let act = bytes[start + 3]
            var sequence = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            // Most packets come more or less in their order.
            if act & 1 != 0 { sequence = UInt16(truncatingIfNeeded: index) &+ sequence % 8 }
            now += UInt64(bytes[start + 2]) * (act & 2 == 0 ? 100 : 10_000)
            if act == 4 { change() }
            _ = cm_arrivals_put(arrivals, sequence, now)
            receive(sequence)
            if act == 6 { report(capacity: Int(bytes[start + 2]) * 5) }
        }
        report(capacity: 1500)
    }

    /// Gives the slot a source anew.
    private func change() {
        cm_slot_switch(slot, 1, 9, 0)
        if ring != nil { return }
        let made = UnsafeMutablePointer<cm_ring>.allocate(capacity: 1)
        // As a value it would not fit on the stack.
        UnsafeMutableRawPointer(made).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<cm_ring>.size)
        ring = made
    }

    private func receive(_ sequence: UInt16) {
        var rtp = cm_rtp()
        rtp.ssrc = 9
        rtp.sequence = sequence
        rtp.timestamp = UInt32(sequence) * 960
        _ = cm_ring_put(ring, sequence, noPayload, 1, now)
        let isFirst = slot.pointee.is_first
        if forward(&rtp), isFirst {
            var listed = 0
            while let kept = cm_ring_next(ring, rtp.sequence, now) {
                listed += 1
                holds(listed < 2 * Int(CM_RING_PACKETS), "a ring is listed once")
                rtp.sequence = kept.pointee.sequence
                rtp.timestamp = UInt32(rtp.sequence) * 960
                _ = forward(&rtp)
            }
            rtp.sequence = sequence
        }
        _ = cm_reception_put(reception, &rtp, 48_000, now)
        var missing = [UInt16](repeating: 0, count: Int(CM_MISSING))
        var hasLost = false
        holds(
            cm_reception_nack(reception, 30_000, now, &missing, &hasLost) <= UInt32(CM_MISSING), "losses are bounded")
        var block = cm_report_block()
        cm_reception_report(reception, &block)
    }

    /// Whether the slot has sent it.
    private func forward(_ rtp: inout cm_rtp) -> Bool {
        var count = 0
        let verdict = cm_slot_write(slot, &rtp, noPayload, &format, now, &out, out.count, &count)
        guard verdict == CM_SENT else { return false }
        // No step is greater than half of the numbers.
        last += Int(Int16(bitPattern: (UInt16(out[2]) << 8 | UInt16(out[3])) &- UInt16(truncatingIfNeeded: last)))
        holds(sent.insert(last).inserted, "no number is sent twice")
        return true
    }

    private func report(capacity: Int) {
        var count = 0
        out.withUnsafeMutableBufferPointer { buffer in
            var writer = cm_rtcp_writer(
                to: buffer.baseAddress, capacity: min(capacity, buffer.count), size: 0, is_full: false)
            _ = cm_arrivals_write(arrivals, &writer, 1, 2)
            count = writer.size
        }
        guard count > 0 else { return }
        var packet = cm_rtcp()
        var position = 0
        holds(
            cm_rtcp_next(&packet, out, count, &position) && packet.kind == CM_RTCP_TRANSPORT && position == count,
            "feedback is feedback")
    }
}

extension FuzzInput {
    /// Calls with the bytes in memory of exactly their size, so that a read beyond them is noticed.
    fileprivate func atItsSize(_ body: (UnsafePointer<UInt8>, Int) -> Void) {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        defer { copy.deallocate() }
        copy.initialize(from: bytes, count: bytes.count)
        body(copy, bytes.count)
    }
}
