// Generates Swift from Varlink interface files. `varlink-swift MODULE FOLDER FILE…` writes `Wire.swift` and one file for
// each interface into the folder. `varlink-swift MODULE FOLDER LIST.twins FILE…` writes `Twins.swift` instead. The plugin
// of the same name runs it.

@preconcurrency import Glibc

func fail(_ message: String) -> Never {
  fputs("\(message)\n", stderr)
  exit(1)
}

func contents(of path: String) -> String {
  guard let file = fopen(path, "r") else {
    fail("\(path): error: cannot read the file: \(String(cString: strerror(errno)))")
  }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}

/// Writes a file unless it already has this text, because a written file makes the build compile its users again.
func write(_ text: String, to path: String) {
  if access(path, R_OK) == 0, contents(of: path) == text { return }
  guard let file = fopen(path, "w") else {
    fail("\(path): error: cannot write the file: \(String(cString: strerror(errno)))")
  }
  var bytes = Array(text.utf8)
  let isWritten = fwrite(&bytes, 1, bytes.count, file) == bytes.count
  guard fclose(file) == 0, isWritten else { fail("\(path): error: cannot write the whole file") }
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count > 2 else { fail("cannot start: say varlink-swift MODULE FOLDER FILE…") }
let folder = arguments[arguments.startIndex + 1]
let list = arguments.dropFirst(2).first { $0.hasSuffix(".twins") }
var files: [InterfaceFile] = []
for path in arguments.dropFirst(2) where path != list {
  do throws(Parser.Problem) {
    files.append(try Parser.read(contents(of: path)))
  } catch {
    fail("\(path):\(error)")
  }
}
let emitter = Emitter(files: files, module: arguments[arguments.startIndex])
do throws(Emitter.Problem) {
  if let list {
    write(try Twins(files: files).conversions(contents(of: list)), to: "\(folder)/Twins.swift")
    exit(0)
  }
  write(try emitter.types(), to: "\(folder)/Wire.swift")
  for file in files { write(emitter.interface(file), to: "\(folder)/\(file.name).swift") }
} catch {
  fail("error: \(error)")
}
