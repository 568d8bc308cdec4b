import ArgumentParser

struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Upload a file for an app in the background.",
    discussion: """
      The upload goes on when this command, the app or the daemon ends, and continues after a reboot. After an \
      interruption it starts again from the first byte; with --tus, and a server that supports it, it resumes. Do not \
      change the file before the upload has ended.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Argument(help: "The file.", completion: .file())
  var path: String

  @Argument(help: "The http or https URL to send to; - reads it from standard input, which other users do not see.")
  var url: String

  @Flag(help: "Use the protocol tus 1.0.0. The URL is then the address that creates uploads.")
  var tus = false

  @Flag(help: "Use POST instead of PUT. A POST is not retried when the reply is lost.")
  var post = false

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if tus && post {
      throw ValidationError("cannot upload by both tus and POST; give --tus or --post")
    }
  }

  func run() throws {
    let url = try readURL(url)
    let only = OneWayOptions(direction: .upload, method: post ? "POST" : nil, tus: tus ? true : nil)
    try options.enqueue(options.request(url, WholePath.plainFile(path), only), of: app, connection)
  }
}
