/// The interface `org.refreshd.Transfers`: background transfers.
///
/// Its methods are nested types with a `Parameters` and a `Reply`, its errors nested types with a `name`.
public enum TransfersInterface {
  /// The name of the interface.
  public static let name = "org.refreshd.Transfers"
  /// The text of the interface's file, which introspection serves.
  public static let description = String(decoding: PackageResources.org_refreshd_Transfers_varlink, as: UTF8.self)
}
