import FoundationEssentials

/// What a server reads of one message: the call's name and flags, and what to do about it.
///
/// One parse a call: the method's own parameter type is looked up as soon as the name is known and decoded from the same
/// container. <https://varlink.org/Method-Call>.
struct IncomingCall: DecodableWithConfiguration {
  let method: String
  let wantsMore: Bool
  let isOneway: Bool
  let action: Action

  /// What the message asks for: a handler with its parameters, or to be told why there is none.
  enum Action {
    case run((Exchange) -> Void)
    case fail(any VarlinkError)
  }

  enum Key: String, CodingKey {
    case method, parameters, more, oneway, upgrade
  }

  init(from decoder: any Decoder, configuration methods: MethodTable) throws {
    let message = try decoder.container(keyedBy: Key.self)
    method = try message.decode(String.self, forKey: .method)
    isOneway = try message.decodeIfPresent(Bool.self, forKey: .oneway) ?? false
    wantsMore = try !isOneway && message.decodeIfPresent(Bool.self, forKey: .more) ?? false
    guard try message.decodeIfPresent(Bool.self, forKey: .upgrade) != true else {
      // An answer without an error would tell the peer that the connection speaks another protocol from now on.
      action = .fail(MethodNotImplemented(method: method))
      return
    }
    guard let declared = methods[method] else {
      action = .fail(methods.whyNot(method))
      return
    }
    do {
      action = .run(try declared.prepare(message))
    } catch let error as any VarlinkError {
      action = .fail(error)
    } catch let error as DecodingError {
      action = .fail(InvalidParameter(error))
    } catch {
      action = .fail(InvalidParameter(parameter: "parameters"))
    }
  }
}

/// A message that is no call; the connection it came from is closed.
enum MalformedMessage: Error, Equatable, CustomStringConvertible {
  /// There is more of it than a message may have.
  case tooLong(limit: Int)
  /// The text is not UTF-8.
  case notUTF8
  /// The text is not JSON, nested too deep, or no object with a method and flags of the right types.
  case notACall(String)

  var description: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .notUTF8: "it is not UTF-8"
    case .notACall(let reason): reason
    }
  }
}

/// Reads calls out of messages.
///
/// Holds the one decoder of a server, because a decoder costs more than a call.
struct CallReader {
  private let json = JSONDecoder()
  let methods: MethodTable

  init(methods: MethodTable) {
    self.methods = methods
  }

  /// Reads the call in a message that ends with its NUL byte, which is overwritten.
  func read(_ message: UnsafeMutableRawBufferPointer) throws(MalformedMessage) -> IncomingCall {
    let data = try jsonText(message)
    do {
      return try json.decode(IncomingCall.self, from: data, configuration: methods)
    } catch {
      throw .notACall(String(describing: error))
    }
  }
}

/// Lends the bytes of a message to the JSON decoder, without a copy.
///
/// The decoder of Swift 6.3 traps when arrays are nested 513 deep and the input ends there: it computes the place of the
/// error as one byte behind the end. So its input always ends in a space, for which the NUL makes room.
func jsonText(_ message: UnsafeMutableRawBufferPointer) throws(MalformedMessage) -> Data {
  guard let base = message.baseAddress else { throw .notACall("the message is empty") }
  do {
    // The decoder looks only at what is decoded, and would take UTF-16 for an answer.
    _ = try UTF8Span(validating: Span(_unsafeBytes: UnsafeRawBufferPointer(message)))
  } catch {
    throw .notUTF8
  }
  message[message.count - 1] = UInt8(ascii: " ")
  return Data(bytesNoCopy: base, count: message.count, deallocator: .none)
}
