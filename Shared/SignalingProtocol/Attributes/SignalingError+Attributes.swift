extension SignalingError {
    /// The attribute is not as the app's server expected; nothing was changed.
    package static let valueDiffers = SignalingError(
        .wrongParameter, .valueDiffers, "the attribute has another value than expected")

    /// The change would exceed the largest number or size of a user's or channel's attributes; nothing was changed.
    /// - Parameter owner: `user` or `channel`.
    package static func tooManyAttributes(of owner: String) -> SignalingError {
        let (count, bytes) = (Limits.attributesPerOwner, Limits.attributeBytesPerOwner)
        return SignalingError(
            .largeParameter, .tooManyAttributes,
            "a \(owner) may have up to \(count) attributes, with \(bytes) bytes of names and values in all")
    }
}
