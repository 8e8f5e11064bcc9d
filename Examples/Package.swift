// swift-tools-version: 6.2
import PackageDescription

let signalingClient: Target.Dependency = .product(name: "SignalingClient", package: "heliograph")

/// Apps that use the client libraries from another package. `Scripts/check-examples` compiles all of them.
let package = Package(
    name: "examples",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    dependencies: [.package(name: "heliograph", path: "..")],
    targets: [
        .executableTarget(name: "Terminal", dependencies: [signalingClient], path: "Terminal"),
        .target(name: "ViewModel", dependencies: [signalingClient], path: "ViewModel"),
        .target(name: "Bot", dependencies: [signalingClient], path: "Bot"),
        .executableTarget(
            name: "OldApp", dependencies: [.product(name: "AgoraSigKit", package: "heliograph")], path: "OldApp"),
    ]
)
