import Testing

/// The suites of clients against a running stack, which they share one after the other.
@Suite(.serialized, .runningStack)
struct StackTests {}
