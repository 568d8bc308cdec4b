/// The interface `org.refreshd.App`: what an app, or whoever speaks for it, tells refreshd, and is told.
///
/// Its methods are nested types with a `Parameters` and a `Reply`, its errors nested types with a `name`.
public enum AppInterface {
  /// The name of the interface.
  public static let name = "org.refreshd.App"
  /// The text of the interface's file, which introspection serves.
  public static let description = String(decoding: PackageResources.org_refreshd_App_varlink, as: UTF8.self)
}
