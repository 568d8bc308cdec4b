import Foundation
import Testing

@testable import RefreshAPI

/// Holds the Swift types against `messages.json`, which `test_interfaces.py` holds against the interface files.
///
/// The file also is the wire as it was released: what is in it must be read for ever.
@Suite struct MessageTests {
  private let messages: [String: Any]

  init() throws {
    let document = try JSONSerialization.jsonObject(with: Data(PackageResources.messages_json))
    messages = try #require(document as? [String: Any])
  }

  @Test func everyMessageHasATypeAndNoOther() {
    let names = WireTypes.messages.map(\.name) + WireTypes.enums.map(\.name)
    #expect(names.count == Set(names).count)
    #expect(Set(names) == Set(messages.keys))
  }

  @Test(arguments: WireTypes.messages)
  func aMessageIsReadAndWrittenWithoutLoss(_ type: MessageType) throws {
    let message = try #require(messages[type.name])
    for alternative in message as? [Any] ?? [message] {
      let written = try type.readAndWrite(JSONSerialization.data(withJSONObject: alternative))
      let again = try JSONSerialization.jsonObject(with: written)
      #expect(again as? NSDictionary == alternative as? NSDictionary)
    }
  }

  @Test(arguments: WireTypes.enums)
  func anEnumHasTheMembersOfTheFile(_ type: EnumType) {
    #expect(messages[type.name] as? [String] == type.members)
  }

  @Test func whatIsAbsentIsLeftOut() throws {
    let written = try JSONEncoder().encode(ManagerInterface.History.Parameters(app: "org.example.todo"))
    #expect(String(decoding: written, as: UTF8.self) == #"{"app":"org.example.todo"}"#)
  }

  @Test func introspectionServesTheFilesThemselves() {
    #expect(AppInterface.description.contains("\ninterface \(AppInterface.name)\n"))
    #expect(ManagerInterface.description.contains("\ninterface \(ManagerInterface.name)\n"))
    #expect(TransfersInterface.description.contains("\ninterface \(TransfersInterface.name)\n"))
    #expect(WorkerInterface.description.contains("\ninterface \(WorkerInterface.name)\n"))
    #expect(PushInterface.description.contains("\ninterface \(PushInterface.name)\n"))
  }
}
