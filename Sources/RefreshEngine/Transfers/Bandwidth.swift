/// The bandwidth bound of all transfers, shared among the workers.
public enum Bandwidth {
  /// The equal share of each worker with work, in bytes a second and at least 1; nil without a bound.
  public static func share(of bound: Int64?, among workers: Int) -> Int64? {
    bound.map { max(1, $0 / Int64(max(1, workers))) }
  }
}
