import Glibc

/// The subcommands in the order of the usage line; the folder Tasks has a file for each.
let subcommands: KeyValuePairs<String, () -> Int32> = [
  "transfer": TransferTask.run,
  "http": FetchTask.run,
  "enqueue": EnqueueTask.run,
  "notify": Notification.run,
]

let arguments = CommandLine.arguments.dropFirst()
guard let subcommand = subcommands.first(where: { arguments == [$0.key] }) else {
  logError("usage: refresh-worker \(subcommands.map(\.key).joined(separator: "|")); it is started by refreshd")
  exit(EX_USAGE)
}
exit(subcommand.value())
