@testable import MediaClient

extension MediaStatistics.Audio {
    static func of(uid: UInt32, quality: Int, delay: Int, lost: Int) -> Self {
        Self(uid: uid, quality: quality, delay: delay, lost: lost)
    }
}
