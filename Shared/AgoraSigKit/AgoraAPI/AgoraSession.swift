internal import CAgoraEcode
internal import Foundation
internal import NIOConcurrencyHelpers
internal import SignalingClient
internal import SignalingProtocol
internal import SignalingWire

/// The implementation of ``AgoraAPI``: runs one login after another and turns their answers and events into callbacks.
final class AgoraSession: Sendable {
    struct State {
        var client: ClientHandle?
        var status = ClientStatus.loggedOut
        /// Counts the logins; events of earlier logins are recognised by it and dropped.
        var generation = 0
        var account = ""
        var uid: UInt32 = 0
        var channel: String?
        var isLoggingOut = false
        /// The login to start when the logout is done.
        var pendingLogin: ClientConfiguration?
        var calls = AgoraCalls()
    }

    let callbacks = AgoraCallbacks()
    let state = NIOLockedValueBox(State())

    // MARK: - Login and logout

    func login(_ configuration: ClientConfiguration?) {
        guard let configuration else {
            callbacks.log("login: no cluster URL; set HELIOGRAPH_URL or call AgoraAPI.configure(discovery:)")
            return callbacks.tell { $0.onLoginFailed?(.LOGIN_E_NET) }
        }
        let isIgnored = state.withLockedValue { state in
            guard state.client != nil else {
                begin(configuration, &state)
                return false
            }
            guard state.isLoggingOut else { return true }
            state.pendingLogin = configuration
            state.status = .loggingIn
            return false
        }
        callbacks.log(isIgnored ? "login ignored: logged in already" : "login: account \(configuration.account)")
        if isIgnored { callbacks.tell { $0.onError?("login", .LOGIN_E_ALREADY_LOGIN, "logged in already") } }
    }

    private func begin(_ configuration: ClientConfiguration, _ state: inout State) {
        state.generation += 1
        state.isLoggingOut = false
        state.pendingLogin = nil
        state.status = .loggingIn
        state.account = configuration.account
        state.channel = nil
        state.calls = AgoraCalls()
        let generation = state.generation
        let client = ClientHandle(configuration: configuration) { [weak self] in self?.happened($0, generation) }
        state.client = client
        client.start()
    }

    func logout() {
        let wasLoggedIn = state.withLockedValue { state in
            guard let client = state.client else { return false }
            state.pendingLogin = nil
            state.status = .loggedOut
            if !state.isLoggingOut { client.logOut() }
            state.isLoggingOut = true
            return true
        }
        callbacks.log("logout")
        if !wasLoggedIn { callbacks.tell { $0.onLogout?(.LOGOUT_E_ALREADY_LOGOUT) } }
    }

    /// Logs out and forgets the callbacks, so that nothing is reported any more.
    func destroy() {
        state.withLockedValue { state in
            state.client?.logOut()
            let generation = state.generation
            state = State()
            state.generation = generation + 1
        }
        callbacks.clear()
    }

    /// Called when the client has ended: starts the login that was waiting for that, if any.
    private func ended(_ state: inout State) {
        state.client = nil
        state.status = .loggedOut
        state.isLoggingOut = false
        if let next = state.pendingLogin { begin(next, &state) }
    }

    // MARK: - Events

    private func happened(_ event: SignalingEvent, _ generation: Int) {
        let (client, told) = state.withLockedValue { state -> (ClientHandle?, [SignalingEvent.Callback]) in
            guard generation == state.generation else { return (nil, []) }
            let client = state.client
            return (client, event.callbacks(note(event, &state)))
        }
        switch event {
        case .loggedIn, .loginFailed, .reconnecting, .reconnected, .loggedOut: callbacks.log(event.logText)
        case .message, .channelMessage, .memberJoined, .memberLeft, .channelAttribute, .channelLeft, .call: break
        }
        for body in told { callbacks.tell(body) }
        callbacks.afterwards { client?.consumed(1) }
    }

    /// Updates the state after an event.
    /// - Returns: the part of the state before the event that the callbacks depend on.
    private func note(_ event: SignalingEvent, _ state: inout State) -> SignalingEvent.PriorState {
        let before = SignalingEvent.PriorState(channel: state.channel, isLoggingOut: state.isLoggingOut)
        switch event {
        case .loggedIn(let uid):
            state.uid = uid
            if !state.isLoggingOut { state.status = .online }
        case .reconnecting: if !state.isLoggingOut { state.status = .reconnecting }
        case .reconnected: if !state.isLoggingOut { state.status = .online }
        case .loginFailed, .loggedOut:
            state.channel = nil
            ended(&state)
        case .channelLeft: state.channel = nil
        case .call(let call): state.calls.note(call)
        case .message, .channelMessage, .memberJoined, .memberLeft, .channelAttribute: break
        }
        return before
    }

    // MARK: - Calls

    /// Calls a function of the gateway. The completion is called on the event loop, in order with the events.
    func call(
        _ function: String, _ arguments: [JSONMember],
        _ completion: @escaping @Sendable (Result<JSONValue, SignalingError>) -> Void
    ) {
        let client = state.withLockedValue { $0.isLoggingOut ? nil : $0.client }
        guard let client else {
            let error = SignalingError(.notLoggedIn, .notLoggedIn, "log in before calling functions")
            return completion(.failure(error))
        }
        client.call(function, arguments, completion)
    }

    /// Calls a function of the gateway; a failure goes to `onError`.
    func call(
        _ name: String, _ function: String, _ arguments: [JSONMember],
        _ success: @escaping @Sendable (JSONValue) -> Void = { _ in }
    ) {
        call(function, arguments) { [self] result in
            switch result {
            case .success(let json): success(json)
            case .failure(let error):
                callbacks.tell { $0.onError?(name, error.code.ecode, "\(error.reason): \(error.message)") }
            }
        }
    }
}

extension SignalingCode {
    /// The code in the old framework's type.
    var ecode: AgoraEcode { AgoraEcode(rawValue: UInt(rawValue)) ?? .GENERAL_E_UNKNOWN }

    /// The code if it belongs to this method or names a mistake in the call; otherwise `other`.
    func ecode(within codes: ClosedRange<Int>, else other: AgoraEcode) -> AgoraEcode {
        switch self {
        case .notLoggedIn, .wrongParameter, .largeParameter, .invalidUser: ecode
        default: codes.contains(rawValue) ? ecode : other
        }
    }
}
