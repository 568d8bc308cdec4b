import ArgumentParser

struct DownloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download", abstract: "Download a file for an app in the background.",
    discussion: """
      The download goes on when this command, the app or the daemon ends, and continues after a reboot. The partial \
      file is PATH.part; PATH appears when the download is complete. The download waits for an unmetered network, \
      unless --network says otherwise.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Argument(help: "The http or https URL of the file; - reads it from standard input, which other users do not see.")
  var url: String

  @Option(
    help: ArgumentHelp("The file to write, or a folder; the name then comes from the URL.", valueName: "path"),
    completion: .file())
  var to: String

  @Option(help: ArgumentHelp("The expected SHA-256 of the file.", valueName: "digits"))
  var sha256: String?

  @Option(help: ArgumentHelp("The expected length of the file.", valueName: "bytes"))
  var length: Int64?

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let url = try readURL(url)
    let path = try WholePath.target(to, of: url)
    let only = OneWayOptions(direction: .download, sha256: sha256, length: length)
    try options.enqueue(options.request(url, path, only), of: app, connection)
  }
}
