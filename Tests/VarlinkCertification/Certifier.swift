import JSON
import Varlink

typealias Certification = CertificationInterface

/// Serves org.varlink.certification: holds every client to the order of the methods and to their parameters.
final class Certifier {
  /// The method that each client has to call next.
  private var expected: [String: String] = [:]
  private var lastClient = 0

  var interface: Interface {
    var interface = Interface(Certification.self)
    interface.serve(Certification.Start.self) { call in
      self.lastClient += 1
      let client = "client-\(self.lastClient)"
      self.expected[client] = Certification.Test01.name
      call.reply(Certification.Start.Reply(clientID: client))
    }
    serve(Certification.Test01.self, in: &interface, \.clientID, nil, next: Certification.Test02.name)
    serve(Certification.Test02.self, in: &interface, \.clientID, Answers.test01, next: Certification.Test03.name)
    serve(Certification.Test03.self, in: &interface, \.clientID, Answers.test02, next: Certification.Test04.name)
    serve(Certification.Test04.self, in: &interface, \.clientID, Answers.test03, next: Certification.Test05.name)
    serve(Certification.Test05.self, in: &interface, \.clientID, Answers.test04, next: Certification.Test06.name)
    serve(Certification.Test06.self, in: &interface, \.clientID, Answers.test05, next: Certification.Test07.name)
    serve(Certification.Test07.self, in: &interface, \.clientID, Answers.test06, next: Certification.Test08.name)
    serve(Certification.Test08.self, in: &interface, \.clientID, Answers.test07, next: Certification.Test09.name)
    serve(Certification.Test09.self, in: &interface, \.clientID, Answers.test08, next: Certification.Test10.name)
    serve(Certification.Test10.self, in: &interface, \.clientID, Answers.test09, next: Certification.Test11.name) {
      call in
      guard call.wantsMore else { return call.fail(ExpectedMore()) }
      for reply in Answers.replies {
        call.reply(Certification.Test10.Reply(string: reply), continues: reply != Answers.replies.last)
      }
    }
    serve(Certification.Test11.self, in: &interface, \.clientID, Answers.test10, next: Certification.End.name) { call in
      guard call.isOneway else {
        return call.fail(Certification.CertificationError(wants: .text("oneway"), got: .text("a call")))
      }
      call.reply()
    }
    serve(Certification.End.self, in: &interface, \.clientID, nil, next: nil)
    return interface
  }

  /// Serves a method that wants the answer to the method before it, and answers with its own.
  private func serve<Method: InterfaceMethod>(
    _ method: Method.Type, in interface: inout Interface, _ client: @escaping (Method.Parameters) -> String,
    _ wants: JSONValue?, next: String?, answer: ((Call<Method.Parameters>) -> Void)? = nil
  ) {
    interface.serve(method) { call in
      let id = client(call.parameters)
      guard self.expected[id] == Method.name else { return call.fail(Certification.ClientIdError()) }
      self.expected[id] = nil
      do {
        let got = try JSONValue(jsonText: call.parameters.jsonBytes()).removing("client_id")
        let wanted = wants ?? .object([])
        guard got.isSame(as: wanted) else {
          return call.fail(Certification.CertificationError(wants: wanted, got: got))
        }
        self.expected[id] = next
        if let answer { return answer(call) }
        call.reply(try Method.Reply(jsonText: (Answers.all[Method.name] ?? .object([])).jsonBytes()))
      } catch {
        call.fail(Certification.CertificationError(wants: .text("JSON"), got: .text("\(error)")))
      }
    }
  }
}
