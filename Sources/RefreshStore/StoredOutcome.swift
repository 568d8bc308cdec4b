import RefreshEngine

extension Outcome: ColumnRecord {
  /// Visits four columns.
  ///
  /// `cause` is null unless it failed; `cause_code` is an exit code or the number of a signal; `cause_text` is a message,
  /// a stop reason, or the name of the task that failed.
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    var (word, cause) = (kind.rawValue, cause?.word)
    var (code, text) = (self.cause?.code, self.cause?.text)
    try column("outcome", &word)
    try column("cause", &cause)
    try column("cause_code", &code)
    try column("cause_text", &text)
    guard column.isReading else { return }
    let failure = cause.flatMap { Cause($0, code: code ?? 0, text: text ?? "") }
    guard let outcome = Kind(rawValue: word).flatMap({ Outcome($0, failure) }) else {
      throw column.unreadable("outcome", [word, cause ?? ""].joined(separator: " "))
    }
    self = outcome
  }

  private var cause: Cause? {
    if case .failed(let cause) = self { cause } else { nil }
  }
}

extension Cause {
  /// The cause of this word, with the code and the text of its row.
  fileprivate init?(_ word: String, code: Int32, text: String) {
    let stopped = StopReason(rawValue: text).map { [Cause.stopped($0)] } ?? []
    let causes: [Cause] = [
      .exit(code), .temporary(code), .signal(code), .spawn(text), .reported(text), .notRun(after: text), .daemonCrashed,
      .lostClient, .outOfMemory,
    ]
    guard let cause = (causes + stopped).first(where: { $0.word == word }) else { return nil }
    self = cause
  }

  fileprivate var word: String {
    switch self {
    case .exit: "exit"
    case .temporary: "temporary"
    case .signal: "signal"
    case .spawn: "spawn"
    case .reported: "reported"
    case .notRun: "not-run"
    case .stopped: "stopped"
    case .daemonCrashed: "daemon-crashed"
    case .lostClient: "lost-client"
    case .outOfMemory: "out-of-memory"
    }
  }

  fileprivate var code: Int32? {
    switch self {
    case .exit(let code), .temporary(let code), .signal(let code): code
    default: nil
    }
  }

  fileprivate var text: String? {
    switch self {
    case .spawn(let text), .reported(let text), .notRun(let text): text
    case .stopped(let reason): reason.code
    default: nil
    }
  }
}
