import ArgumentParser
import RefreshAPI

struct DownloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download", abstract: "Have a file downloaded for an app in the background, whatever happens.",
    discussion: """
      The transfer outlives this command, the app, the daemon and the machine: it goes on where it was after every \
      interruption, and the file appears when it is whole. Until then it is PATH.part. It waits for a network that is \
      not metered, unless --network says otherwise.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Argument(help: "Where from, by http or https; - reads it from standard input, where others do not see it.")
  var url: String

  @Option(
    help: ArgumentHelp("Where to: a file, or a folder for the name in the URL.", valueName: "path"),
    completion: .file())
  var to: String

  @Option(help: ArgumentHelp("What the SHA-256 of the file is to be.", valueName: "digits"))
  var sha256: String?

  @Option(help: ArgumentHelp("How many bytes the file is to have.", valueName: "bytes"))
  var length: Int64?

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let url = try readURL(url)
    let path = try WholePath.target(to, of: url)
    let only = OneWay(direction: .download, sha256: sha256, length: length)
    try options.enqueue(options.request(url, path, only), of: app, connection)
  }
}
