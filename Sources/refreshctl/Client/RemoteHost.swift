@preconcurrency import Glibc

/// Runs `refreshctl` on another machine by ssh: the option `--host`, before or after the subcommand.
struct RemoteHost: Equatable {
  /// The name as ssh(1) takes it: `host` or `user@host`.
  let name: String

  /// Removes the option from a command line, and returns its host; nil if the option is absent.
  ///
  /// Ignores the arguments after `--` and the command after `--while`. The last `--host` counts, as with other options.
  static func remove(from arguments: inout [String]) throws(Failure) -> RemoteHost? {
    var rest: [String] = []
    var name: String?
    var position = arguments.startIndex
    while position < arguments.endIndex, !["--", "--while"].contains(arguments[position]) {
      let argument = arguments[position]
      position += 1
      if ["-H", "--host"].contains(argument), position < arguments.endIndex {
        name = arguments[position]
        position += 1
      } else if let value = ["--host=", "-H"].lazy.compactMap({ argument.value(after: $0) }).first {
        name = value
      } else {
        rest.append(argument)
      }
    }
    guard let name else { return nil }
    arguments = rest + arguments[position...]
    return try RemoteHost(name)
  }

  /// Checks a name, so that ssh cannot take it for an option.
  init(_ name: String) throws(Failure) {
    guard !name.isEmpty, !name.hasPrefix("-"), name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw Failure(
        status: .usage, text: "cannot use \(printable(name)) as a host; write HOST or USER@HOST, as for ssh")
    }
    self.name = name
  }

  /// The ssh command line that runs refreshctl on that machine.
  ///
  /// If a person sees the output (`isOnTerminal`), refreshctl gets a terminal there too.
  func command(for arguments: [String], isOnTerminal: Bool) -> [String] {
    let command = (["refreshctl"] + arguments).map(Self.quoted).joined(separator: " ")
    return ["ssh", isOnTerminal ? "-t" : "-T", "--", name, command]
  }

  /// Replaces this process by ssh; throws if it cannot be started.
  func run(_ arguments: [String]) throws(Failure) -> Never {
    let isOnTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    let command = command(for: arguments, isOnTerminal: isOnTerminal)
    var pointers: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execvp(command[0], &pointers)
    throw Failure(
      status: .noDaemon, text: "cannot start ssh: \(errorText(errno)); install openssh-client")
  }

  /// Quotes a word for the shell of the other machine, because ssh passes it a single line.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        let character = Character(UnicodeScalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "-_./:=@%+,".contains(character))
      }
    return isPlain ? word : inQuotes(word)
  }
}

extension String {
  /// The text after a prefix; nil if it is empty, or if the text has another prefix.
  func value(after prefix: String) -> String? {
    hasPrefix(prefix) && count > prefix.count ? String(dropFirst(prefix.count)) : nil
  }
}
