/// The name under which existing apps import the signaling SDK: everything is in `SignalingClient`.
@_exported public import SignalingClient
