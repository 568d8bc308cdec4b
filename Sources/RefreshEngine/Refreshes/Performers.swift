/// The attached processes of one app, which perform its refreshes in turn.
public struct Performers: Hashable, Sendable {
  /// The leases of the attached processes, in order of attaching.
  public private(set) var leases: [LeaseID] = []
  /// The late processes: they neither completed a refresh nor left it in time.
  private var late: Set<LeaseID> = []
  /// The processes that are about to quit.
  private var leaving: Set<LeaseID> = []

  /// Makes an app without attached processes.
  public init() {}

  /// Adds a process that has attached.
  public mutating func add(_ lease: LeaseID) { leases.append(lease) }

  /// Removes a process whose connection is gone.
  public mutating func remove(_ lease: LeaseID) {
    leases.removeAll { $0 == lease }
    late.remove(lease)
    leaving.remove(lease)
  }

  /// The process for the next refresh: the first to attach that is allowed, not late and not leaving.
  public func next(where isAllowed: (LeaseID) -> Bool = { _ in true }) -> LeaseID? {
    leases.first { !late.contains($0) && !leaving.contains($0) && isAllowed($0) }
  }

  /// Marks a process that did not end a refresh in time: it gets no other refresh until it answers.
  public mutating func setLate(_ lease: LeaseID) { late.insert(lease) }

  /// Ends the mark of a late process, which has answered.
  public mutating func setAnswered(_ lease: LeaseID) { late.remove(lease) }

  /// Marks a process that is about to quit: it gets no other refresh, even if it answers late.
  public mutating func setLeaving(_ lease: LeaseID) { leaving.insert(lease) }
}
