import RefreshConfig

/// A URL without its secrets.
enum ShownURL {
  /// The public part of a URL: without user, password and query.
  static func of(_ url: String) -> String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}
