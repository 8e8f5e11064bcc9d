/// The request of the server API that has caused an event, as webhooks tell it.
package struct EventRequest: Equatable, Sendable, FieldRecord {
    /// The request's id: what its answer had as `X-Request-Id`.
    package var id: String
    /// The request's trace id (W3C Trace Context): 32 lower-case hexadecimal digits; nil when it is not known.
    package var trace: String?

    /// Nil where no request is known: of what clients, operators and timers do.
    package init?(_ cause: CommandCause) {
        guard let request = cause.request else { return nil }
        id = request
        trace = cause.trace
    }

    private init(id: String, trace: String?) {
        self.id = id
        self.trace = trace
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(id: try fields.field("request", \.id), trace: try fields.optional("trace", \.trace))
    }
}
