import CMosquitto
import Glibc

/// The properties of an MQTT 5 packet, in libmosquitto's list.
struct BrokerProperties {
  /// The head of the list; nil while it is empty.
  private(set) var list: OpaquePointer?

  /// Adds a number of four bytes.
  ///
  /// Without memory the number is not added, and the broker uses its default.
  mutating func add(_ property: mqtt5_property, _ number: UInt32) {
    mosquitto_property_add_int32(&list, Int32(property.rawValue), number)
  }

  mutating func free() { mosquitto_property_free_all(&list) }

  /// A number of two bytes; nil if the packet does not have the property.
  static func number(_ property: mqtt5_property, of list: OpaquePointer?) -> UInt16? {
    var number: UInt16 = 0
    let found = list.map { mosquitto_property_read_int16($0, Int32(property.rawValue), &number, false) }
    return found.flatMap { _ in number > 0 ? number : nil }
  }

  /// The first user property with the wanted name.
  static func user(_ wanted: String, of list: OpaquePointer?) -> String? {
    var next = list
    var isLater = false
    while let node = next {
      var name: UnsafeMutablePointer<CChar>?
      var value: UnsafeMutablePointer<CChar>?
      next = mosquitto_property_read_string_pair(node, Int32(MQTT_PROP_USER_PROPERTY.rawValue), &name, &value, isLater)
      isLater = true
      defer {
        Glibc.free(name)
        Glibc.free(value)
      }
      if let name, let value, next != nil, String(cString: name) == wanted { return String(cString: value) }
    }
    return nil
  }
}
