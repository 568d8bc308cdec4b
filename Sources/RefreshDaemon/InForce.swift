import RefreshConfig
import RefreshEngine

/// The configuration in force, and what is wrong with the one that was to replace it.
struct InForce {
  /// The bounds for all apps.
  let limits: Limits
  /// The apps by id.
  let apps: [AppID: AppConfiguration]
  /// When it came into force, in microseconds of the wall clock.
  let sinceMicroseconds: Int64
  /// The mistakes for which the last reload was refused; empty when it was not.
  var refused: [Problem] = []

  init(_ configuration: Configuration, at moment: Moment) {
    limits = configuration.limits
    apps = Dictionary(uniqueKeysWithValues: configuration.apps.map { ($0.id, $0) })
    sinceMicroseconds = moment.instant.wallMicroseconds(at: moment.wallOffset)
  }

  /// What the engine must know of it.
  var event: Event { .configured(limits, apps.mapValues(\.policy)) }
}
