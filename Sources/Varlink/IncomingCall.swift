import JSON

/// A call as the server reads it: the method's name, the flags, and the action.
///
/// A call whose name comes before its parameters is read in one pass: the method's own type reads them in place.
/// <https://varlink.org/Method-Call>.
struct IncomingCall {
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
}

/// The error of a message that is no call; the server closes its connection.
enum MalformedMessage: Error, Equatable, CustomStringConvertible {
  /// The message exceeds the bound.
  case tooLong(limit: Int)
  /// The message is no JSON, is nested too deeply, or is no object with a method and flags of the right types.
  case notACall(JSONError)

  var description: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .notACall(let error): "\(error)"
    }
  }
}

/// Reads calls from messages.
struct CallReader {
  let methods: MethodTable
  /// The most values of a list in a call.
  static let mostInList = 1000

  /// Reads the call of a message without its NUL.
  func read(_ message: UnsafeRawBufferPointer) throws(MalformedMessage) -> IncomingCall {
    do throws(JSONError) {
      var parts = CallParts(message)
      try parts.read(methods)
      return try parts.call(methods)
    } catch {
      throw .notACall(error)
    }
  }
}

/// The members of a call while the reader reads them.
private struct CallParts {
  private let message: UnsafeRawBufferPointer
  private var seen: UInt64 = 0
  private var name: String?
  private var more = false
  private var oneway = false
  private var upgrade = false
  private var served: ServedMethod?
  /// The offset of the parameters; nil while they are absent or null.
  private var start: Int?
  private var outcome: Result<(CallState) -> Void, JSONError>?

  init(_ message: UnsafeRawBufferPointer) { self.message = message }

  mutating func read(_ methods: MethodTable) throws(JSONError) {
    var json = JSONReader(message, mostInList: CallReader.mostInList)
    try json.beginObject()
    while try json.nextKey() {
      if json.keyIs("method") {
        try json.once(&seen, 0)
        let name = try json.string()
        self.name = name
        served = methods[name]
      } else if json.keyIs("parameters") {
        try json.once(&seen, 1)
        try readParameters(&json)
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
  }

  /// Reads the parameters if the method is already known, else skips them.
  private mutating func readParameters(_ json: inout JSONReader) throws(JSONError) {
    guard try !json.null() else { return }
    let (start, levels) = (json.position, json.openLevels)
    self.start = start
    guard let served else { return try json.skip() }
    do throws(JSONError) {
      outcome = .success(try served.prepare(&json))
    } catch {
      // The text may be no JSON, and then the message is no call.
      outcome = .failure(error)
      json.rewind(to: start, levels: levels)
      try json.skip()
    }
  }

  func call(_ methods: MethodTable) throws(JSONError) -> IncomingCall {
    guard let name else { throw JSONReader(message).error(.missing("method"), at: 0) }
    return IncomingCall(
      method: name, wantsMore: more && !oneway, isOneway: oneway, kind: served?.kind ?? .query,
      action: action(name, methods))
  }

  private func action(_ name: String, _ methods: MethodTable) -> IncomingCall.Action {
    // A reply without an error would tell the peer that the connection now speaks another protocol.
    if upgrade { return .fail(MethodNotImplemented(method: name)) }
    guard let served else { return .fail(methods.whyNot(name)) }
    switch outcome ?? late(served) {
    case .success(let run): return .run(run)
    case .failure(let error):
      let path = error.path(in: start == nil ? UnsafeRawBufferPointer(start: nil, count: 0) : message, from: start ?? 0)
      return .fail(InvalidParameter(parameter: path.isEmpty ? "parameters" : path))
    }
  }

  /// Reads parameters that came before the method's name, or none.
  private func late(_ served: ServedMethod) -> Result<(CallState) -> Void, JSONError> {
    let empty: StaticString = "{}"
    var json =
      start.map { JSONReader(message, from: $0, mostInList: CallReader.mostInList) }
      ?? JSONReader(UnsafeRawBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount))
    do throws(JSONError) { return .success(try served.prepare(&json)) } catch { return .failure(error) }
  }
}
