// swift-tools-version: 6.2
import PackageDescription

// Only the micro-benchmarks; what measures the servers is C and Python (README.md).
let package = Package(
    name: "heliograph-benchmarks",
    dependencies: [
        .package(name: "heliograph", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "Allocations", path: "Allocations"),
        .executableTarget(
            name: "Micro",
            dependencies: [
                "Allocations",
                .product(name: "SignalingProtocol", package: "heliograph"),
                .product(name: "SignalingWire", package: "heliograph"),
                .product(name: "RedisStore", package: "heliograph"),
                .product(name: "GatewayLogic", package: "heliograph"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Micro"),
    ]
)
