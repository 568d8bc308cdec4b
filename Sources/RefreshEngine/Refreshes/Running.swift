/// The running refreshes, their slots, and the tasks that survived the previous daemon.
struct Running: Sendable {
  private var apps: [RefreshID: AppID] = [:]
  /// The stuck refreshes: no signal ends their processes, and they hold no slot.
  private var stuck: Set<RefreshID> = []
  private var slots = Slots()
  /// The tasks that survived the previous daemon, by refresh, until the first configuration.
  private var survivors: [RefreshID: Set<Int>] = [:]

  /// The app of a running refresh; nil for an unknown refresh.
  func app(of refresh: RefreshID) -> AppID? { apps[refresh] }

  /// The running refreshes in order of id.
  var refreshes: [RefreshID] { apps.keys.sorted() }

  /// The apps of the running refreshes in order of id, apart from the refreshes in `left`.
  func apps(without left: Set<RefreshID> = []) -> [AppID] {
    apps.filter { !left.contains($0.key) }.values.sorted()
  }

  /// How many refreshes run, apart from stuck ones.
  var count: Int { apps.count - stuck.count }

  /// The stuck refreshes, with their apps.
  var stuckRefreshes: [RefreshID: AppID] { apps.filter { stuck.contains($0.key) } }

  /// Whether a user may have one more refresh.
  func hasSlot(of user: UInt32, _ limits: Limits) -> Bool { slots.has(user, limits) }

  /// Adds a refresh, which takes a slot.
  mutating func add(_ refreshing: Refreshing, of id: AppID) {
    apps[refreshing.started.id] = id
    slots.occupy(refreshing.owner)
  }

  /// Lets a refresh that has run for long count against its own user only; true if that makes room for others.
  mutating func age(_ refreshing: inout Refreshing, at now: Instant) -> Bool {
    guard refreshing.age(at: now) else { return false }
    slots.age(refreshing.owner)
    return true
  }

  /// Removes a refresh that has ended; true if that frees a slot.
  mutating func remove(_ refreshing: Refreshing) -> Bool {
    apps[refreshing.started.id] = nil
    guard stuck.remove(refreshing.started.id) == nil else { return false }
    slots.free(refreshing.owner, isAged: refreshing.isAged)
    return true
  }

  /// Frees the slot of a refresh whose processes no signal ends; true if it had one.
  mutating func giveUp(_ refreshing: Refreshing) -> Bool {
    guard stuck.insert(refreshing.started.id).inserted else { return false }
    slots.free(refreshing.owner, isAged: refreshing.isAged)
    return true
  }

  /// Remembers which tasks of a refresh survived the previous daemon.
  mutating func remember(_ tasks: Set<Int>, thatSurvivedOf refresh: RefreshID) { survivors[refresh] = tasks }

  /// The tasks of a refresh that survived the previous daemon.
  func survivors(of refresh: RefreshID) -> Set<Int> { survivors[refresh] ?? [] }

  /// Forgets the survivors; the first configuration has decided on them.
  mutating func forgetSurvivors() { survivors = [:] }
}

/// How many refreshes hold a slot, in all and for each user.
///
/// A refresh counts against its own user until it ends, and against other users for a minute, so that refreshes that hang
/// do not keep other users waiting. A user without a refresh may have one more slot, so that no user takes the last one.
struct Slots: Sendable {
  /// For how long a refresh counts against other users.
  static let sharedFor = Duration.minutes(1)
  /// How many times `max_concurrent` refreshes may run at once, with those that no longer count against others.
  static let mostTimes = 4

  private struct Count {
    var all = 0
    /// The refreshes that also count against other users.
    var young = 0
  }

  private var total = Count()
  private var ofUser: [UInt32: Count] = [:]

  /// Whether a user may have one more refresh.
  func has(_ user: UInt32, _ limits: Limits) -> Bool {
    let own = ofUser[user] ?? Count()
    if let most = limits.maxConcurrentPerUser, own.all >= most { return false }
    guard let most = limits.maxConcurrent else { return true }
    let counted = own.all + total.young - own.young
    return counted < (own.all == 0 ? most + 1 : most) && total.all < Self.mostTimes * most
  }

  /// Adds a refresh that has just started.
  mutating func occupy(_ user: UInt32) { count(user, all: 1, young: 1) }

  /// Lets a refresh count against its own user only.
  mutating func age(_ user: UInt32) { count(user, all: 0, young: -1) }

  /// Removes a refresh.
  mutating func free(_ user: UInt32, isAged: Bool) { count(user, all: -1, young: isAged ? 0 : -1) }

  private mutating func count(_ user: UInt32, all: Int, young: Int) {
    let own = ofUser[user] ?? Count()
    total = Count(all: total.all + all, young: total.young + young)
    ofUser[user] = own.all + all > 0 ? Count(all: own.all + all, young: own.young + young) : nil
  }
}
