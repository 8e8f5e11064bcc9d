import ClusterState
import ServiceKit
import SignalingProtocol
import SignalingTokens
import WebSocketWire

extension FuzzTarget {
    /// Proofs of identity, and the names that Redis keys are built from.
    static let secrets = [
        FuzzTarget("tokens") { input in
            let texts = input.texts(4)
            guard let app = try? AppID(texts[1]), let account = try? Account(texts[2]) else { return }
            let now: Int64 = 1_700_000_000
            if let expiry = try? SignalingToken.check(
                texts[0], account: account, app: app, certificate: texts[3], now: now)
            {
                holds(expiry > now, "a token that is taken is not over")
                let made = SignalingToken.make(
                    account: account.rawValue, app: app, certificate: texts[3], expiry: expiry)
                holds(
                    (try? SignalingToken.check(made, account: account, app: app, certificate: texts[3], now: now))
                        == expiry,
                    "a token like it is taken")
            }
            let made = SignalingToken.make(account: account.rawValue, app: app, certificate: texts[3], expiry: now + 1)
            if made != texts[0] {
                holds(
                    (try? SignalingToken.check(
                        made, account: account, app: app, certificate: texts[3] + "x", now: now)) == nil,
                    "another certificate's token is not taken")
            }
            let issuer = DynamicKey.Issuer(app: app.rawValue, certificate: texts[3])
            for service in DynamicKey.Service.allCases {
                let grant = DynamicKey.Grant(service, channel: texts[2], uid: 7)
                if let key = try? DynamicKey.check(texts[0], for: grant, of: issuer, now: now) {
                    holds(key.expiry == 0 || key.expiry > now, "a key that is taken is not over")
                }
                for version in DynamicKey.Version.allCases {
                    let key = DynamicKey(
                        version: version, appID: app.rawValue, timestamp: now, random: 7, expiry: now + 1)
                    guard let made = try? key.text(for: grant, certificate: texts[3]) else { continue }
                    let read = try? DynamicKey.check(made, for: grant, of: issuer, now: now)
                    holds(read?.expiry == now + 1, "a key that is made is taken")
                }
            }
        },
        FuzzTarget("names") { input in
            let texts = input.texts(4)
            for text in texts {
                holds(PercentEscape.unescape(PercentEscape.escape(text)) == text, "an escaped text comes back")
                if let line = try? Line(wire: text) {
                    holds((try? Line(wire: line.wire)) == line, "a line's own text is that line")
                }
                _ = HTTPTarget.path(of: text)
                _ = WebSocketHandshake.accept(key: text)
            }
            guard let one = try? AppID(texts[0]), let other = try? AppID(texts[1]) else { return }
            if let first = try? Account(texts[2]), let second = try? Account(texts[3]) {
                let (left, right) = (UserKey(app: one, account: first), UserKey(app: other, account: second))
                holds((KeySpace.tag(left) == KeySpace.tag(right)) == (left == right), "users have keys of their own")
            }
            if let first = try? ChannelName(texts[2]), let second = try? ChannelName(texts[3]) {
                let (left, right) = (ChannelKey(app: one, name: first), ChannelKey(app: other, name: second))
                holds((KeySpace.tag(left) == KeySpace.tag(right)) == (left == right), "channels have keys of their own")
                if let account = try? Account(texts[2]) {
                    let user = UserKey(app: one, account: account)
                    holds(KeySpace.tag(user) != KeySpace.tag(left), "a user's keys are no channel's")
                }
            }
        },
    ]
}
