extension String {
  /// Whether the text is a well-known name of a bus (D-Bus specification, "Bus names").
  ///
  /// Does not use sd-bus(3), because the command checks files and has no libsystemd.
  public var isBusName: Bool {
    let elements = split(separator: ".", omittingEmptySubsequences: false)
    return elements.count > 1 && utf8.count <= 255
      && elements.allSatisfy { element in
        guard let first = element.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return element.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
      }
  }
}
