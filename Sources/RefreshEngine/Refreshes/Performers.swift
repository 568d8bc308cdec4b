/// The attached processes of one app, and which of them performs its next refresh.
public struct Performers: Hashable, Sendable {
  /// The leases of the attached processes, in order of attaching.
  public private(set) var leases: [LeaseID] = []
  /// The processes that neither completed nor left a refresh when they had to.
  private var late: Set<LeaseID> = []

  /// Makes an app without attached processes.
  public init() {}

  /// Adds a process that has attached.
  public mutating func add(_ lease: LeaseID) { leases.append(lease) }

  /// Removes a process whose connection is gone.
  public mutating func remove(_ lease: LeaseID) {
    leases.removeAll { $0 == lease }
    late.remove(lease)
  }

  /// The process that performs the next refresh: the first to attach of those that are allowed and not late.
  public func next(where isAllowed: (LeaseID) -> Bool = { _ in true }) -> LeaseID? {
    leases.first { !late.contains($0) && isAllowed($0) }
  }

  /// Notes that a process did not end a refresh when it had to: it gets no other one until it answers.
  public mutating func setLate(_ lease: LeaseID) { late.insert(lease) }

  /// Notes that a process that was late has answered after all.
  public mutating func setAnswered(_ lease: LeaseID) { late.remove(lease) }
}
