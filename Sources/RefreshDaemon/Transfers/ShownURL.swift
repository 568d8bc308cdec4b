import RefreshConfig

/// A URL without its secrets.
enum ShownURL {
  /// The part of a URL that anybody may see: no user, password or query.
  static func of(_ url: String) -> String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}
