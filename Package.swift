// swift-tools-version: 6.2
import PackageDescription

/// The path of clang's libFuzzer, set by `Scripts/fuzz`: our own modules are then built with coverage and the address
/// sanitizer, and the package contains the fuzzer's executable.
let fuzzer = Context.environment["HELIOGRAPH_LIBFUZZER"]

/// What the fuzzer's build adds for modules that read bytes from outside: coverage, the address sanitizer, and
/// optimization, so that more inputs are tried. A module as a whole takes a quarter less time than its files in
/// batches.
let fuzzed: [SwiftSetting] =
    fuzzer == nil
    ? [] : [.unsafeFlags(["-sanitize=fuzzer,address", "-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"])]

/// The same for modules of which only little is fuzzed: optimizing them takes longer than it saves.
let fuzzedInPart: [SwiftSetting] = fuzzer == nil ? [] : [.unsafeFlags(["-sanitize=fuzzer,address"])]

let plain: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let strict = plain + fuzzed

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioConcurrency: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let deques: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

/// The three targets of a service, in one folder: Logic decides without I/O, Server does the I/O, Main is the entry
/// point.
func service(
    _ name: String, logic: [Target.Dependency] = [], server: [Target.Dependency],
    main: [Target.Dependency] = ["ClusterService"], serverSettings: [SwiftSetting] = strict
) -> [Target] {
    [
        .target(
            name: "\(name)Logic", dependencies: ["BusProtocol", "SignalingProtocol"] + logic,
            path: "Services/\(name)/Logic",
            swiftSettings: strict),
        .target(
            name: "\(name)Server",
            dependencies: [
                .target(name: "\(name)Logic"), "BusProtocol", "ClusterState", "SignalingProtocol", "SignalingWire",
                "ServiceKit", "ServiceMetrics", logging, lifecycle,
            ]
                + server,
            path: "Services/\(name)/Server", swiftSettings: serverSettings),
        .executableTarget(
            name: "\(name)Main", dependencies: [.target(name: "\(name)Server"), "ServiceKit"] + main,
            path: "Services/\(name)/Main",
            swiftSettings: strict),
    ]
}

func unitTests(_ target: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(target)Tests", dependencies: [.target(name: target)] + dependencies,
        path: "Tests/Unit/\(target)Tests", swiftSettings: strict)
}

/// The macros with which libre itself was built, as far as its headers depend on them.
let libreSettings: [CSetting] =
    ["_GNU_SOURCE", "RELEASE", "HAVE_INTTYPES_H", "HAVE_STDBOOL_H", "HAVE_INET6", "USE_OPENSSL"].map { .define($0) }
    + (fuzzer == nil ? [] : [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])])

/// Trapping on undefined behaviour needs no library beside the address sanitizer's.
let mediaSettings: [CSetting] =
    fuzzer == nil
    ? [] : [.unsafeFlags(["-fsanitize=fuzzer-no-link,address,undefined", "-fsanitize-trap=undefined"])]

/// The micro-benchmarks; those of the servers are in C and Python (Benchmarks/README.md). Not a product: only
/// Benchmarks/run builds them.
let benchmarks: [Target] = [
    .target(name: "Allocations", path: "Benchmarks/Allocations"),
    .executableTarget(
        name: "Micro",
        dependencies: [
            "Allocations", "BusProtocol", "ClusterState", "SignalingProtocol", "SignalingWire", "WebSocketWire",
            "RedisClient",
            "GatewayAPILogic", "GatewayLogic", "Pacing",
            nioCore,
        ],
        path: "Benchmarks/Micro", swiftSettings: strict),
]

/// What the targets in Tests/Fuzz read inputs with.
let fuzzedModules: [Target.Dependency] = [
    "BusProtocol", "CFuzz", "CMedia", "CMediaNode", "CMediaPeer", "CRe", "ClusterBus", "ClusterState",
    "InvitationLogic", "InvitationServer", "MediaClient", "MediaEngineLogic", "MediaLogic", "Pacing", "RedisClient",
    "SIPBridgeLogic", "SIPBridgeServer", "ServiceKit", "SignalingClient", "SignalingProtocol", "SignalingTokens",
    "SignalingWire", "WebSocketWire", nioCore, nioConcurrency,
]

/// The targets in Tests/Fuzz: when `Scripts/fuzz` builds, with libFuzzer; else with the inputs that are kept, as tests.
let fuzzing: [Target] = [
    .target(name: "CFuzz", dependencies: ["CRe"], path: "Tests/Fuzz/C", cSettings: libreSettings),
    fuzzer.map { library in
        .executableTarget(
            name: "Fuzz", dependencies: fuzzedModules,
            path: "Tests/Fuzz", exclude: ["C", "corpus", "FuzzTests.swift"], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=address", library]), .linkedLibrary("stdc++")])
    }
        ?? .testTarget(
            name: "FuzzTests", dependencies: fuzzedModules, path: "Tests/Fuzz",
            exclude: ["C", "corpus", "Fuzz.swift"], swiftSettings: strict),
]

let package = Package(
    name: "heliograph",
    // The oldest systems that the client libraries support. SwiftPM has no platforms per product: the services use
    // newer API, but run on Linux only, and an app that depends on this package builds only the client libraries'
    // targets.
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .executable(name: "gateway", targets: ["GatewayMain"]),
        .executable(name: "presence", targets: ["PresenceMain"]),
        .executable(name: "channel-state", targets: ["ChannelStateMain"]),
        .executable(name: "invitation", targets: ["InvitationMain"]),
        .executable(name: "sip-bridge", targets: ["SIPBridgeMain"]),
        .executable(name: "webhooks", targets: ["WebhooksMain"]),
        .executable(name: "media", targets: ["MediaMain"]),
        .executable(name: "heliographctl", targets: ["Control"]),
        .executable(name: "client-echo", targets: ["ClientEcho"]),
        .library(name: "SignalingClient", targets: ["SignalingClient"]),
        .executable(name: "media-call", targets: ["MediaCall"]),
        .library(name: "AgoraSigKit", targets: ["AgoraSigKit"]),
        .library(name: "MediaClient", targets: ["MediaClient"]),
        .library(name: "AgoraRtcEngineKit", targets: ["AgoraRtcEngineKit"]),
        .executable(name: "old-media-app", targets: ["OldMediaApp"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Only its core: of its traits (reading its configuration from files, full Foundation) nothing is used.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        // Only for the media clients: SRTP where no library of the system can be linked.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .systemLibrary(name: "CHiredis", path: "Shared/CHiredis"),
        .systemLibrary(name: "CPostgres", path: "Shared/CPostgres"),
        .systemLibrary(name: "CCrypto", path: "Shared/CCrypto"),
        .systemLibrary(name: "COpus", path: "Shared/COpus"),
        .target(
            name: "CRe", path: "Shared/CRe",
            cSettings: libreSettings,
            linkerSettings: ["re", "ssl", "crypto"].map { .linkedLibrary($0) }),
        // Sends to many sockets by few system calls (Docs/decisions/0039-ring.md).
        .target(
            name: "CRing", path: "Shared/CRing",
            linkerSettings: [.linkedLibrary("uring", .when(platforms: [.linux]))]),
        // What happens per media packet, without sockets (Docs/decisions/0031-media-core.md).
        .target(name: "CMedia", path: "Shared/CMedia", cSettings: mediaSettings),
        // A media node's loop, and what it does with sockets' bytes (Docs/decisions/0034-media-transport.md,
        // 0035-media-node.md).
        .target(
            name: "CMediaNode", dependencies: ["CMedia"], path: "Shared/CMediaNode", cSettings: mediaSettings,
            linkerSettings: ["srtp2", "ssl", "crypto"].map { .linkedLibrary($0) }),
        .target(name: "SignalingProtocol", path: "Shared/SignalingProtocol", swiftSettings: strict),
        .target(
            name: "SignalingWire", dependencies: ["SignalingProtocol"], path: "Shared/SignalingWire",
            swiftSettings: strict),
        // What only the cluster's processes say to each other: no client library links it.
        .target(
            name: "BusProtocol", dependencies: ["SignalingProtocol", "SignalingWire"], path: "Shared/BusProtocol",
            swiftSettings: strict),
        .target(
            name: "SignalingTokens", dependencies: ["BusProtocol", "CCrypto", "SignalingProtocol"],
            path: "Shared/SignalingTokens", swiftSettings: strict),
        .target(
            name: "WebSocketWire", dependencies: ["SignalingProtocol", "SignalingTokens"], path: "Shared/WebSocketWire",
            swiftSettings: strict),
        .target(
            name: "ClusterState", dependencies: ["Pacing", "SignalingProtocol", "SignalingTokens"],
            path: "Shared/ClusterState",
            resources: [.embedInCode("Functions")], swiftSettings: strict),
        // Clocks, rates and pauses, without I/O.
        .target(name: "Pacing", path: "Shared/Pacing", swiftSettings: strict),
        .target(name: "ServiceMetrics", path: "Shared/ServiceMetrics", swiftSettings: plain),
        // Redis as a client uses it; the contents and the bus of our cluster are further up.
        .target(
            name: "RedisClient",
            dependencies: [
                "CHiredis", "ClusterState", "Pacing", "ServiceMetrics", "SignalingProtocol", nioCore, nioPosix, nioSSL,
                logging,
                lifecycle, deques,
            ],
            path: "Shared/RedisClient", swiftSettings: plain + fuzzedInPart),
        // What makes processes one cluster over Redis: commands, timers, mirrors, leases, routes.
        .target(
            name: "ClusterBus",
            dependencies: [
                "BusProtocol", "ClusterState", "Pacing", "RedisClient", "ServiceMetrics", "SignalingProtocol", nioCore,
                logging,
                lifecycle, deques,
            ],
            path: "Shared/ClusterBus", swiftSettings: plain + fuzzedInPart),
        .target(
            name: "MessageStore",
            dependencies: [
                "BusProtocol", "ClusterState", "ClusterBus", "Pacing", "RedisClient", "ServiceMetrics",
                "SignalingProtocol", "SignalingWire", nioCore,
            ],
            path: "Shared/MessageStore", swiftSettings: plain),
        .target(
            name: "PostgresStore",
            dependencies: [
                "BusProtocol", "CPostgres", "Pacing", "ServiceMetrics", "SignalingProtocol", "SignalingWire", logging,
                deques,
            ],
            path: "Shared/PostgresStore", resources: [.embedInCode("Migrations")], swiftSettings: plain),
        // What settings of apps say, and what has to change in PostgreSQL for them.
        .target(
            name: "Provisioning",
            dependencies: ["BusProtocol", "PostgresStore", "SignalingProtocol", "SignalingWire"],
            path: "Shared/Provisioning", swiftSettings: plain),
        .target(
            name: "ServiceKit",
            dependencies: [
                "Pacing", "ServiceMetrics", "SignalingProtocol", "SignalingWire", nioCore, nioPosix, nioHTTP1, logging,
                lifecycle, unixSignals,
            ],
            path: "Shared/ServiceKit", swiftSettings: plain + fuzzedInPart),
        .target(
            name: "WebhookClient",
            dependencies: ["BusProtocol", "SignalingProtocol", "SignalingTokens", nioCore, nioPosix, nioHTTP1, nioSSL],
            path: "Shared/WebhookClient", swiftSettings: strict),
        .target(name: "CAgoraEcode", path: "Shared/CAgoraEcode"),
        .target(
            name: "SignalingClient",
            dependencies: [
                "SignalingProtocol", "SignalingWire", nioCore, nioConcurrency, nioPosix, nioHTTP1, nioWebSocket, nioSSL,
                deques,
            ],
            path: "Shared/SignalingClient", swiftSettings: plain + fuzzedInPart),
        .target(
            name: "AgoraSigKit",
            // The only user of Foundation: whoever links it needs 50 MB more than SignalingClient does.
            dependencies: ["CAgoraEcode", "SignalingClient", "SignalingProtocol", "SignalingWire", nioConcurrency],
            path: "Shared/AgoraSigKit", swiftSettings: strict),
        .target(
            name: "ClusterService",
            dependencies: [
                "BusProtocol", "ClusterState", "PostgresStore", "ClusterBus", "RedisClient", "ServiceKit",
                "SignalingProtocol", nioCore, nioPosix, logging, lifecycle,
            ],
            path: "Shared/ClusterService", swiftSettings: plain),
        // What the client's media engine decides, without sockets, devices, codecs and clocks.
        .target(name: "MediaEngineLogic", path: "Shared/MediaEngineLogic", swiftSettings: strict),
        .target(name: "CAudioRing", path: "Shared/CAudioRing"),
        .target(
            name: "MediaClient",
            dependencies: [
                "CAudioRing", "CMedia", "COpus", "MediaEngineLogic", "SignalingClient", "SignalingProtocol",
                "SignalingWire",
                nioCore, nioConcurrency, nioPosix, crypto, cryptoExtras,
            ],
            path: "Shared/MediaClient", swiftSettings: strict),
        .target(name: "CAgoraRtcCodes", path: "Shared/CAgoraRtcCodes"),
        .target(
            name: "AgoraRtcEngineKit",
            // Like AgoraSigKit it shows Foundation to its apps; MediaClient does without.
            dependencies: ["CAgoraRtcCodes", "MediaClient", "SignalingClient", "SignalingProtocol", nioConcurrency],
            path: "Shared/AgoraRtcEngineKit", swiftSettings: strict),
        // How Redis is doing, for operators; a target of its own because tests cannot import an executable's.
        .target(
            name: "ControlInspection",
            dependencies: ["ClusterState", "RedisClient", "SignalingProtocol", nioCore, logging],
            path: "Services/Control/Inspection", swiftSettings: strict),
        .executableTarget(
            name: "Control",
            dependencies: [
                "BusProtocol", "ClusterBus", "ClusterState", "ControlInspection", "MessageStore", "PostgresStore",
                "Pacing", "Provisioning", "RedisClient", "ServiceKit", "SignalingClient", "SignalingProtocol",
                "SignalingTokens", "SignalingWire", "WebhookClient", argumentParser, logging, nioCore, nioPosix,
                nioSSL, nioTLS,
            ],
            path: "Services/Control", exclude: ["Inspection"], swiftSettings: strict),
        .target(
            name: "TestKit",
            dependencies: [
                "ClusterBus", "ClusterState", "Pacing", "RedisClient", "PostgresStore", "SignalingProtocol", nioCore,
                nioPosix, logging,
            ],
            path: "Tests/TestKit", swiftSettings: strict),
    ]
        + service(
            "Gateway", logic: ["ClusterState", "Pacing", "SignalingTokens", "SignalingWire", deques],
            server: [
                "CRing", "GatewayAPIServer", "WebSocketWire", "WebhookClient", "ClusterBus", "RedisClient",
                "MessageStore",
                "Pacing", nioCore, nioPosix,
                nioHTTP1, nioSSL, deques,
            ],
            main: [lifecycle])
        + [
            // The server API, the console and the playground, served by the gateway.
            .target(
                name: "GatewayPages", path: "Services/Gateway/Pages",
                resources: [.embedInCode("Common"), .embedInCode("Console"), .embedInCode("Playground")],
                swiftSettings: strict),
            .target(
                name: "GatewayAPILogic",
                dependencies: ["BusProtocol", "Pacing", "SignalingProtocol", "SignalingTokens", "SignalingWire"],
                path: "Services/Gateway/API/Logic", swiftSettings: strict),
            .target(
                name: "GatewayAPIServer",
                dependencies: [
                    "GatewayAPILogic", "GatewayPages", "BusProtocol", "ClusterState", "ClusterBus", "RedisClient",
                    "MessageStore", "Pacing",
                    "ServiceKit",
                    "SignalingProtocol", "ServiceMetrics", "SignalingTokens", "SignalingWire", hummingbird,
                    hummingbirdCore, httpTypes, nioHTTPTypes, deques,
                    nioCore, nioPosix, logging,
                    lifecycle,
                ],
                path: "Services/Gateway/API/Server", swiftSettings: strict),
        ]
        + service(
            "Presence",
            server: [
                "ClusterBus", "RedisClient", "PostgresStore", "Provisioning", "MessageStore", "ClusterService", nioCore,
                nioPosix,
            ])
        + service(
            "ChannelState",
            server: ["ClusterBus", "RedisClient", "PostgresStore", "MessageStore", "ClusterService", nioCore, nioPosix])
        + service(
            "Invitation", logic: ["ClusterState", "SignalingWire"],
            server: [
                "ClusterBus", "RedisClient", "Pacing", "PostgresStore", "MessageStore", "ClusterService", nioCore,
                deques,
            ],
            serverSettings: plain + fuzzedInPart)
        + service(
            "SIPBridge", logic: ["Pacing", "SignalingTokens"],
            server: [
                "CRe", "ClusterBus", "RedisClient", "Pacing", "PostgresStore", "MessageStore", "ClusterService",
                nioCore,
                nioPosix,
            ])
        + service(
            "Webhooks", logic: ["Pacing"],
            server: ["ClusterBus", "RedisClient", "Pacing", "PostgresStore", "ClusterService", "WebhookClient"])
        + service(
            "Media",
            server: [
                "CMedia", "CMediaNode", "ClusterBus", "Pacing", "RedisClient", "ClusterService", "SignalingTokens",
                deques,
            ])
        + [
            unitTests("SignalingProtocol"),
            unitTests("BusProtocol", ["SignalingProtocol"]),
            unitTests("SignalingTokens", ["BusProtocol", "SignalingProtocol"]),
            unitTests("SignalingWire", ["BusProtocol", "MessageStore", "SignalingProtocol"]),
            unitTests("WebSocketWire", ["SignalingProtocol"]),
            unitTests("ClusterState", ["Pacing", "SignalingProtocol"]),
            unitTests(
                "RedisClient", ["ClusterState", "SignalingProtocol", "TestKit", nioCore, nioPosix, logging]),
            unitTests(
                "ClusterBus",
                [
                    "BusProtocol", "ClusterState", "Pacing", "RedisClient", "SignalingProtocol", "TestKit", nioCore,
                    nioPosix, logging,
                ]),
            unitTests(
                "Provisioning", ["BusProtocol", "PostgresStore", "SignalingProtocol", "SignalingWire"]),
            unitTests("ControlInspection", ["ClusterState", "RedisClient", "SignalingProtocol"]),
            unitTests("PostgresStore", ["SignalingProtocol"]),
            unitTests(
                "ClusterService",
                [
                    "BusProtocol", "ClusterState", "PostgresStore", "ClusterBus", "RedisClient", "ServiceKit",
                    "SignalingProtocol", lifecycle, logging,
                ]),
            unitTests(
                "ServiceKit",
                [
                    "ServiceMetrics", "SignalingProtocol", nioCore, nioEmbedded, nioPosix, nioHTTP1, logging, lifecycle,
                ]),
            unitTests("Pacing", ["TestKit"]),
            unitTests("ServiceMetrics"),
            unitTests(
                "GatewayAPILogic", ["BusProtocol", "Pacing", "SignalingProtocol", "SignalingWire", "TestKit"]),
            unitTests("CRing", []),
            unitTests("GatewayAPIServer", ["GatewayAPILogic", "SignalingProtocol", "TestKit"]),
            unitTests(
                "GatewayLogic",
                [
                    "BusProtocol", "ClusterState", "Pacing", "SignalingProtocol", "SignalingTokens", "SignalingWire",
                    "TestKit",
                ]),
            unitTests(
                "GatewayServer",
                [
                    "BusProtocol", "CRing", "ClusterState", "GatewayLogic", "ClusterBus", "Pacing", "RedisClient",
                    "ServiceKit",
                    "ServiceMetrics",
                    "SignalingProtocol",
                    "SignalingWire", "TestKit", "WebSocketWire",
                    nioCore, nioPosix, nioHTTP1, logging,
                    nioEmbedded,
                ]),
            unitTests("PresenceLogic", ["SignalingProtocol"]),
            unitTests("ChannelStateLogic", ["SignalingProtocol"]),
            unitTests("InvitationLogic", ["BusProtocol", "ClusterState", "SignalingProtocol"]),
            unitTests("WebhooksLogic", ["Pacing", "SignalingProtocol"]),
            unitTests("CMedia"),
            // A DTLS client and a participant over UDP, in C, for the tests of CMediaNode.
            .target(
                name: "CMediaPeer", dependencies: ["CMedia", "CMediaNode"], path: "Tests/Unit/CMediaPeer",
                linkerSettings: ["ssl", "crypto"].map { .linkedLibrary($0) }),
            unitTests("CMediaNode", ["CMedia", "CMediaPeer", "TestKit"]),
            unitTests("MediaLogic", ["SignalingProtocol"]),
            unitTests("MediaEngineLogic"),
            unitTests(
                "MediaClient",
                [
                    "CAudioRing", "MediaEngineLogic", "SignalingClient", "SignalingProtocol", "SignalingWire",
                    "TestKit",
                    nioConcurrency, nioCore, nioPosix,
                ]),
            unitTests("AgoraRtcEngineKit", ["CAgoraRtcCodes", "MediaClient", "SignalingClient", nioConcurrency]),
            unitTests(
                "MediaServer",
                [
                    "BusProtocol", "CMediaNode", "CMediaPeer", "MediaLogic", "ServiceKit", "SignalingProtocol",
                    "TestKit",
                    logging,
                ]),
            unitTests("WebhookClient", ["BusProtocol", "SignalingProtocol", nioCore, nioEmbedded, nioPosix]),
            unitTests("SIPBridgeLogic", ["BusProtocol", "Pacing", "SignalingProtocol", "TestKit"]),
            unitTests(
                "SIPBridgeServer", ["BusProtocol", "SIPBridgeLogic", "PostgresStore", "SignalingProtocol", "TestKit"]),
            unitTests(
                "SignalingClient",
                [
                    "AgoraSigKit", "SignalingProtocol", "SignalingWire", nioCore, nioPosix, nioHTTP1, nioWebSocket,
                ]),
            .executableTarget(
                name: "ClientEcho", dependencies: ["SignalingClient"], path: "Tests/Clients/Echo", swiftSettings: strict
            ),
            // Joins a media channel, talks from a file and records what it hears: an example, and a participant for
            // tests.
            .executableTarget(
                name: "MediaCall", dependencies: ["MediaClient", "SignalingClient"], path: "Examples/MediaCall",
                swiftSettings: strict),
            // An app of the old media SDK, in the language of its time: an example, and a participant for tests.
            .executableTarget(
                name: "OldMediaApp", dependencies: ["AgoraRtcEngineKit", "MediaClient"], path: "Examples/OldMediaApp",
                swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
            .testTarget(
                name: "ClientTests",
                dependencies: [
                    "AgoraSigKit", "SignalingClient", "SignalingProtocol", "SignalingTokens", "SignalingWire",
                    "TestKit",
                    nioCore, nioPosix,
                ],
                path: "Tests/Clients", exclude: ["Echo"], swiftSettings: strict),
            .testTarget(
                name: "IntegrationTests",
                dependencies: [
                    "TestKit", "BusProtocol", "ClusterBus", "ClusterState", "ControlInspection", "Pacing",
                    "RedisClient",
                    "PostgresStore",
                    "MessageStore", "SignalingProtocol",
                    "SignalingWire",
                    "PresenceLogic", "PresenceServer", "ChannelStateServer", "GatewayServer", "InvitationLogic",
                    "InvitationServer", "ClusterService", "ServiceKit", nioCore, nioPosix,
                    logging,
                    lifecycle,
                ],
                path: "Tests/Integration", swiftSettings: strict),
        ]
        + benchmarks + fuzzing
)
