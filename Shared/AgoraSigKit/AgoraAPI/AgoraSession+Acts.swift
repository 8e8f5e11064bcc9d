internal import CAgoraEcode
internal import Foundation
internal import NIOConcurrencyHelpers
internal import SignalingClient
internal import SignalingProtocol
internal import SignalingWire

/// The methods of ``AgoraAPI``, and the callbacks that report their results.
extension AgoraSession {
    // MARK: - Users

    func queryUserStatus(_ account: String) {
        call("queryUserStatus", "user_query_user_status", [JSONMember("account", account)]) { [self] json in
            let status = json["status"]?.isTrue == true ? "1" : "0"
            callbacks.tell { $0.onQueryUserStatusResult?(account, status) }
        }
    }

    func setAttribute(_ name: String, _ value: String) {
        call("setAttr", "user_set_attr", [JSONMember("name", name), JSONMember("value", value)])
    }

    /// - Parameter account: nil for this user.
    func getAttribute(_ title: String, _ account: String?, _ name: String) {
        let account = account ?? state.withLockedValue { $0.account }
        let arguments = [JSONMember("account", account), JSONMember("name", name)]
        call(title, "user_get_attr", arguments) { [self] json in
            let value = json["value"]?.textOrCompact ?? ""
            callbacks.tell { $0.onUserAttrResult?(account, name, value) }
        }
    }

    /// - Parameter account: nil for this user.
    func getAttributes(_ title: String, _ account: String?) {
        let account = account ?? state.withLockedValue { $0.account }
        call(title, "user_get_attr_all", [JSONMember("account", account)]) { [self] json in
            let text = json["json"]?.string ?? "{}"
            callbacks.tell { $0.onUserAttrAllResult?(account, text) }
        }
    }

    // MARK: - Messages

    func sendMessage(_ account: String, _ text: String, _ id: String) {
        send("user_sendmsg", SignalingClient.instantMessage(text, to: account, id: SignalingClient.makeMessageID()), id)
    }

    func sendToChannel(_ channel: String, _ text: String, _ id: String, force: Bool) {
        let key = SignalingClient.makeMessageID()
        send("channel_sendmsg", SignalingClient.channelMessage(text, to: channel, force: force, id: key), id)
    }

    /// - Parameter id: the app's id of the message, which need not be unique; when empty, one is generated.
    func send(_ function: String, _ arguments: [JSONMember], _ id: String) {
        let id = id.isEmpty ? SignalingClient.makeMessageID() : id
        call(function, arguments) { [self] result in
            switch result {
            case .success: callbacks.tell { $0.onMessageSendSuccess?(id) }
            case .failure(let error):
                let code = error.code.ecode(within: 400...401, else: .SENDMESSAGE_E_OTHER)
                callbacks.tell { $0.onMessageSendError?(id, code) }
            }
        }
    }

    // MARK: - Channels

    func join(_ channel: String) {
        call("channel_join", [JSONMember("name", channel)]) { [self] result in
            switch result {
            case .failure(let error):
                let code = error.code.ecode(within: 300...300, else: .JOINCHANNEL_E_OTHER)
                callbacks.tell { $0.onChannelJoinFailed?(channel, code) }
            case .success(let json):
                state.withLockedValue { $0.channel = channel }
                let members = json["list"]?.members ?? []
                callbacks.tell { $0.onChannelJoined?(channel) }
                callbacks.tell { table in
                    let accounts = NSMutableArray(array: members.map(\.account))
                    let uids = NSMutableArray(array: members.map { NSNumber(value: Int($0.uid)) })
                    table.onChannelUserList?(accounts, uids)
                }
                for (name, value) in json["attrs"]?.texts.sorted(by: { $0.key < $1.key }) ?? [] {
                    callbacks.tell { $0.onChannelAttrUpdated?(channel, name, value, "update") }
                }
            }
        }
    }

    func leave(_ channel: String) {
        call("channel_leave", [JSONMember("name", channel)]) { [self] result in
            switch result {
            case .success:
                state.withLockedValue { if $0.channel == channel { $0.channel = nil } }
                callbacks.tell { $0.onChannelLeaved?(channel, .LEAVECHANNEL_E_BYUSER) }
            case .failure(let error):
                let code = error.code.ecode(within: 600...604, else: .LEAVECHANNEL_E_OTHER)
                callbacks.tell { $0.onChannelLeaved?(channel, code) }
            }
        }
    }

    func countMembers(_ channel: String) {
        call("channel_query_num", [JSONMember("name", channel)]) { [self] result in
            switch result {
            case .success(let json):
                let number = Int32(clamping: json["num"]?.integer ?? 0)
                callbacks.tell { $0.onChannelQueryUserNumResult?(channel, .SUCCESS, number) }
            case .failure(let error):
                let code = error.code.ecode(within: 500...501, else: .QUERYUSERNUM_E_OTHER)
                callbacks.tell { $0.onChannelQueryUserNumResult?(channel, code, 0) }
            }
        }
    }

    func queryMember(_ channel: String, _ account: String) {
        let arguments = [JSONMember("name", channel), JSONMember("account", account)]
        call("channelQueryUserIsIn", "channel_query_user_isin", arguments) { [self] json in
            let isIn: Int32 = json["isin"]?.isTrue == true ? 1 : 0
            callbacks.tell { $0.onChannelQueryUserIsIn?(channel, account, isIn) }
        }
    }

    func changeAttribute(_ title: String, _ function: String, _ channel: String, name: String?, value: String?) {
        var arguments = [JSONMember("channel", channel)]
        if let name { arguments.append(JSONMember("name", name)) }
        if let value { arguments.append(JSONMember("value", value)) }
        call(title, function, arguments)
    }

    // MARK: - Calls

    func invite(_ channel: String, _ account: String, uid: UInt32, extra: String) {
        state.withLockedValue { $0.calls.invited(account, to: channel, uid: uid) }
        let arguments = SignalingClient.callArguments(channel: channel, peer: account, extra: extra)
        call("voip_invite", arguments) { [self] result in
            guard case .failure(let error) = result else { return }
            // 701: the invitation is already pending and goes on.
            if error.code != .inviteReinvite { state.withLockedValue { $0.calls.ended(account, in: channel) } }
            let code = error.code.ecode(within: 700...705, else: .INVITE_E_OTHER)
            callbacks.tell { $0.onInviteFailed?(channel, account, uid, code, extra) }
        }
    }

    func answer(_ title: String, _ verb: String, _ channel: String, _ account: String, extra: String) {
        call(title, verb, SignalingClient.callArguments(channel: channel, peer: account, extra: extra))
    }

    func end(_ channel: String, _ account: String, uid: UInt32) {
        let arguments = SignalingClient.callArguments(channel: channel, peer: account, extra: "")
        call("voip_invite_bye", arguments) { [self] result in
            if case .failure(let error) = result, error.code == .notLoggedIn {
                return callbacks.tell { $0.onError?("channelInviteEnd", .GENERAL_E_NOT_LOGIN, error.message) }
            }
            // Also when the peer has ended the call a moment earlier: this side regards it as over.
            state.withLockedValue { $0.calls.ended(account, in: channel) }
            callbacks.tell { $0.onInviteEndByMyself?(channel, account, uid) }
        }
    }

    /// Sends digits for the obsolete method that identifies the peer by its number.
    func sendDTMF(uid: UInt32, _ digits: String, _ id: String) {
        guard let entry = state.withLockedValue({ $0.calls.latest(uid: uid) }) else {
            let id = id.isEmpty ? SignalingClient.makeMessageID() : id
            return callbacks.tell { $0.onMessageSendError?(id, .SENDMESSAGE_E_OTHER) }
        }
        send(
            "voip_invite_msg",
            SignalingClient.callArguments(
                channel: entry.channel, peer: entry.peer, extra: SignalingClient.dtmf(digits)), id)
    }

    // MARK: - Any function

    func invoke(_ name: String, _ request: String, _ id: String) {
        let prefix = "io.agora.signal."
        let function = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        guard case .object(let members)? = try? JSONValue.parse((request.isEmpty ? "{}" : request).utf8),
            // The client itself polls and logs out; a call of the app would take away its messages or its session.
            function != "user_getmsg", function != "user_logout"
        else {
            let error = SignalingError(.wrongParameter, .invalidArguments, "req must be a JSON object")
            return callbacks.tell { $0.onInvokeRet?(id, String(error.code.rawValue), error.invokeAnswer) }
        }
        call(function, members.filter { $0.name != "line" }) { [self] result in
            switch result {
            case .success(let json):
                let text = json.compactText
                callbacks.tell { $0.onInvokeRet?(id, "", text) }
            case .failure(let error):
                callbacks.tell { $0.onInvokeRet?(id, String(error.code.rawValue), error.invokeAnswer) }
            }
        }
    }
}

extension SignalingError {
    /// The answer in the form of the arguments of `onInvokeRet`.
    fileprivate var invokeAnswer: String {
        JSONValue.object([
            JSONMember("result", "failed"), JSONMember("reason", reason.rawValue),
            JSONMember("code", code.rawValue),
        ]).compactText
    }
}
