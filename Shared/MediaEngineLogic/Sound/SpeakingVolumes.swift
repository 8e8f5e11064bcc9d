/// How loud each user is, 0...255, for the volume reports of an app.
///
/// The volume of a level of -60...0 dBov, the root mean square over the report's interval, is round(255 (60 + level) /
/// 60), below that 0. A user whose volume has fallen to 0 is forgotten, so that only those who were heard lately are
/// kept.
package struct SpeakingVolumes: Sendable {
    /// The uid under which the local user is reported.
    package static let local: UInt32 = 0
    /// The volume of a full-scale sound.
    package static let greatest = 255

    /// A user's volume.
    package struct Speaker: Sendable, Hashable {
        /// The user; 0 is the local one.
        package var uid: UInt32
        /// 1...255.
        package var volume: Int

        /// Makes a user's volume.
        package init(uid: UInt32, volume: Int) {
            self.uid = uid
            self.volume = volume
        }
    }

    /// What an interval was like.
    package struct Report: Sendable, Hashable {
        /// Those who were heard, the loudest first, equal ones by uid.
        package var speakers: [Speaker]
        /// The volume of all of them together: their powers added.
        package var total: Int
    }

    private let weight: Double
    /// The squares of the samples since the last report.
    private var energies: [UInt32: Double] = [:]
    private var frames = 0
    /// The volumes of the last report, before rounding.
    private var volumes: [UInt32: Double] = [:]
    private var total = 0.0

    /// Makes a measurement.
    ///
    /// - Parameter smooth: the newest interval counts with a weight of 1/smooth; 1 and below: it alone counts.
    package init(smooth: Int) { weight = 1 / Double(max(1, smooth)) }

    /// Counts the 20 ms that were heard of each user at the same time: those played, and the local user's unless muted.
    package mutating func hear(_ sounds: [(uid: UInt32, samples: [Int16])]) {
        frames += 1
        for sound in sounds {
            energies[sound.uid, default: 0] += Decibels.power(of: sound.samples)
        }
    }

    /// The volumes since the last report.
    package mutating func report() -> Report {
        let powers = energies.mapValues { $0 / Double(max(1, frames)) }
        for uid in Set(volumes.keys).union(powers.keys) {
            let volume = smoothed(volumes[uid] ?? 0, newest: Self.volume(ofPower: powers[uid] ?? 0))
            volumes[uid] = volume < 0.5 ? nil : volume
        }
        total = smoothed(total, newest: Self.volume(ofPower: powers.values.reduce(0, +)))
        energies = [:]
        frames = 0
        let speakers = volumes.map { Speaker(uid: $0.key, volume: Int($0.value.rounded())) }
        return Report(
            speakers: speakers.sorted { ($1.volume, $0.uid) < ($0.volume, $1.uid) }, total: Int(total.rounded()))
    }

    private func smoothed(_ former: Double, newest: Double) -> Double { former + (newest - former) * weight }

    private static func volume(ofPower power: Double) -> Double {
        guard let level = Decibels.level(ofPower: power) else { return 0 }
        return min(max(Double(greatest) * (60 + level) / 60, 0), Double(greatest))
    }
}
