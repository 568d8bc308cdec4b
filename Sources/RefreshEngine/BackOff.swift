/// Exponential back-off: the wait doubles with each failure in a row, up to a longest wait.
///
/// The caller adds the jitter: the engine a stable part for each app, a client a random part.
public struct BackOff: Hashable, Sendable {
  /// The wait after the first failure.
  public let first: Duration
  /// The longest wait, jitter included.
  public let longest: Duration
  /// The number of failures in a row after which the wait no longer doubles.
  public let mostFailures: Int32

  /// Retries of refreshes: 30 s, doubled up to 4 h 16 min, with jitter 5 h at most.
  public static let refreshes = BackOff(first: .seconds(30), longest: .hours(5), mostFailures: 10)
  /// Retries of transfers: 1 s, doubled up to 4 h 33 min, with jitter 5 h at most.
  public static let transfers = BackOff(first: .seconds(1), longest: .hours(5), mostFailures: 15)

  /// Retries of transfers whose content was wrong: 1 min, doubled, because each try may move the whole file.
  public static let wrongContent = BackOff(first: .minutes(1), longest: .hours(5), mostFailures: 10)

  /// Questions to the command of an app's own condition that has said no: 30 s, doubled up to 15 min.
  public static let questions = BackOff(first: .seconds(30), longest: .minutes(15), mostFailures: 6)

  /// Refreshes that could not start for lack of processes or memory: 5 s, doubled up to 5 min.
  public static let starts = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  /// The time that conditions must last before a guard returns its unit: 5 s, doubled up to 5 min.
  public static let guards = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  /// Makes a back-off.
  public init(first: Duration, longest: Duration, mostFailures: Int32) {
    (self.first, self.longest, self.mostFailures) = (first, longest, mostFailures)
  }

  /// The count after one more failure; it stops at ``mostFailures``.
  public func counting(_ failures: Int32) -> Int32 { min(failures + 1, mostFailures) }

  /// The wait after a number of failures in a row, at least one.
  ///
  /// `jitter` gives an addition to the doubled wait; none by default.
  public func wait(after failures: Int32, jitter: (Duration) -> Duration = { _ in .zero }) -> Duration {
    let doubled = first * (1 << Int(min(max(failures, 1), mostFailures) - 1))
    return min(longest, doubled + jitter(doubled))
  }
}

/// Stable offsets that keep machines and apps from acting at the same moment.
///
/// An offset is a function of the machine and the app, and the same after every boot, as with systemd's `FixedRandomDelay=`
/// (systemd.timer(5)).
public struct Spread: Hashable, Sendable {
  /// The identity of this machine: a hash of its machine-id(5).
  public let machine: UInt64

  /// Makes the spread of a machine.
  public init(machine: UInt64) {
    self.machine = machine
  }

  /// The app's offset in a span of time: zero or more, less than `span`.
  ///
  /// Another `turn` gives another stable offset, as jitter for retries.
  public func offset(of app: AppID, within span: Duration, turn: UInt64 = 0) -> Duration {
    let microseconds = UInt64(max(0, span.inMicroseconds))
    let hash = hash(of: app) &+ turn &* 0x9e37_79b9_7f4a_7c15
    return .microseconds(Int64(hash.multipliedFullWidth(by: microseconds).high))
  }

  /// FNV-1a over the id, seeded with the machine, then the finalizer of SplitMix64 to fill the high bits.
  private func hash(of app: AppID) -> UInt64 {
    var hash = machine ^ 0xcbf2_9ce4_8422_2325
    for byte in app.description.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash >> 31)
  }
}

/// A hash that is the same in every process, machine and version: 64-bit FNV-1a with a final mix.
///
/// The hash of the standard library differs each time a program starts.
public struct StableHash: Sendable {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Begins a hash of no bytes.
  public init() {}

  /// The hash of a text.
  public static func of(_ text: String) -> UInt64 {
    var hash = StableHash()
    for byte in text.utf8 { hash.combine(byte) }
    return hash.value
  }

  /// Adds a byte.
  public mutating func combine(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

  /// Adds the bytes of an integer.
  public mutating func combine(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { combine(bytes: $0) }
  }

  /// Adds bytes.
  public mutating func combine(bytes: UnsafeRawBufferPointer) {
    for byte in bytes { combine(byte) }
  }

  /// The hash of all added bytes, finished with the last step of MurmurHash3.
  public var value: UInt64 {
    var hash = state
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
}
