extension String {
  /// The text with its markup characters escaped, because the desktop reads markup in a notification.
  public var withoutMarkup: String {
    // A combining mark makes one character with the markup character before it.
    unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}
