/// What is to be played in the next 20 ms of a slot.
package enum PlayoutFrame: Sendable, Hashable {
    /// Nothing: no stream has begun, or its first packet has not waited long enough.
    case nothing
    /// The frame of that packet. `isFirst`: of a stream that begins here, for which the decoder begins anew.
    case packet(AudioPacket, isFirst: Bool)
    /// The frame is lost; the packet after it is here and may carry a copy (in-band FEC, RFC 6716 section 2.1.7). That
    /// packet is the one to be played next, and is given again then.
    case recover(from: AudioPacket)
    /// The frame is lost, or late: the decoder invents a likely one.
    case conceal
    /// As `conceal`, but falling to silence within the frame: 100 ms have been invented, more would hum.
    case fade
    /// The frame is lost, and so were those before it: silence.
    case silence
}
