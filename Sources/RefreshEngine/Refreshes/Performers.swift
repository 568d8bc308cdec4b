/// The attached processes of one app, and which of them performs its next refresh.
public struct Performers: Hashable, Sendable {
  private struct Process: Hashable, Sendable {
    let lease: LeaseID
    /// The refresh that the process neither completed nor left when it had to.
    var lateWith: RefreshID?
  }

  private var processes: [Process] = []

  /// Makes an app without attached processes.
  public init() {}

  /// Whether no process is attached.
  public var isEmpty: Bool { processes.isEmpty }

  /// The leases of the attached processes, in order of attaching.
  public var leases: [LeaseID] { processes.map(\.lease) }

  /// Adds a process that has attached.
  public mutating func add(_ lease: LeaseID) { processes.append(Process(lease: lease)) }

  /// Removes a process whose connection is gone.
  public mutating func remove(_ lease: LeaseID) { processes.removeAll { $0.lease == lease } }

  /// The process that performs the next refresh: the first to attach of those that are allowed and not late.
  public func next(where isAllowed: (LeaseID) -> Bool = { _ in true }) -> LeaseID? {
    processes.first { $0.lateWith == nil && isAllowed($0.lease) }?.lease
  }

  /// Notes that a process did not end a refresh when it had to: it gets no other one until it answers.
  public mutating func setLate(_ lease: LeaseID, with refresh: RefreshID) {
    guard let index = processes.firstIndex(where: { $0.lease == lease }) else { return }
    processes[index].lateWith = refresh
  }

  /// Notes that the process that is late with a refresh has answered after all; gives whether there is one.
  public mutating func setAnswered(_ refresh: RefreshID) -> Bool {
    guard let index = processes.firstIndex(where: { $0.lateWith == refresh }) else { return false }
    processes[index].lateWith = nil
    return true
  }
}
