internal import CMediaNode
internal import SignalingProtocol

/// The keys between an engine and the node: X25519 of both, HKDF with the participant's id as salt.
struct EngineKeys: Sendable {
    /// What the engine sends with, and what it is sent with.
    let keys: cm_media_keys
    /// The node's key of this participant, in base64.
    let publicKey: String

    /// - Parameter text: the engine's public key in base64.
    /// - Throws: ``MediaRefusal/invalidArguments`` for a key that is none, or whose secret everybody knows;
    ///   ``MediaRefusal/refused`` when the system has no random numbers.
    init(_ text: String, of pid: ParticipantID) throws(MediaRefusal) {
        guard let peer = Base64.bytes(Substring(text)), peer.count == Int(CM_X25519_SIZE) else {
            throw .invalidArguments
        }
        var pair = cm_key_pair()
        defer { cm_forget(&pair, MemoryLayout<cm_key_pair>.size) }
        guard cm_key_pair_make(&pair) else { throw .refused }
        var keys = cm_media_keys()
        let salt = Array(pid.rawValue.utf8)
        let isDerived = salt.withUnsafeBufferPointer { salt in
            cm_keys_derive(&keys, CM_SUITE_GCM_128, &pair, peer, cm_bytes(data: salt.baseAddress, size: salt.count))
        }
        guard isDerived else { throw .invalidArguments }
        self.keys = keys
        publicKey = Base64.text(withUnsafeBytes(of: pair.public_key) { Array($0) })
    }
}
