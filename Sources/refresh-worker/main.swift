import Glibc

// The built-in tasks, each by its name: the folder Tasks has a file for each.
switch CommandLine.arguments.dropFirst() {
case ["transfer"]: exit(TransferTask.run())
case ["http"]: exit(FetchTask.run())
case ["enqueue"]: exit(EnqueueTask.run())
case ["notify"]: exit(Notification.run())
default:
  complain("usage: refresh-worker transfer|http|enqueue|notify; it is started by refreshd")
  exit(EX_USAGE)
}
