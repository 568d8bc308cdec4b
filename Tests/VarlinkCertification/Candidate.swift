import JSON
import Varlink

/// Calls the methods of org.varlink.certification in order, each with the previous reply.
struct Candidate {
  let client: Client

  func run() throws -> Bool {
    let id = try client.call(Certification.Start.self, .init()).clientID
    var last = try call(Certification.Test01.self, id, .object([]))
    last = try call(Certification.Test02.self, id, last)
    last = try call(Certification.Test03.self, id, last)
    last = try call(Certification.Test04.self, id, last)
    last = try call(Certification.Test05.self, id, last)
    last = try call(Certification.Test06.self, id, last)
    last = try call(Certification.Test07.self, id, last)
    last = try call(Certification.Test08.self, id, last)
    last = try call(Certification.Test09.self, id, last)
    var replies: [String] = []
    try client.stream(Certification.Test10.self, parameters(of: Certification.Test10.self, id, last)) { reply in
      replies.append(reply.string)
      return true
    }
    try client.send(Certification.Test11.self, .init(clientID: id, lastMoreReplies: replies))
    return try client.call(Certification.End.self, .init(clientID: id)).allOK
  }

  /// Calls a method with its own types on the way out and on the way in.
  private func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ id: String, _ value: JSONValue
  ) throws -> JSONValue {
    let reply = try client.call(method, parameters(of: method, id, value))
    return try JSONValue(jsonText: reply.jsonBytes())
  }

  private func parameters<Method: InterfaceMethod>(
    of method: Method.Type, _ id: String, _ value: JSONValue
  ) throws -> Method.Parameters {
    try Method.Parameters(jsonText: Identified(client: id, value: value).jsonBytes())
  }
}
