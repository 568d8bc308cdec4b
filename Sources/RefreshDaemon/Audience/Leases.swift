import RefreshAPI
import RefreshEngine
import Varlink

/// The open calls whose connections hold signals.
struct Leases {
  typealias LeaseCall = Call<AppInterface.Signal.Parameters>

  private var calls: [AppID: [LeaseID: LeaseCall]] = [:]
  private var last: UInt64 = 0

  /// Keeps a call as a lease of the app, and names it.
  mutating func add(_ call: LeaseCall, of app: AppID) -> LeaseID {
    let lease = makeID()
    calls[app, default: [:]][lease] = call
    return lease
  }

  /// The name of one more lease; later ones are greater.
  mutating func makeID() -> LeaseID {
    last += 1
    return LeaseID(last)
  }

  /// Forgets the lease, when its connection is gone.
  mutating func remove(_ lease: LeaseID, of app: AppID) {
    calls[app]?[lease] = nil
    if calls[app]?.isEmpty == true { calls[app] = nil }
  }

  /// The calls that hold a signal of the app, in the order in which they came.
  func calls(of app: AppID) -> [LeaseCall] {
    (calls[app] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }
}
