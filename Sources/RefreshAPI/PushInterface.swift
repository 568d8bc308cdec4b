/// The interface `org.refreshd.Push`: what the push bridge and refreshd tell each other.
///
/// Its methods are nested types with a `Parameters` and a `Reply`, its errors nested types with a `name`.
public enum PushInterface {
  /// The name of the interface.
  public static let name = "org.refreshd.Push"
  /// The text of the interface's file, which introspection serves.
  public static let description = String(decoding: PackageResources.org_refreshd_Push_varlink, as: UTF8.self)
}
