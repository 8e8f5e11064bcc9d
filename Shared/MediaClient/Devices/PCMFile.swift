#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// An open file or pipe of audio. Neither reading nor writing waits for another process: both happen on an event loop.
final class PCMFile: Sendable {
    /// What reading a pipe may come to.
    enum Reading {
        /// Bytes; none at the end of a file, and while nobody has the pipe open to write.
        case bytes([UInt8])
        /// Who writes into the pipe has written nothing yet.
        case nothingYet
        /// It cannot be read.
        case failed(AudioFileError)
    }

    let path: String
    /// Whether this is a pipe with a name (FIFO), else a regular file.
    let isPipe: Bool
    /// The size in bytes when it was opened, or the greatest number if that is less.
    let size: Int
    private let descriptor: CInt

    /// Opens what is there for reading.
    convenience init(reading path: String) throws(AudioFileError) {
        try self.init(path, flags: O_RDONLY)
    }

    /// Makes an empty file, or opens the pipe that is there. The file is for its owner only: it is what people have
    /// said.
    convenience init(writing path: String) throws(AudioFileError) {
        // A pipe that is open for both can be opened before who reads, and its writer gets no signal when that one
        // goes.
        try self.init(path, flags: O_RDWR | O_CREAT | O_TRUNC)
    }

    private init(_ path: String, flags: CInt) throws(AudioFileError) {
        let descriptor = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else {
            let failure = Self.failure(path)
            close(descriptor)
            throw failure
        }
        let kind = info.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFIFO else {
            close(descriptor)
            throw AudioFileError(path: path, message: "neither a regular file nor a pipe")
        }
        self.path = path
        self.descriptor = descriptor
        isPipe = kind == S_IFIFO
        size = Int(clamping: info.st_size)
    }

    deinit { close(descriptor) }

    /// Up to that many bytes at an offset, which a pipe does not have: less at the end.
    func bytes(_ count: Int, at offset: Int64) -> Reading {
        var problem: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            var result: Int
            repeat {
                if isPipe {
                    result = read(descriptor, buffer.baseAddress, count)
                } else {
                    result = pread(descriptor, buffer.baseAddress, count, off_t(offset))
                }
            } while result < 0 && errno == EINTR
            problem = result < 0 ? errno : 0
            size = max(0, result)
        }
        switch problem {
        case 0: return .bytes(bytes)
        case EAGAIN: return .nothingYet
        default: return .failed(Self.failure(path, problem))
        }
    }

    /// Writes bytes at an offset, which a pipe does not have.
    /// - Returns: how many were written: all, but of a pipe that is full.
    @discardableResult
    func put(_ bytes: [UInt8], at offset: Int64) throws(AudioFileError) -> Int {
        var done = 0
        while done < bytes.count {
            let result = bytes[done...].withUnsafeBytes { rest in
                if isPipe { return write(descriptor, rest.baseAddress, rest.count) }
                return pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if result > 0 {
                done += result
            } else if result < 0 && errno == EAGAIN {
                break
            } else if result == 0 || errno != EINTR {
                throw Self.failure(path)
            }
        }
        return done
    }

    /// What a system call has failed with.
    static func failure(_ path: String, _ number: CInt = errno) -> AudioFileError {
        AudioFileError(
            path: path, message: String(cString: strerror(number)),
            cause: number == EACCES || number == EPERM ? .permission : .preparation)
    }
}

/// Samples as they are in files: 16 bits, the low byte first.
enum PCMSamples {
    static let size = 2

    static func samples(_ bytes: some RandomAccessCollection<UInt8>) -> [Int16] {
        let count = bytes.count / size
        let samples = [Int16](unsafeUninitializedCapacity: count) { buffer, written in
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes.prefix(count * size))
            written = count
        }
        return samples.map { Int16(littleEndian: $0) }
    }

    static func bytes(_ samples: [Int16]) -> [UInt8] {
        samples.map { $0.littleEndian }.withUnsafeBytes { Array($0) }
    }
}
