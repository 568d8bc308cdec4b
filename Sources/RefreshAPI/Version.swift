/// The version of daemon, command and library alike: the only place that says it.
public let refreshdVersion = "0.1.0"
