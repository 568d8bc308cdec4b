import Glibc
import RefreshAPI

// The built-in tasks, each by its name.
switch CommandLine.arguments.dropFirst() {
case ["http"]:
  exit(FetchTask.run())
case ["enqueue"]:
  exit(EnqueueTask.run())
case ["transfer"]:
  if let trouble = Confinement.enter() {
    complain(trouble.message)
    exit(EX_OSERR)
  }
  guard let socket = getenv("REFRESH_SOCKET"), let token = getenv("REFRESH_TOKEN") else {
    complain("cannot work: REFRESH_SOCKET and REFRESH_TOKEN are not set; refreshd sets them")
    exit(EX_USAGE)
  }
  do {
    try TransferWorker(socket: String(cString: socket), token: String(cString: token)).run()
  } catch {
    complain("\(error)")
    exit(EX_TEMPFAIL)
  }
default:
  complain("usage: refresh-worker transfer|http|enqueue|notify; it is started by refreshd")
  exit(EX_USAGE)
}
