import RefreshEngine

extension Outcome: ColumnRecord {
  /// Visits four columns.
  ///
  /// `cause` is null unless it failed; `cause_code` is an exit code or the number of a signal; `cause_text` is a message,
  /// a stop reason, or the name of the task that failed.
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    var (outcome, kind) = (self.kind, cause?.kind)
    var (code, text) = (cause?.code, cause?.text)
    try column("outcome", &outcome)
    try column("cause", &kind)
    try column("cause_code", &code)
    try column("cause_text", &text)
    guard column.isReading else { return }
    let failure = kind.flatMap { Cause($0, code: code ?? 0, text: text ?? "") }
    guard let read = Outcome(outcome, failure) else {
      throw column.unreadable("outcome", [outcome.code, kind?.code ?? ""].joined(separator: " "))
    }
    self = read
  }

  private var cause: Cause? {
    if case .failed(let cause) = self { cause } else { nil }
  }
}

extension Cause {
  /// The cause of this kind, with the code and the text of its row; nil if the text is not the stop reason that the kind
  /// needs.
  fileprivate init?(_ kind: Kind, code: Int32, text: String) {
    switch kind {
    case .exit: self = .exit(code)
    case .temporary: self = .temporary(code)
    case .signal: self = .signal(code)
    case .spawn: self = .spawn(text)
    case .reported: self = .reported(text)
    case .notRun: self = .notRun(after: text)
    case .stopped:
      guard let reason = StopReason(code: text) else { return nil }
      self = .stopped(reason)
    case .daemonCrashed: self = .daemonCrashed
    case .lostClient: self = .lostClient
    case .outOfMemory: self = .outOfMemory
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
