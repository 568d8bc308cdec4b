@preconcurrency import Glibc
import RefreshConfig
import RefreshEngine

/// Asks a person at a terminal for what an app's file needs.
///
/// Questions go to standard error, so that standard output has only the result.
struct NewAppQuestions {
  let home: AppHome
  /// The mistakes and warnings of a draft.
  let problems: (AppDraft) -> [Problem]

  /// Whether a person can answer.
  static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks for the missing keys of the draft; repeats a question after a mistake.
  func complete(_ draft: inout AppDraft, hasID: Bool) throws(Failure) {
    say("This writes a file for a new app of \(home.reader.isUserDaemon ? "your own daemon" : "the system's daemon").")
    say("An empty answer takes the value in brackets. Ctrl-C ends this and writes nothing.")
    if !hasID { try ask("Id of the app, such as org.example.mail", of: &draft) { $0.id = $1 } }
    if draft.tasks.isEmpty { try ask("Command that refreshes it, such as `mbsync inbox`", of: &draft, Self.setCommand) }
    if draft.backgroundInterval == nil {
      try ask("Shortest time between two refreshes in the background", "1h", of: &draft) { $0.backgroundInterval = $1 }
    }
    if draft.network == nil {
      let words = NetworkConstraint.allCases.map(\.rawValue).joined(separator: ", ")
      try ask("Network that it needs: \(words)", "any", of: &draft) { $0.network = $1 }
    }
    if home.hasManyOwners, draft.owner == nil {
      try ask("User that its tasks run as", NewCommand.standardOwner, of: &draft) { $0.owner = $1 }
    }
  }

  /// Whether the person wants the file written.
  func agrees(to text: String, at path: String) throws(Failure) -> Bool {
    // Show the file as it will be, without line breaks.
    fputs("\n\(printableLines(text))\n", stderr)
    let answer = try answer("Write it to \(printable(path))? [Y/n]").lowercased()
    return answer.isEmpty || answer.hasPrefix("y")
  }

  private func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
  }

  /// Wraps a command that needs a shell in one; the person sees it in the file.
  private static func setCommand(_ draft: inout AppDraft, _ line: String) {
    do throws(ShellWords.Refusal) {
      draft.tasks = [.run(try ShellWords.split(line))]
    } catch {
      draft.tasks = [.shell(line)]
    }
  }

  private func ask(
    _ question: String, _ standard: String? = nil, of draft: inout AppDraft,
    _ set: (inout AppDraft, String) -> Void
  ) throws(Failure) {
    while true {
      let given = try answer(question + (standard.map { " [\($0)]:" } ?? ":"))
      guard let text = given.isEmpty ? standard : given else { continue }
      var next = draft
      set(&next, text)
      // A draft may lack the keys of later questions.
      let mistakes = problems(next).filter { !$0.isWarning }
      guard let mistake = mistakes.first else {
        draft = next
        return
      }
      say(printable("\(mistake.message); \(mistake.remedy)."))
    }
  }

  private func answer(_ prompt: String) throws(Failure) -> String {
    fputs("\(Screen(of: STDERR_FILENO).message(prompt)) ", stderr)
    guard let line = readLine() else {
      say("")
      throw Failure(
        status: .usage, text: "cannot continue without an answer, so nothing is written; give it as an option")
    }
    return String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  private func say(_ text: String) { fputs("\(Screen(of: STDERR_FILENO).message(text))\n", stderr) }
}
