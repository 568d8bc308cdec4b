/// The interface `org.refreshd.Manager`: what a person, or a program on a person's behalf, asks of refreshd.
///
/// Its methods are nested types with a `Parameters` and a `Reply`, its errors nested types with a `name`.
public enum ManagerInterface {
  /// The name of the interface.
  public static let name = "org.refreshd.Manager"
  /// The text of the interface's file, which introspection serves.
  public static let description = String(decoding: PackageResources.org_refreshd_Manager_varlink, as: UTF8.self)
}
