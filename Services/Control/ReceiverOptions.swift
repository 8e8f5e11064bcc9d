internal import ArgumentParser
internal import BusProtocol

/// Where an app's server takes requests, and how they are signed.
struct ReceiverOptions: ParsableArguments {
    @Argument(help: "Where requests are posted to: an http or https URL without user and fragment.")
    var url: String

    @OptionGroup var secret: SecretOptions

    @Flag(inversion: .prefixedNo, help: "The URL may lead into private networks.")
    var allowPrivate: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "The URL may lead to the loopback addresses of the machine that makes the requests.")
    var allowLoopback: Bool?

    func validate() throws {
        guard WebhookURL(url) != nil else {
            throw ValidationError(
                "URL must be an http or https URL of up to \(WebhookURL.maxBytes) bytes, without user and fragment")
        }
    }

    /// The URL.
    /// - Throws: ``Failure`` when it is not valid.
    func address() throws -> WebhookURL {
        guard let url = WebhookURL(url) else { throw Failure.refused("the URL is invalid") }
        return url
    }
}
