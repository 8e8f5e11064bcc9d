import ClusterState
import Foundation
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import ChannelStateServer
@testable import InvitationServer
@testable import PresenceServer

/// No function blocks Redis for more than 5 ms, even when the data it works on is at its bounds.
@Suite(.timeLimit(.minutes(2))) struct FunctionTimesTests {
    enum Library: String, CaseIterable {
        case messages, gateways, timers, streams, sessions, channels, memberships, calls, instances, api

        var library: RedisFunctionLibrary {
            switch self {
            case .messages: .messages
            case .gateways: .leases
            case .timers: .timers
            case .streams: .streams
            case .sessions: .presence
            case .channels: .channels
            case .memberships: .memberships
            case .calls: .calls
            case .instances: .instances
            case .api: .api
            }
        }

        /// Calls every function of the library with the most data that it may meet.
        func drive(_ times: FunctionTimes) async throws {
            switch self {
            case .messages: try await FunctionDrivers.messages(times)
            case .gateways: try await FunctionDrivers.gateways(times)
            case .timers: try await FunctionDrivers.timers(times)
            case .streams: try await FunctionDrivers.streams(times)
            case .sessions:
                try await FunctionDrivers.sessions(times)
                try await FunctionDrivers.userAttributes(times)
            case .channels:
                try await FunctionDrivers.members(times)
                try await FunctionDrivers.channelAttributes(times)
                try await FunctionDrivers.channelLife(times)
            case .memberships: try await FunctionDrivers.memberships(times)
            case .calls: try await FunctionDrivers.calls(times)
            case .instances: try await FunctionDrivers.instances(times)
            case .api: try await FunctionDrivers.api(times)
            }
        }
    }

    @Test(arguments: Library.allCases) func everyFunctionIsShort(_ library: Library) async throws {
        try await RedisScene.run(appendOnly: false, libraries: [library.library]) { scene in
            let times = try await FunctionTimes(scene.connection)
            try await library.drive(times)
            try await times.expectComplete(library.library)
        }
    }

    /// A library that is added to the cluster must be added here too.
    @Test func everyLibraryIsThere() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        var written: Set<String> = []
        for folder in ["Shared", "Services"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            for case let file as URL in files! where file.pathExtension == "lua" {
                let text = try String(contentsOf: file, encoding: .utf8)
                let names = text.matches(of: #/(?:register\w*\s*\(|function_name\s*=)\s*'(\w+)'/#)
                written.formUnion(names.map { String($0.output.1) })
            }
        }
        let libraries = Library.allCases.map(\.library)
        try await RedisScene.run(appendOnly: false, libraries: libraries) { scene in
            let functions = try await FunctionTimes.functions(of: "*", scene.connection)
            #expect(functions == written)
            #expect(functions.count >= 45)
        }
    }
}

/// Calls the functions of each library with data at its bounds.
enum FunctionDrivers {
    /// A name of the greatest length that a client may choose.
    static func long(_ name: String, _ number: Int = 0) -> String {
        let text = "\(name)-\(number)-"
        return text + String(repeating: "n", count: Limits.accountBytes - text.utf8.count)
    }

    /// The largest set of attributes that one owner may have.
    static var attributes: [Attribute] {
        get throws {
            let bytes = Limits.attributeBytesPerOwner / Limits.attributesPerOwner
            return try (0..<Limits.attributesPerOwner).map { number in
                let name = "name\(number)"
                return Attribute(
                    name: try AttributeName(name), value: String(repeating: "v", count: bytes - name.utf8.count))
            }
        }
    }

    static func pairs(_ attributes: [Attribute]) -> [RedisArgument] {
        attributes.flatMap { [.string($0.name.rawValue), .string($0.value)] }
    }

    /// Writes attributes into a hash, in several steps.
    static func put(_ attributes: [Attribute], at key: String, _ times: FunctionTimes) async throws {
        for start in stride(from: 0, to: attributes.count, by: 100) {
            let some = Array(attributes[start..<min(start + 100, attributes.count)])
            try await times.all([RedisCommand("HSET", arguments: [.string(key)] + pairs(some))])
        }
    }

    /// The attributes of one loading step, as many and as large as a step may have, apart from the lengths of names.
    static var step: [Attribute] {
        get throws {
            let bytes = AttributeSteps.bytes / AttributeSteps.count
            return try (0..<AttributeSteps.count).map { number in
                Attribute(
                    name: try AttributeName("name\(number)"),
                    value: String(repeating: "\(number % 10)", count: bytes - 8))
            }
        }
    }
}
