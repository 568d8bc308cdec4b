import RefreshEngine

extension TaskEnd {
  /// Why a worker ended that had something left to do, as far as that is trouble.
  var workerTrouble: String? {
    switch exit {
    case .exited(0): nil
    case .exited(let code): "the worker ended with exit code \(code)"
    case .signalled(let signal): "the worker was ended by \(signalName(signal))"
    case .notStarted(let reason): reason
    case .outOfMemory: "the worker was killed because memory ran out"
    case .timedOut, .lostClient: "the worker took too long"
    }
  }
}
