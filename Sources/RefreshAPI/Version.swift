/// The version of the daemon, the command and the library; it is written only here.
public let refreshdVersion = "0.1.0"
