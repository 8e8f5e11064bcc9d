/// The name under which existing apps import the signaling SDK: the old interface, and everything of `SignalingClient`.
@_exported public import SignalingClient
