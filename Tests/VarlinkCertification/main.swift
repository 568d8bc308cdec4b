// The Varlink module certified by others: `varlink-certification serve|call SOCKET`.
//
// `serve` serves org.varlink.certification on the socket until it is killed and prints "ready" when it does; `call` calls
// its methods and ends with 0 if the service was content.

@preconcurrency import Glibc
import Systemd
import Varlink

func fail(_ reason: String) -> Never {
  fputs("\(reason)\n", stderr)
  exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let action = arguments.first, let path = arguments.last else {
  fail("cannot start: say `serve SOCKET` or `call SOCKET`")
}
do {
  switch action {
  case "serve":
    let loop = try EventLoop()
    let server = Server(
      ServiceInfo(vendor: "refreshd", product: "Certification", version: "1", url: "https://varlink.org"),
      interfaces: [Certifier().interface], reactor: LoopReactor(loop))
    try server.listen(at: path, mode: 0o600)
    print("ready")
    fflush(nil)
    exit(try loop.run())
  case "call":
    guard try Candidate(client: try Client(path: path)).run() else { fail("cannot pass: the service is not content") }
  default: fail("cannot \(action): say `serve SOCKET` or `call SOCKET`")
  }
} catch {
  fail("\(error)")
}
