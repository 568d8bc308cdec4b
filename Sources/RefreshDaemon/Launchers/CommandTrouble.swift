import RefreshEngine

extension TaskEnd {
  /// Why a command did not do its work, in a sentence with `name` as its subject; nil if it did.
  func trouble(of name: String) -> String? {
    switch exit {
    case .exited(0): nil
    case .exited(let code): "\(name) ended with exit code \(code)"
    case .signalled(let signal): "\(name) was ended by \(signalName(signal))"
    case .notStarted(let reason), .noMeans(let reason): reason
    case .outOfMemory: "\(name) was killed because memory ran out"
    case .timedOut, .lostClient, .notTaken: "\(name) took too long"
    }
  }
}
