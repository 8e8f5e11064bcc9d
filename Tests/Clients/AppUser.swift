import AgoraSigKit
import Foundation
import Synchronization
import TestKit

/// An app's object around ``AgoraAPI`` that records every callback.
final class AppUser: Sendable {
    let api: AgoraAPI
    let account: String
    private let seen = Seen()

    /// The callbacks so far, each as `name argument argument...`, and whether two ran at the same time.
    final class Seen: Sendable {
        let lines = Mutex<[String]>([])
        let inside = Mutex(0)
        let overlapped = Mutex(false)
        let threads = Mutex<Set<pthread_t>>([])

        func add(_ name: String, _ arguments: Any?...) {
            if inside.withLock({
                $0 += 1; return $0
            }) > 1 {
                overlapped.withLock { $0 = true }
            }
            threads.withLock { _ = $0.insert(pthread_self()) }
            let words = arguments.map { $0.map { "\($0)" } ?? "nil" }
            lines.withLock { $0.append(([name] + words).joined(separator: " ")) }
            inside.withLock { $0 -= 1 }
        }
    }

    init(_ name: String, app: String, exactly: Bool = false) {
        account = exactly ? name : unique(name)
        api = AgoraAPI.createSigInstance(app)
        listenToSession()
        listenToChannels()
        listenToInvitations()
        listenToMessages()
        listenToAnswers()
    }

    private func listenToSession() {
        let seen = seen
        api.onReconnecting = { seen.add("onReconnecting", $0) }
        api.onReconnected = { _ in seen.add("onReconnected") }
        api.onLoginSuccess = { _, _ in seen.add("onLoginSuccess") }
        api.onLogout = { seen.add("onLogout", $0.rawValue) }
        api.onLoginFailed = { seen.add("onLoginFailed", $0.rawValue) }
        api.onLog = { seen.add("onLog", $0) }
        api.onError = { name, code, _ in seen.add("onError", name, code.rawValue) }
    }

    private func listenToChannels() {
        let seen = seen
        api.onChannelJoined = { seen.add("onChannelJoined", $0) }
        api.onChannelJoinFailed = { seen.add("onChannelJoinFailed", $0, $1.rawValue) }
        api.onChannelLeaved = { seen.add("onChannelLeaved", $0, $1.rawValue) }
        api.onChannelUserJoined = { account, _ in seen.add("onChannelUserJoined", account) }
        api.onChannelUserLeaved = { account, _ in seen.add("onChannelUserLeaved", account) }
        api.onChannelUserList = { accounts, uids in
            // Apps cast the arrays to these types.
            let names = accounts as! [String]
            let numbers = uids as! [Int]
            seen.add("onChannelUserList", names.joined(separator: ","), numbers.count, numbers.allSatisfy { $0 > 0 })
        }
        api.onChannelQueryUserNumResult = { seen.add("onChannelQueryUserNumResult", $0, $1.rawValue, $2) }
        api.onChannelQueryUserIsIn = { seen.add("onChannelQueryUserIsIn", $0, $1, $2) }
        api.onChannelAttrUpdated = { seen.add("onChannelAttrUpdated", $0, $1, $2, $3) }
    }

    private func listenToInvitations() {
        let seen = seen
        api.onInviteReceived = { channel, account, _, extra in seen.add("onInviteReceived", channel, account, extra) }
        api.onInviteReceivedByPeer = { channel, account, _ in seen.add("onInviteReceivedByPeer", channel, account) }
        api.onInviteAcceptedByPeer = { channel, account, _, extra in
            seen.add("onInviteAcceptedByPeer", channel, account, extra)
        }
        api.onInviteRefusedByPeer = { channel, account, _, extra in
            seen.add("onInviteRefusedByPeer", channel, account, extra)
        }
        api.onInviteFailed = { channel, account, _, code, _ in
            seen.add("onInviteFailed", channel, account, code.rawValue)
        }
        api.onInviteEndByPeer = { channel, account, _, _ in seen.add("onInviteEndByPeer", channel, account) }
        api.onInviteEndByMyself = { channel, account, _ in seen.add("onInviteEndByMyself", channel, account) }
        api.onInviteMsg = { channel, account, _, type, data, _ in
            seen.add("onInviteMsg", channel, account, type, data)
        }
    }

    private func listenToMessages() {
        let seen = seen
        api.onMessageSendError = { seen.add("onMessageSendError", $0, $1.rawValue) }
        api.onMessageSendSuccess = { seen.add("onMessageSendSuccess", $0) }
        api.onMessageInstantReceive = { account, _, text in seen.add("onMessageInstantReceive", account, text) }
        api.onMessageChannelReceive = { channel, account, _, text in
            seen.add("onMessageChannelReceive", channel, account, text)
        }
    }

    private func listenToAnswers() {
        let seen = seen
        api.onInvokeRet = { seen.add("onInvokeRet", $0, $1, $2) }
        api.onQueryUserStatusResult = { seen.add("onQueryUserStatusResult", $0, $1) }
        api.onUserAttrResult = { seen.add("onUserAttrResult", $0, $1, $2) }
        api.onUserAttrAllResult = { seen.add("onUserAttrAllResult", $0, $1) }
    }

    var lines: [String] { seen.lines.withLock { $0 } }
    /// Whether two callbacks ran at the same time.
    var overlapped: Bool { seen.overlapped.withLock { $0 } }

    /// The callbacks of this name so far.
    func calls(_ name: String) -> [String] { lines.filter { $0 == name || $0.hasPrefix(name + " ") } }

    /// Waits until a callback has come so many times.
    func sees(_ line: String, times: Int = 1) async throws {
        try await waitUntil("\(account): \(line)") {
            let count = lines.filter { $0 == line || $0.hasPrefix(line + " ") }.count
            return count >= times ? nil : "saw \(lines.suffix(8))"
        }
    }

    func login(_ token: String = "_no_need_token", app: String? = nil) {
        api.login(app, account: account, token: token, uid: 0, deviceID: nil)
    }

    /// Begins to log in.
    /// - Returns: whether anything was called back before `login` returned, on its own stack.
    func isCalledBackWithinLogin() -> Bool {
        let caller = pthread_self()
        login()
        return seen.threads.withLock { $0.contains(caller) }
    }

    /// Logs in and waits.
    func loggedIn() async throws -> AppUser {
        login()
        try await sees("onLoginSuccess")
        return self
    }

    /// Logs out and waits.
    func leaves() async throws {
        api.logout()
        try await sees("onLogout")
    }
}
