import JSON
import RefreshAPI
import Testing
import Varlink

/// The generated types read and write messages.
///
/// The generator has a test of its own.
struct MessageTests {
  /// Texts as an earlier client or daemon wrote them, each by the type that reads it.
  private static let messages: [(any (JSONReadable & JSONWritable & SendableMetatype).Type, String)] = [
    (AppInterface.Signal.Parameters.self, #"{"app":"org.example.todo","lease":true,"signal":"foreground"}"#),
    (AppInterface.Signal.Reply.self, #"{"phase":"logged_out"}"#),
    (AppInterface.Complete.Parameters.self, #"{"outcome":"no_data","token":"f00d-1"}"#),
    (ManagerInterface.Set.Parameters.self, #"{"apps":["a.b"],"background_interval":"1h"}"#),
    (ManagerInterface.Version.Reply.self, #"{"start":12,"version":"0.1.0"}"#),
    (
      ManagerInterface.History.Reply.self,
      #"{"refreshes":[{"app":"a.b","cpu_us":1,"duration_us":2,"extra_completions":0,"id":"1-2","outcome":"failed","started_us":3,"tasks":[],"trigger":"catch_up"}]}"#
    ),
    (
      PushInterface.Deliver.Parameters.self,
      #"{"deliveries":[{"app":"a.b","id":"1","payload":"{\"aps\":{}}","urgency":"very_low"}]}"#
    ),
    (
      WorkerInterface.Report.Parameters.self,
      #"{"reports":[{"end":"no_space","id":7,"kind":"ended","needed":8}],"token":""}"#
    ),
    (TransfersInterface.Cancel.Parameters.self, #"{"ids":[1,9007199254740993]}"#),
    (RefreshdInterface.NotAllowed.self, #"{"remedy":"ask root"}"#),
  ]

  @Test(arguments: messages.indices)
  func aMessageIsReadAndWrittenWithoutLoss(index: Int) throws {
    let (type, text) = Self.messages[index]
    #expect(try again(type, text) == text)
  }

  private func again<Message: JSONReadable & JSONWritable>(_ type: Message.Type, _ text: String) throws -> String {
    try Message(jsonText: Array(text.utf8)).jsonText(.line)
  }

  @Test(arguments: [
    (#"{"app":"a"}"#, "signal"), (#"{"app":1,"signal":"login"}"#, "app"), (#"{"app":"a","signal":"nap"}"#, "signal"),
    (#"{"app":"a","signal":null}"#, "signal"), ("[]", ""), (#"{"app":"a","app":"a","signal":"login"}"#, "app"),
    (#"{"app":"a","signal":"login","lease":0}"#, "lease"),
  ])
  func anErrorNamesTheParameter(text: String, path: String) {
    let bytes = Array(text.utf8)
    let error = #expect(throws: JSONError.self) { try AppInterface.Signal.Parameters(jsonText: bytes) }
    #expect(bytes.withUnsafeBytes { error?.path(in: $0) } == path)
  }

  @Test func theWayToAParameterIsWhole() {
    let bytes = Array(#"{"deliveries":[{"app":"a","payload":""},{"app":"a","payload":"","urgency":"soon"}]}"#.utf8)
    let error = #expect(throws: JSONError.self) { try PushInterface.Deliver.Parameters(jsonText: bytes) }
    #expect(bytes.withUnsafeBytes { error?.path(in: $0) } == "deliveries[1].urgency")
  }

  @Test func anEventOfALaterDaemonIsReadAsFarAsItIsKnown() throws {
    let text = #"{"kind":"new","phase":"asleep","trigger":"moon","reason":"deadline","later":[{}],"outcome":null}"#
    let event = try Wire.AttachEvent(jsonText: Array(text.utf8))
    #expect(event == Wire.AttachEvent(kind: .init(rawValue: "new"), reason: .deadline))
    #expect(try event.jsonText(.line) == #"{"kind":"new","reason":"deadline"}"#)
    #expect(try Wire.AttachEvent(kind: .pushDropped).jsonText(.line) == #"{"kind":"push_dropped"}"#)
    #expect(throws: JSONError.self) { try Wire.AttachEvent(jsonText: Array(#"{"kind":"new","phase":5}"#.utf8)) }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func noBytesStopTheTypes(seed: UInt64) {
    var state = seed &* 0x9e37_79b9_7f4a_7c15
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let pieces = Array(#"{}[]:,"\u0e-.1null"#.utf8) + [0, 0xFF]
    for (type, text) in Self.messages {
      for _ in 0..<200 {
        var bytes = Array(text.utf8)
        for _ in 0...random(4) where !bytes.isEmpty {
          let position = random(bytes.count)
          switch random(4) {
          case 0: bytes.remove(at: position)
          case 1: bytes[position] = pieces[random(pieces.count)]
          case 2: bytes.removeSubrange(position...)
          default: bytes.insert(contentsOf: bytes[position...].prefix(30), at: position)
          }
        }
        do throws(JSONError) { _ = try type.init(jsonText: bytes) } catch {
          _ = bytes.withUnsafeBytes { error.path(in: $0) }
        }
      }
    }
  }

  @Test func introspectionServesTheFilesThemselves() {
    for interface in [
      AppInterface.self, ManagerInterface.self, TransfersInterface.self, WorkerInterface.self, PushInterface.self,
      RefreshdInterface.self,
    ] as [any InterfaceDeclaration.Type] {
      #expect(interface.description.contains("\ninterface \(interface.name)\n"))
    }
  }
}
