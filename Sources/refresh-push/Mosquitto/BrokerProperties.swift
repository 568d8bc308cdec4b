import CMosquitto
import Glibc

/// The properties of an MQTT 5 packet: the list that libmosquitto makes and reads.
struct BrokerProperties {
  /// The head of the list; nil while it is empty.
  private(set) var list: OpaquePointer?

  /// Adds a number of four bytes.
  ///
  /// One that there is no memory for is not added: the broker then takes its own default.
  mutating func add(_ property: mqtt5_property, _ number: UInt32) {
    mosquitto_property_add_int32(&list, Int32(property.rawValue), number)
  }

  /// Gives the memory of the list back.
  mutating func free() { mosquitto_property_free_all(&list) }

  /// A number of two bytes; nil if the packet does not have it.
  static func number(_ property: mqtt5_property, of list: OpaquePointer?) -> UInt16? {
    var number: UInt16 = 0
    let found = list.map { mosquitto_property_read_int16($0, Int32(property.rawValue), &number, false) }
    return found.flatMap { _ in number > 0 ? number : nil }
  }

  /// What the sender of a message added under a name of its own choice; the first if there are several.
  static func user(_ wanted: String, of list: OpaquePointer?) -> String? {
    var place = list
    var isLater = false
    while let here = place {
      var name: UnsafeMutablePointer<CChar>?
      var value: UnsafeMutablePointer<CChar>?
      place = mosquitto_property_read_string_pair(here, Int32(MQTT_PROP_USER_PROPERTY.rawValue), &name, &value, isLater)
      isLater = true
      defer {
        Glibc.free(name)
        Glibc.free(value)
      }
      if let name, let value, place != nil, String(cString: name) == wanted { return String(cString: value) }
    }
    return nil
  }
}
