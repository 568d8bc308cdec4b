/// Strings in the form of `argv` and `environ`: pointers to bytes that end in zero, and a null pointer after the last.
enum StringVector {
  /// Calls `body` with the vector, which lives as long as the call.
  ///
  /// All bytes are in one block, because this is done for every task that starts.
  static func with<Result>(
    _ strings: [String], _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let size = strings.reduce(0) { $0 + $1.utf8.count + 1 }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { bytes in
      withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: strings.count + 1) { vector in
        var offset = 0
        for (index, string) in strings.enumerated() {
          let place = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
          place.copyBytes(from: string.utf8)
          place[string.utf8.count] = 0
          vector.initializeElement(at: index, to: place.baseAddress?.assumingMemoryBound(to: CChar.self))
          offset += string.utf8.count + 1
        }
        vector.initializeElement(at: strings.count, to: nil)
        return body(vector)
      }
    }
  }
}
