internal import CMediaNode

/// Why a datagram was not used, or not sent: `enum cm_drop`.
enum MediaDrop: String, CaseIterable, Sendable {
    case size, unknown
    case stunInvalid = "stun_invalid"
    case stunUnknownUfrag = "stun_unknown_ufrag"
    case stunForged = "stun_forged"
    case stunTaken = "stun_taken"
    case stranger, dtls
    case noKeys = "no_keys"
    case forged, replayed
    case tooOld = "too_old"
    case tooManySources = "too_many_sources"
    case source, invalid, rate
    case reportRate = "report_rate"
    case payloadType = "payload_type"
    case video, muted, slot, protect, send

    var code: cm_drop {
        switch self {
        case .size: CM_DROP_SIZE
        case .unknown: CM_DROP_UNKNOWN
        case .stunInvalid: CM_DROP_STUN_INVALID
        case .stunUnknownUfrag: CM_DROP_STUN_UNKNOWN_UFRAG
        case .stunForged: CM_DROP_STUN_FORGED
        case .stunTaken: CM_DROP_STUN_TAKEN
        case .stranger: CM_DROP_STRANGER
        case .dtls: CM_DROP_DTLS
        case .noKeys: CM_DROP_NO_KEYS
        case .forged: CM_DROP_FORGED
        case .replayed: CM_DROP_REPLAYED
        case .tooOld: CM_DROP_TOO_OLD
        case .tooManySources: CM_DROP_TOO_MANY_SOURCES
        case .source: CM_DROP_SOURCE
        case .invalid: CM_DROP_INVALID
        case .rate: CM_DROP_RATE
        case .reportRate: CM_DROP_REPORT_RATE
        case .payloadType: CM_DROP_PAYLOAD_TYPE
        case .video: CM_DROP_VIDEO
        case .muted: CM_DROP_MUTED
        case .slot: CM_DROP_SLOT
        case .protect: CM_DROP_PROTECT
        case .send: CM_DROP_SEND
        }
    }
}

/// What the loop tells of paths: `enum cm_node_event_kind`.
enum MediaHappening: String, CaseIterable, Sendable {
    case connected
    case consentLost = "consent_lost"
    case consentBack = "consent_back"
    case addressChanged = "address_changed"
    case dtlsFailed = "dtls_failed"
    case limit, dropped

    var code: cm_node_event_kind {
        switch self {
        case .connected: CM_EVENT_CONNECTED
        case .consentLost: CM_EVENT_CONSENT_LOST
        case .consentBack: CM_EVENT_CONSENT_BACK
        case .addressChanged: CM_EVENT_ADDRESS_CHANGED
        case .dtlsFailed: CM_EVENT_DTLS_FAILED
        case .limit: CM_EVENT_LIMIT
        case .dropped: CM_EVENT_DROPPED
        }
    }
}
