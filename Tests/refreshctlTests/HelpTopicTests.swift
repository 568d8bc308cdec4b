import Testing

@testable import refreshctl

/// The topics of `refreshctl help TOPIC`.
@Suite struct HelpTopicTests {
  @Test(arguments: [
    (["help", "scheduling"], "scheduling"), (["help", "refreshd.toml"], "refreshd.toml"),
    (["help", "nothing"], "nothing"),
    (["help", "why"], nil), (["help", "apps"], nil), (["help"], nil), (["help", "--help"], nil),
    (["help", "help"], nil),
    (["help", "why", "scheduling"], nil), (["list"], nil), ([], nil),
  ])
  func aWordAfterHelpIsATopicUnlessItIsASubcommand(arguments: [String], topic: String?) {
    #expect(HelpTopic.asked(in: arguments) == topic)
  }

  @Test func noTopicHidesBehindASubcommandOrAnotherTopic() {
    let names = HelpTopic.all.flatMap(\.names) + [HelpTopic.list]
    #expect(Set(names).count == names.count)
    #expect(Set(names).isDisjoint(with: RefreshCtl.commandNames))
  }

  @Test(arguments: [
    ("app", "refreshd-app(5)"), ("APP", "refreshd-app(5)"), ("apps.d", "refreshd-app(5)"),
    ("refreshd(7)", "refreshd(7)"), ("scheduling", "refreshd(7)"), ("refreshd", "refreshd(8)"),
    ("scheduling.md", "refreshd(7)"), ("recipes", nil),
  ])
  func aTopicHasSeveralNames(word: String, manual: String?) throws {
    #expect(try HelpTopic(word).manual?.description == manual)
  }

  @Test(arguments: [
    ("schedulling", "did you mean scheduling? "), ("refreshd.tml", "did you mean refreshd.toml"),
    ("histroy", "did you mean history? "),
    ("a-word-that-is-like-none", "; `refreshctl help topics`"), ("\u{1B}[1m", "cannot find help on "),
  ])
  func anUnknownTopicIsAMistakeWithAGuess(word: String, guess: String) {
    let failure = #expect(throws: Failure.self) { try HelpTopic(word) }
    #expect(failure?.status == .usage)
    #expect(failure?.text.contains(guess) == true, "\(failure?.text ?? "")")
    #expect(failure?.text.contains("\u{1B}") == false)
  }
}
