/// The types of packets that a broker may send to the bridge (MQTT 5, section 2.1.2).
enum MQTTPacketType: UInt8 {
  case connack = 2
  case publish = 3
  case suback = 9
  case unsuback = 11
  case pingresp = 13
  case disconnect = 14
}
