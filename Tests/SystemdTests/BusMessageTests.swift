import CSystemd
import Glibc
import PrivateBus
import Testing

@testable import Systemd

@Suite struct BusMessageTests {
  /// Reads a message that `write` has written; sd-bus(3) needs a connection, even an unfinished one.
  private func read(_ write: (OpaquePointer) -> Void) throws -> [BusValue] {
    let server = try PrivateBus()
    let bus = try Bus(server.address, on: try EventLoop())
    var new: OpaquePointer?
    try check(
      sd_bus_message_new_signal(bus.connection, &new, "/", "org.example.Test", "Told"), cannot: "make a message")
    let message = try #require(new)
    defer { sd_bus_message_unref(message) }
    write(message)
    try check(sd_bus_message_seal(message, 1, 0), cannot: "seal a message")
    return try BusMessage(message).values()
  }

  private func append<Value: BitwiseCopyable>(_ message: OpaquePointer, _ type: Character, _ value: Value) {
    var value = value
    #expect(sd_bus_message_append_basic(message, CChar(type.asciiValue ?? 0), &value) >= 0)
  }

  private func append(_ message: OpaquePointer, _ type: Character, text: String) {
    #expect(text.withCString { sd_bus_message_append_basic(message, CChar(type.asciiValue ?? 0), $0) } >= 0)
  }

  private func container(_ message: OpaquePointer, _ type: Character, _ contents: String, _ body: () -> Void) {
    #expect(sd_bus_message_open_container(message, CChar(type.asciiValue ?? 0), contents) >= 0)
    body()
    #expect(sd_bus_message_close_container(message) >= 0)
  }

  @Test func simpleValues() throws {
    let values = try read { message in
      append(message, "s", text: "Café")
      append(message, "o", text: "/org/example")
      append(message, "g", text: "a{sv}")
      append(message, "b", Int32(1))
      append(message, "y", UInt8.max)
      append(message, "n", Int16.min)
      append(message, "q", UInt16.max)
      append(message, "i", Int32.min)
      append(message, "u", UInt32.max)
      append(message, "x", Int64.min)
      append(message, "t", UInt64.max)
      append(message, "d", 63.5)
    }
    #expect(
      values == [
        .string("Café"), .path("/org/example"), .string("a{sv}"), .boolean(true), .unsigned(255), .integer(-32768),
        .unsigned(65535), .integer(-2_147_483_648), .unsigned(4_294_967_295), .integer(.min), .unsigned(.max),
        .double(63.5),
      ])
  }

  @Test func valuesInValues() throws {
    let values = try read { message in
      container(message, "a", "y") { for byte in [0, 67, 255] as [UInt8] { append(message, "y", byte) } }
      container(message, "a", "s") {}
      container(message, "a", "{sv}") {
        container(message, "e", "sv") {
          append(message, "s", text: "Percentage")
          container(message, "v", "v") { container(message, "v", "d") { append(message, "d", 7.0) } }
        }
      }
      container(message, "a", "{us}") {
        container(message, "e", "us") {
          append(message, "u", UInt32(1))
          append(message, "s", text: "one")
        }
      }
      container(message, "r", "so") {
        append(message, "s", text: "anna")
        append(message, "o", text: "/1")
      }
      append(message, "b", Int32(0))
    }
    #expect(
      values == [
        .bytes([0, 67, 255]), .array([]), .dictionary(["Percentage": .double(7)]),
        .array([.structure([.unsigned(1), .string("one")])]), .structure([.string("anna"), .path("/1")]),
        .boolean(false),
      ])
  }

  @Test func anIntegerThatDoesNotFitIsNil() {
    #expect(BusValue.unsigned(.max).integer == nil)
    #expect(BusValue.unsigned(70).integer == 70)
    #expect(BusValue.string("70").integer == nil)
  }
}
