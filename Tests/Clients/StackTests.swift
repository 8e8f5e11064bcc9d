import Testing

/// Clients against a running stack, which all of them share, one test after the other.
@Suite(.serialized, .runningStack)
struct StackTests {}
