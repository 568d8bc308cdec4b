import JSON

/// A call as the server reads it from a message: <https://varlink.org/Method-Call>.
///
/// A call whose name comes before its parameters is read in one pass: the method's own type reads them in place.
struct IncomingCall {
  /// The most values of a list in a call.
  private static let mostInList = 1000

  let method: String
  let wantsMore: Bool
  let isOneway: Bool
  let kind: MethodKind
  let action: Action

  /// Runs the handler with its parameters, or replies with an error.
  enum Action {
    case run((CallState) -> Void)
    case fail(any VarlinkError)
  }

  /// Reads the call of a message without its NUL.
  init(_ message: UnsafeRawBufferPointer, of methods: MethodTable) throws(MalformedMessage) {
    do throws(JSONError) { try self.init(reading: message, methods) } catch { throw .notACall(error) }
  }

  private init(reading message: UnsafeRawBufferPointer, _ methods: MethodTable) throws(JSONError) {
    var seen: UInt64 = 0
    var name: String?
    var (more, oneway, upgrade) = (false, false, false)
    var served: ServedMethod?
    /// The offset of the parameters; nil while they are absent or null.
    var start: Int?
    var prepared: Prepared?
    var json = JSONReader(message, mostInList: Self.mostInList)
    try json.beginObject()
    while try json.nextKey() {
      if json.keyIs("method") {
        try json.once(&seen, 0)
        let text = try json.string()
        (name, served) = (text, methods[text])
      } else if json.keyIs("parameters") {
        try json.once(&seen, 1)
        guard try !json.null() else { continue }
        start = json.position
        if let served { prepared = try Self.prepare(served, &json) } else { try json.skip() }
      } else if json.keyIs("more") {
        try json.once(&seen, 2)
        more = try json.optional(Bool.self) ?? false
      } else if json.keyIs("oneway") {
        try json.once(&seen, 3)
        oneway = try json.optional(Bool.self) ?? false
      } else if json.keyIs("upgrade") {
        try json.once(&seen, 4)
        upgrade = try json.optional(Bool.self) ?? false
      } else {
        try json.skip()
      }
    }
    try json.end()
    guard let name else { throw json.error(.missing("method"), at: 0) }
    (method, wantsMore, isOneway, kind) = (name, more && !oneway, oneway, served?.kind ?? .query)
    if upgrade {
      // A reply without an error would tell the peer that the connection now speaks another protocol.
      action = .fail(MethodNotImplemented(method: name))
    } else if let served {
      action = Self.action(prepared ?? Self.prepare(served, message, at: start), message, at: start)
    } else {
      action = .fail(methods.whyNot(name))
    }
  }

  private static func action(_ prepared: Prepared, _ message: UnsafeRawBufferPointer, at start: Int?) -> Action {
    switch prepared {
    case .success(let run): return .run(run)
    case .failure(let error):
      let path = error.path(in: start == nil ? UnsafeRawBufferPointer(start: nil, count: 0) : message, from: start ?? 0)
      return .fail(InvalidParameter(parameter: path.isEmpty ? "parameters" : path))
    }
  }

  /// A handler that has its parameters, or the reason why they cannot be read.
  private typealias Prepared = Result<(CallState) -> Void, JSONError>

  /// Reads the parameters in place, or skips them if the method's type cannot read them.
  private static func prepare(_ served: ServedMethod, _ json: inout JSONReader) throws(JSONError) -> Prepared {
    let (start, levels) = (json.position, json.openLevels)
    do throws(JSONError) {
      return .success(try served.prepare(&json))
    } catch {
      // The text may not be JSON, and then the message is not a call.
      json.rewind(to: start, levels: levels)
      try json.skip()
      return .failure(error)
    }
  }

  /// Reads parameters that came before the method's name, or the empty object if there are none.
  private static func prepare(_ served: ServedMethod, _ message: UnsafeRawBufferPointer, at start: Int?) -> Prepared {
    let empty: StaticString = "{}"
    var json =
      start.map { JSONReader(message, from: $0, mostInList: mostInList) }
      ?? JSONReader(UnsafeRawBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount))
    do throws(JSONError) { return .success(try served.prepare(&json)) } catch { return .failure(error) }
  }
}

/// The error of a message that is not a call; the server closes its connection.
enum MalformedMessage: Error, Equatable, CustomStringConvertible {
  /// The message exceeds the bound.
  case tooLong(limit: Int)
  /// The message is not JSON, is nested too deeply, or is not an object with a method and flags of the right types.
  case notACall(JSONError)

  var description: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .notACall(let error): "\(error)"
    }
  }
}
