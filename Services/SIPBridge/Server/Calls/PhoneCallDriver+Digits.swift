internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics

/// The digits of one call, in both directions.
struct PhoneDigits {
    /// The largest number of steps that wait for the answer; further ones are refused.
    static let heldBound = 256

    /// How we send digits; nil before the answer.
    var way: PhoneMetrics.DigitTransport?
    /// The texts that wait for the answer.
    var held: [DTMFDigits] = []
    /// The digits that are sent by INFO.
    var queue = DialogInfoQueue()
    /// The timer for the pause between two digits.
    var pause: SIPTimer?
    /// Parses the peer's INFO requests.
    var receiver = DTMFInfoReceiver()
    private var peersWay: PhoneMetrics.DigitTransport?

    /// Whether a received digit counts. If the peer sends each press both ways, only those of the way that it used
    /// first count.
    mutating func admits(_ way: PhoneMetrics.DigitTransport) -> Bool {
        if peersWay == nil { peersWay = way }
        return peersWay == way
    }

    /// Stores a text until the answer.
    /// - Returns: false when too many are waiting.
    mutating func hold(_ digits: DTMFDigits) -> Bool {
        guard held.reduce(digits.steps.count, { $0 + $1.steps.count }) <= Self.heldBound else { return false }
        held.append(digits)
        return true
    }
}

extension PhoneCallDriver {
    /// Handles a user's message to the telephone: only digits have a meaning for it.
    func send(_ extra: String) {
        guard let text = CallExtraJSON.digits(extra) else {
            logger.debug("ignoring a message to a telephone: it contains no digits")
            return
        }
        do throws(DTMFError) {
            let digits = try DTMFDigits(text)
            if isOver { return }
            if self.digits.way == nil {
                guard self.digits.hold(digits) else { throw .full(bound: PhoneDigits.heldBound) }
            } else {
                try play(digits)
            }
        } catch {
            refuse("\(error)")
        }
    }

    /// Called when the call is answered: decides how digits are sent for the rest of the call, and sends those that
    /// waited.
    func mediaStarted(_ media: MediaSession) {
        digits.way =
            switch dialog?.trunk.dtmf {
            case .info: .info
            case .rfc4733: .event
            case .auto, nil: media.usesTelephoneEvent ? .event : .info
            }
        let held = digits.held
        digits.held = []
        for text in held {
            do throws(DTMFError) { try play(text) } catch { refuse("\(error)") }
        }
    }

    private func play(_ text: DTMFDigits) throws(DTMFError) {
        let count = text.steps.count { $0 != .pause }
        switch digits.way {
        case .event:
            guard let media else { throw .unavailable }
            try media.send(text) { [weak self] isPlayed in
                if isPlayed {
                    PhoneMetrics.shared.countSent(.event, count)
                } else {
                    self?.refuse("the call ended first")
                }
            }
        case .info, nil:
            perform(try digits.queue.enqueue(text))
        }
    }

    private func refuse(_ why: String) {
        PhoneMetrics.shared.digitsFailed.increment()
        logger.warning("could not send digits", metadata: ["why": "\(why)"])
    }

    private func perform(_ actions: [DialogInfoQueue.Action]) {
        for action in actions {
            switch action {
            case .send(let info): send(info)
            case .wait(let pause): wait(pause)
            case .digitFailed(let status):
                refuse(status.map { "INFO was answered with \($0)" } ?? "INFO was not answered")
            case .refused(let status): refuse("the telephone takes no digits by INFO: \(status)")
            }
        }
    }

    private func send(_ info: DTMFInfo) {
        guard isUp else { return }
        request("INFO", body: SIPBody(type: info.contentType, bytes: info.body)) { [self] result in
            let status = (try? result.get())?.status
            if let status, (200..<300).contains(status) { PhoneMetrics.shared.countSent(.info, 1) }
            perform(digits.queue.answered(status: status))
        }
    }

    private func wait(_ pause: Duration) {
        let timer =
            digits.pause
            ?? SIPTimer { [weak self] in
                guard let self else { return }
                perform(digits.queue.paused())
            }
        digits.pause = timer
        timer.start(after: pause)
    }
}
