import Varlink

/// Serves org.varlink.certification: holds every client to the order of the methods and to their parameters.
final class Certifier {
  /// The method that each client has to call next.
  private var expected: [String: String] = [:]
  private var lastClient = 0

  var interface: Interface {
    var interface = Interface(
      "org.varlink.certification",
      description: String(decoding: PackageResources.org_varlink_certification_varlink, as: UTF8.self))
    interface.method("Start") { (call: Call<NoParameters>) in
      self.lastClient += 1
      let client = Started(id: "client-\(self.lastClient)")
      self.expected[client.id] = "Test01"
      call.reply(client)
    }
    serve("Test01", in: &interface, wants: Nothing(), next: "Test02") { $0.reply(Bool1.expected) }
    serve("Test02", in: &interface, wants: Bool1.expected, next: "Test03") { $0.reply(Int1.expected) }
    serve("Test03", in: &interface, wants: Int1.expected, next: "Test04") { $0.reply(Float1.expected) }
    serve("Test04", in: &interface, wants: Float1.expected, next: "Test05") { $0.reply(String1.expected) }
    serve("Test05", in: &interface, wants: String1.expected, next: "Test06") { $0.reply(Basics.expected) }
    serve("Test06", in: &interface, wants: Basics.expected, next: "Test07") { $0.reply(Struct1.expected) }
    serve("Test07", in: &interface, wants: Struct1.expected, next: "Test08") { $0.reply(Map1.expected) }
    serve("Test08", in: &interface, wants: Map1.expected, next: "Test09") { $0.reply(Set1.expected) }
    serve("Test09", in: &interface, wants: Set1.expected, next: "Test10") { $0.reply(MyType1.expected) }
    serve("Test10", in: &interface, wants: MyType1.expected, next: "Test11") { call in
      guard call.wantsMore else { return call.fail(ExpectedMore()) }
      let replies = Replies.expected.replies
      for reply in replies { call.reply(String1(string: reply), continues: reply != replies.last) }
    }
    serve("Test11", in: &interface, wants: Replies.expected, next: "End") { call in
      guard call.isOneway else { return call.fail(CertificationError(wants: "oneway", got: "a call")) }
      call.reply()
    }
    serve("End", in: &interface, wants: Nothing(), next: nil) { $0.reply(Ended(allOK: true)) }
    return interface
  }

  private func serve<Value: Codable & Equatable & Sendable>(
    _ method: String, in interface: inout Interface, wants: Value, next: String?,
    answer: @escaping (Call<Identified<Value>>) -> Void
  ) {
    interface.method(method) { (call: Call<Identified<Value>>) in
      let client = call.parameters.client
      guard self.expected[client.id] == method else { return call.fail(ClientIdError()) }
      self.expected[client.id] = nil
      guard call.parameters.value == wants else {
        return call.fail(CertificationError(wants: wants, got: call.parameters.value))
      }
      self.expected[client.id] = next
      answer(call)
    }
  }
}

struct ClientIdError: VarlinkError {
  static let name = "org.varlink.certification.ClientIdError"
}

struct CertificationError<Value: Encodable & Sendable>: VarlinkError {
  static var name: String { "org.varlink.certification.CertificationError" }
  let wants: Value
  let got: Value
}
