/// The interface `org.refreshd.Worker`: what refreshd and its own refresh-worker tell each other.
///
/// Its methods are nested types with a `Parameters` and a `Reply`, its errors nested types with a `name`.
public enum WorkerInterface {
  /// The name of the interface.
  public static let name = "org.refreshd.Worker"
  /// The text of the interface's file, which introspection serves.
  public static let description = String(decoding: PackageResources.org_refreshd_Worker_varlink, as: UTF8.self)
}
