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

  /// FNV-1a over the id, begun with the machine, then the finalizer of SplitMix64 to fill the high bits.
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
