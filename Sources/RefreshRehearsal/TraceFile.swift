import FoundationEssentials
import JSON
import RefreshEngine

/// The error of an unreadable trace, with its line.
public struct TraceError: Error, Hashable, CustomStringConvertible {
  /// The line, from 1; nil for the whole file.
  public let line: Int?
  /// The error and its remedy.
  public let reason: String

  /// The error as a sentence.
  public var description: String { (line.map { "line \($0): " } ?? "") + reason }
}

extension Trace {
  /// Reads the file at a path; see ``init(text:)``.
  public init(contentsOf path: String) throws(TraceError) {
    let text: Data
    do {
      text = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw TraceError(line: nil, reason: "cannot read the file; name a file that exists and that you may read")
    }
    try self.init(text: [UInt8](text))
  }

  /// Reads a trace with one JSON object a line.
  ///
  /// The first line is `{"days", "warm"}`. Every other line is an app: `{"app", "updates": [minute, …], "opens": [minute,
  /// …]}`. With `"fails": [minute, minute]` each refresh of the app fails between these minutes. Other keys are ignored.
  public init(text: [UInt8]) throws(TraceError) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let first: FirstLine = try Self.read(lines.first ?? [], 1, example: #"{"days": 42, "warm": 14}"#)
    guard (1...3660).contains(first.days), (0..<first.days).contains(first.warm ?? 0) else {
      throw TraceError(line: 1, reason: "cannot use these days; write 1 to 3660 days, fewer of them warm")
    }
    var apps: [TracedApp] = []
    for (index, line) in lines.enumerated().dropFirst() where !line.isEmpty {
      let app: AppLine = try Self.read(
        line, index + 1, example: #"{"app": "org.example.todo", "updates": [12.5], "opens": [480]}"#)
      guard let id = AppID(app.app) else {
        throw TraceError(
          line: index + 1, reason: "cannot use \"\(app.app)\" as an app id; write an id like org.example.todo")
      }
      let moments = app.updates + app.opens + app.fails
      guard moments.allSatisfy({ $0 >= 0 && $0 <= Double(first.days) * 1440 }) else {
        throw TraceError(line: index + 1, reason: "cannot use a moment outside the trace's days; write minutes")
      }
      guard app.fails.isEmpty || app.fails.count == 2 && app.fails[0] <= app.fails[1] else {
        throw TraceError(line: index + 1, reason: "cannot use \"fails\" alone; write its first and its last minute")
      }
      let fails = app.fails.isEmpty ? 0..<0 : app.fails[0]..<app.fails[1]
      apps.append(TracedApp(id: id, updates: app.updates, openings: app.opens, fails: fails))
    }
    self.init(apps: apps, days: first.days, warmUp: first.warm ?? 0)
  }

  private struct FirstLine: JSONReadable {
    let days: Int
    let warm: Int?

    init(from json: inout JSONReader) throws(JSONError) {
      var days: Int?
      var warm: Int?
      var seen: UInt64 = 0
      try json.beginObject()
      while try json.nextKey() {
        switch json.keyText {
        case "days":
          try json.once(&seen, 0)
          days = try Int(from: &json)
        case "warm":
          try json.once(&seen, 1)
          warm = try json.optional(Int.self)
        default: try json.skip()
        }
      }
      guard let days else { throw json.error(.missing("days"), at: 0) }
      (self.days, self.warm) = (days, warm)
    }
  }

  private struct AppLine: JSONReadable {
    let app: String
    let updates: [Double]
    let opens: [Double]
    let fails: [Double]

    init(from json: inout JSONReader) throws(JSONError) {
      var app: String?
      var updates: [Double]?
      var opens: [Double]?
      var fails: [Double] = []
      var seen: UInt64 = 0
      try json.beginObject()
      while try json.nextKey() {
        switch json.keyText {
        case "app":
          try json.once(&seen, 0)
          app = try String(from: &json)
        case "updates":
          try json.once(&seen, 1)
          updates = try [Double](from: &json)
        case "opens":
          try json.once(&seen, 2)
          opens = try [Double](from: &json)
        case "fails":
          try json.once(&seen, 3)
          fails = try [Double](from: &json)
        default: try json.skip()
        }
      }
      guard let app, let updates, let opens else { throw json.error(.missing("app, updates or opens"), at: 0) }
      (self.app, self.updates, self.opens, self.fails) = (app, updates, opens, fails)
    }
  }

  private static func read<Line: JSONReadable>(
    _ line: ArraySlice<UInt8>, _ number: Int, example: String
  ) throws(TraceError) -> Line {
    do {
      return try Line(jsonText: Array(line))
    } catch {
      throw TraceError(line: number, reason: "cannot read it; write for example \(example)")
    }
  }
}
