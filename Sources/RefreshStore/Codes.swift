import RefreshEngine

/// A value that is written to the disk as one word.
///
/// The word is the raw value in the engine, which the fixtures of released schemas pin. A new word is a new schema
/// version, because an older refreshd cannot read it.
protocol DiskCode: RawRepresentable<String>, ColumnContent {}

extension DiskCode {
  var code: String { rawValue }

  init?(code: String) { self.init(rawValue: code) }
}

extension Trigger: DiskCode {}
extension StopReason: DiskCode {}
extension Hold.Name: DiskCode {}
extension NetworkConstraint: DiskCode {}
extension TransferStop: DiskCode {}
extension TransferResult: DiskCode {}
extension TransferRequest.Direction: DiskCode {}
extension Urgency: DiskCode {}

extension RefreshID {
  /// The id as one integer in the order of the ids: start << 32 | number.
  var key: Int64 { Int64(bitPattern: UInt64(start) << 32 | UInt64(number)) }

  init(key: Int64) {
    let bits = UInt64(bitPattern: key)
    self.init(start: UInt32(bits >> 32), number: UInt32(truncatingIfNeeded: bits))
  }
}

extension Interval {
  private static let unit = "us"

  /// The interval as one word: `never`, `minimum`, or microseconds such as `300000000us`.
  var code: String {
    switch self {
    case .never: "never"
    case .minimum: "minimum"
    case .every(let duration): "\(duration.inMicroseconds)\(Self.unit)"
    }
  }

  init?(code: String) {
    switch code {
    case "never": self = .never
    case "minimum": self = .minimum
    default:
      guard code.hasSuffix(Self.unit), let microseconds = Int64(code.dropLast(Self.unit.count)) else { return nil }
      self = .every(.microseconds(microseconds))
    }
  }
}

/// An outcome as the four columns `outcome`, `cause`, `cause_code` and `cause_text`.
///
/// `cause` is null unless the refresh failed; `cause_code` is an exit code or a signal's number; `cause_text` is what
/// was said, the stop reason, or the name of the task that failed.
struct OutcomeColumns {
  let outcome: String
  var cause: String?
  var causeCode: Int64?
  var causeText: String?

  init(_ outcome: Outcome) {
    switch outcome {
    case .newData: self.outcome = "new-data"
    case .noData: self.outcome = "no-data"
    case .failed(let cause):
      self.outcome = "failed"
      switch cause {
      case .exit(let code): (self.cause, causeCode) = ("exit", Int64(code))
      case .temporary(let code): (self.cause, causeCode) = ("temporary", Int64(code))
      case .signal(let signal): (self.cause, causeCode) = ("signal", Int64(signal))
      case .spawn(let reason): (self.cause, causeText) = ("spawn", reason)
      case .reported(let message): (self.cause, causeText) = ("reported", message)
      case .notRun(let name): (self.cause, causeText) = ("not-run", name)
      case .stopped(let reason): (self.cause, causeText) = ("stopped", reason.code)
      case .daemonCrashed: self.cause = "daemon-crashed"
      case .lostClient: self.cause = "lost-client"
      case .outOfMemory: self.cause = "out-of-memory"
      }
    }
  }
}

extension Row {
  /// The refresh whose key is in the column.
  func refreshID(_ column: Int32) -> RefreshID { RefreshID(key: integer(column)) }

  /// The outcome in the four columns from `column` on, in the order of ``OutcomeColumns``.
  func outcome(_ column: Int32) throws(StoreError) -> Outcome {
    switch text(column) {
    case "new-data": return .newData
    case "no-data": return .noData
    case "failed": return .failed(try cause(column + 1))
    default: throw unreadable(column)
    }
  }

  private func cause(_ column: Int32) throws(StoreError) -> Cause {
    switch text(column) {
    case "exit": .exit(try exactly(column + 1))
    case "temporary": .temporary(try exactly(column + 1))
    case "signal": .signal(try exactly(column + 1))
    case "spawn": .spawn(text(column + 2))
    case "reported": .reported(text(column + 2))
    case "not-run": .notRun(after: text(column + 2))
    case "stopped": .stopped(try code(column + 2))
    case "daemon-crashed": .daemonCrashed
    case "lost-client": .lostClient
    case "out-of-memory": .outOfMemory
    default: throw unreadable(column)
    }
  }
}
