import Glibc

// The built-in tasks, each by its name: see the files of these names.
switch CommandLine.arguments.dropFirst() {
case ["http"]:
  exit(FetchTask.run())
default:
  complain("usage: refresh-worker transfer|http|notify; it is started by refreshd")
  exit(EX_USAGE)
}
