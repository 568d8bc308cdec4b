import Glibc
import RefreshAPI

// Each command has a file with its `run()`.
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 1, let command = arguments.first.flatMap(Wire.WorkerCommand.init(rawValue:)) else {
  let commands = Wire.WorkerCommand.allCases.map(\.rawValue).joined(separator: "|")
  logError("usage: refresh-worker \(commands); it is started by refreshd")
  exit(EX_USAGE)
}
// A file above a size limit (setrlimit(2)) must be an error and not end the process.
signal(SIGXFSZ, SIG_IGN)
switch command {
case .transfer: exit(TransferTask.run())
case .http: exit(FetchTask.run())
case .enqueue: exit(EnqueueTask.run())
case .notify: exit(Notification.run())
case .replicate: exit(ReplicationTask.run())
case .unit: exit(UnitTask.run())
case .activate: exit(ActivateTask.run())
case .reach: exit(ReachTask.run())
case .keep: exit(KeepTask.run())
case .ping: exit(PingTask.run())
}
