import Systemd

/// The parts that read the configuration on disk: for a caller, and again for apps that are held.
struct ConfigurationFileParts {
  let reads: ConfigurationReads
  let held: HeldApps

  init(_ core: DaemonCore, _ files: any ConfigurationFiles) {
    reads = ConfigurationReads(core, files)
    held = HeldApps(core, reads)
  }

  func open() throws(SystemdError) {
    try reads.open()
    try held.open()
  }
}
