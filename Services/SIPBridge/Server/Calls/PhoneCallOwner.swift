/// What a call needs from the owner of all calls.
@SIPThread
protocol PhoneCallOwner: AnyObject {
    /// Looks up the trunk of a call and prepares the call, when its turn comes.
    func prepareLater(_ leg: OutboundLeg)
    /// Sends the messages of a call to the invitation service, when their turn comes.
    func sendReportsLater(of driver: PhoneCallDriver)
    /// Records that a call has ended.
    func ended(_ driver: PhoneCallDriver)
    /// Forgets a call: no message of its dialog is expected any more.
    func forget(_ driver: PhoneCallDriver)
}
