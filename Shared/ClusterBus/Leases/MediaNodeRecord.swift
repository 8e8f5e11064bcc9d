package import BusProtocol

/// What a media node tells gateways of itself.
package struct MediaNodeRecord: Equatable, Sendable {
    /// 0 to 1000: the greatest part of any of its bounds that is used.
    package var load: Int
    /// Whether it takes no further participants and is about to end.
    package var isDraining: Bool

    package init(load: Int, isDraining: Bool) {
        self.load = load
        self.isDraining = isDraining
    }
}

extension MediaNodeRecord: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            load: try fields.field("load", \.load), isDraining: try fields.field("draining", \.isDraining))
    }
}
