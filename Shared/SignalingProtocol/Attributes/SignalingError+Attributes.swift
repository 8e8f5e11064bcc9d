extension SignalingError {
    /// A user or channel would have more attributes than it may; nothing was changed.
    /// - Parameter owner: `user` or `channel`.
    package static func tooManyAttributes(of owner: String) -> SignalingError {
        let (count, bytes) = (Limits.attributesPerOwner, Limits.attributeBytesPerOwner)
        return SignalingError(
            .largeParameter, .tooManyAttributes,
            "a \(owner) has at most \(count) attributes, with \(bytes) bytes of names and values in all")
    }
}
