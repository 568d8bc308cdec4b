import CSystemd
import Glibc

/// Reads and writes a message of the bus (sd_bus_message_read_basic(3)).
struct BusMessage {
  let message: OpaquePointer

  /// A received message, which the caller still owns.
  init(_ message: OpaquePointer) { self.message = message }

  /// The unique name of the sender, by the bus; nil without a bus.
  var sender: String? { sd_bus_message_get_sender(message).map { String(cString: $0) } }

  /// All values of the message, in order.
  func values() throws(SystemdError) -> [BusValue] {
    var values: [BusValue] = []
    while let value = try next() { values.append(value) }
    return values
  }

  /// The value at the cursor; nil at the end of the message or of the current container.
  private func next() throws(SystemdError) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard try read(sd_bus_message_peek_type(message, &type, &contents)) > 0 else { return nil }
    switch UnicodeScalar(UInt8(bitPattern: type)) {
    case "s", "g": return .string(try text(type))
    case "o": return .path(try text(type))
    case "b": return .boolean(try basic(type, Int32(0)) != 0)
    case "y": return .unsigned(UInt64(try basic(type, UInt8(0))))
    case "n": return .integer(Int64(try basic(type, Int16(0))))
    case "q": return .unsigned(UInt64(try basic(type, UInt16(0))))
    case "i": return .integer(Int64(try basic(type, Int32(0))))
    case "u": return .unsigned(UInt64(try basic(type, UInt32(0))))
    case "x": return .integer(try basic(type, Int64(0)))
    case "t": return .unsigned(try basic(type, UInt64(0)))
    case "d": return .double(try basic(type, Double(0)))
    case "h":
      let descriptor = try basic(type, Int32(-1))
      guard let copy = BusDescriptor(copying: descriptor) else {
        throw SystemdError(cannot: "keep a descriptor from the bus", code: errno)
      }
      return .descriptor(copy)
    case "a": return try array(of: contents)
    case "v": return try container(type, contents).first
    case "r", "e": return .structure(try container(type, contents))
    case let other:
      throw SystemdError(cannot: "read a value of type \(other) from the bus", code: EOPNOTSUPP)
    }
  }

  private func array(of contents: UnsafePointer<CChar>?) throws(SystemdError) -> BusValue {
    let signature = contents.map { String(cString: $0) } ?? ""
    if signature == "y" {
      var start: UnsafeRawPointer?
      var count = 0
      try read(sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &count))
      return .bytes([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    }
    let elements = try container(CChar(UInt8(ascii: "a")), contents)
    guard signature.hasPrefix("{s") || signature.hasPrefix("{o") else { return .array(elements) }
    var entries: [String: BusValue] = [:]
    for case .structure(let pair) in elements where pair.count == 2 {
      if let key = pair[0].text { entries[key] = pair[1] }
    }
    return .dictionary(entries)
  }

  private func container(_ type: CChar, _ contents: UnsafePointer<CChar>?) throws(SystemdError) -> [BusValue] {
    try read(sd_bus_message_enter_container(message, type, contents))
    let values = try values()
    try read(sd_bus_message_exit_container(message))
    return values
  }

  private func basic<Value: BitwiseCopyable>(_ type: CChar, _ zero: Value) throws(SystemdError) -> Value {
    var value = zero
    try read(sd_bus_message_read_basic(message, type, &value))
    return value
  }

  private func text(_ type: CChar) throws(SystemdError) -> String {
    var text: UnsafePointer<CChar>?
    try read(sd_bus_message_read_basic(message, type, &text))
    return text.map { String(cString: $0) } ?? ""
  }

  @discardableResult
  private func read(_ result: Int32) throws(SystemdError) -> Int32 {
    try check(result, cannot: "read a message of the bus")
  }

  /// Makes a call message, which must be released.
  init(calling method: BusMethod, on connection: OpaquePointer?) throws(SystemdError) {
    var call: OpaquePointer?
    try check(
      sd_bus_message_new_method_call(
        connection, &call, method.service, method.path, method.interface, method.name),
      cannot: "make a call of \(method.name)")
    guard let call else { throw SystemdError(cannot: "make a call of \(method.name)", code: ENOMEM) }
    message = call
    require(
      sd_bus_message_set_auto_start(call, method.startsService ? 1 : 0), "say whether a call may start its service")
    for argument in method.arguments {
      let result = argument.append(to: call)
      guard result >= 0 else {
        sd_bus_message_unref(call)
        throw SystemdError(cannot: "write a call of \(method.name)", code: result)
      }
    }
  }

  /// Releases the message.
  func release() { sd_bus_message_unref(message) }
}
