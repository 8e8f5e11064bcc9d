/// The reasons that no gateway sends to a client, and so are not on the page, each with why.
enum ReasonTable {
    private static let ofTheClient = "made by the client library itself"
    private static let ofTheCluster = "only between the cluster's processes"
    private static let ofKeys = "only programs that make dynamic keys are told"
    private static let checkedTwice = "a service checks again what the gateway has refused already"

    static let neverSent = [
        "replaced": "the gateway closes the connection with `kick` instead",
        "malformed": "the gateway closes the connection with 1007 instead",
        "extra_too_large": checkedTwice, "invalid_peer": checkedTwice, "value_too_large": checkedTwice,
        "invalid_discovery": ofTheClient, "network": ofTheClient, "interrupted": ofTheClient, "cancelled": ofTheClient,
        "logged_out": ofTheClient, "logout": ofTheClient, "closed": ofTheClient, "queue_full": ofTheClient,
        "failed": ofTheClient, "bad_event": ofTheCluster, "wrong_verb": ofTheCluster, "unknown_key": ofTheCluster,
        "value_differs": "only apps' servers say which value they expect",
        "cluster_level": "only apps' servers send commands that are so new",
        "not_banned": "only apps' servers ask for bans", "too_many_bans": "only apps' servers ban users",
        "too_many_keys": "only operators' servers make keys",
        "settings_changed": "only operators' servers change settings",
        "unknown_process": "only operators' servers drain processes",
        "no_such_member": "only apps' servers remove members", "invalid_key_parts": ofKeys,
    ]
}
