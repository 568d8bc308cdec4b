import RefreshConfig
import Systemd

/// Converts a property of an app's `[sandbox]` for the service manager (org.freedesktop.systemd1(5)).
extension UnitProperty {
  init(_ property: SandboxProperty) {
    self.init(property.name, BusArgument(property.value))
  }
}

extension BusArgument {
  fileprivate init(_ value: SandboxProperty.Value) {
    self =
      switch value {
      case .boolean(let isOn): .boolean(isOn)
      case .text(let text): .string(text)
      case .texts(let texts): .strings(texts)
      case .int32(let number): .int32(number)
      case .uint32(let number): .uint32(number)
      case .uint64(let number): .uint64(number)
      case .filter(let isAllowing, let names): .structure([.boolean(isAllowing), .strings(names)])
      case .addresses(let ranges): .array(of: "(iayu)", ranges.map(Self.init))
      }
  }

  private init(_ range: SandboxProperty.AddressRange) {
    self = .structure([
      .int32(range.family), .array(of: "y", range.address.map { .byte($0) }), .uint32(range.prefixLength),
    ])
  }
}
