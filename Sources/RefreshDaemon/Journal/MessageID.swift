/// The ids of the message catalogue (`MESSAGE_ID=`), one for each kind of journal entry.
///
/// `systemd/refreshd.catalog` explains each for `journalctl -x`; a test compares the two. An id is random (`journalctl
/// --new-id128`) and never changes its meaning, because people filter by it.
public enum MessageID: UInt128, Hashable, Sendable, CaseIterable {
  /// The socket answers and the configuration is in force.
  case daemonReady = 0xf34613d2b98c4e94beed0c404b564e22
  /// The daemon was asked to stop and drains.
  case daemonStopping = 0x9aa31b70e40f4442beaf19dd8acd05dd
  /// A configuration was read and is in force.
  case configurationInForce = 0x0b1f6994ad984547a7067b59052244b9
  /// A new configuration has mistakes; the earlier one stays in force.
  case configurationRefused = 0x8eb21a77a8104ae4b18e126b86ea8497
  /// A refresh of an app started.
  case refreshStarted = 0x1ef0d86f86e24fa192a41e41b9c9e038
  /// The daemon took over a running refresh of an earlier daemon.
  case refreshTakenOver = 0x0b6bfae9ed064d73ad1377337a356887
  /// A refresh ended with new data or no data.
  case refreshFinished = 0xd81742f561a24dbfa24cb2186c90fa46
  /// A refresh ended and failed.
  case refreshFailed = 0x9e1ec3835fc6498fbb9b9a1fe2ec1864
  /// The daemon itself ended a refresh, for another reason than its deadline.
  case refreshStopped = 0x4c628f92ac4d4e5e86e845a15b8043fe
  /// A refresh was still running at its deadline.
  case deadlinePassed = 0x3365f6dd26be400188263c35193aca88
  /// A line that a task printed.
  case taskOutput = 0xdc6b2ca81b1b45faa88d5fd7e2f61d5a
  /// The phase of an app changed.
  case appPhaseChanged = 0x95771ebcb7104f9dba0544d9fbcae8d7
  /// A process attached to its app, to perform the app's refreshes.
  case appAttached = 0x1c93ebc3888d406f95861dc583a7ebf3
  /// A process that was attached to its app is gone.
  case appDetached = 0x6548cd1a3de24e929e12a7f72ca12bd8
  /// An attached process did not end a refresh by the end of the grace.
  case appLate = 0xc339bb5e95aa49b7900024ee73cd4416
  /// The data of an app is older than its file allows.
  case dataStale = 0x7052ee8b4a5643a2be6b59964afd2124
  /// A due refresh of an app is held for longer than its file allows.
  case refreshWaits = 0x8aea9453f3d7495b95ac95ed92d7bd30
  /// As many refreshes of an app failed in a row as its file names.
  case appFailing = 0x5d0c3e2f7ab948a2b7c1f0a64d8e9b13
  /// A transfer is in the queue.
  case transferEnqueued = 0xabe7610057294f02be049da5b35f3dc8
  /// A transfer began to move its file, or resumed.
  case transferBegan = 0xd45ff6cbc5754d85a38b45dfc92a9946
  /// A try of a transfer has ended, and another follows.
  case transferRetried = 0x00ed4e314eab40958e3c11886e61ab02
  /// A transfer has ended.
  case transferEnded = 0x8e7390c4cccb404da36036c48d2f7485
  /// A push was accepted.
  case pushTaken = 0xe30e59510ca34c438cf8e1f0200376db
  /// A wake for an ended transfer session was given up, because nothing could be started for a week.
  case wakeDropped = 0xf43427b5ea1643d2a5be7d4851956b1e
  /// A push was dropped, because too many came after it.
  case pushDropped = 0xeaa00066e4754603b64d4c42bc5bf41e
  /// The store cannot be written; the daemon goes on in memory.
  case storeCannotWrite = 0xaf76eb1ad8fa448db74f8f8e6b3684cd
  /// The store can be written again; all changes are in it.
  case storeWritesAgain = 0x06305a52efcf4227945adb6d5d8c0ce4
  /// A guard keeps its unit from running, or the state of the kept unit changed.
  case unitKept = 0xaeabb1e299d54594b4bc9d6882b72712
  /// A guard has returned its unit, or cannot return it.
  case unitReturned = 0x175d30ce80ac4a5391dd88477327fbc2
}
