import ArgumentParser
import RefreshAPI

struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Have a file uploaded for an app in the background, whatever happens.",
    discussion: """
      The transfer outlives this command, the app, the daemon and the machine. With --tus it goes on where it was \
      after an interruption, if the server speaks that protocol; without, it begins anew. The file must stay as it is \
      until then.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Argument(help: "The file.", completion: .file())
  var path: String

  @Argument(help: "Where to, by http or https; - reads it from standard input, where others do not see it.")
  var url: String

  @Flag(help: "By the protocol tus 1.0.0: the URL is where uploads are created.")
  var tus = false

  @Flag(help: "By POST in place of PUT; it is never repeated when the answer is lost.")
  var post = false

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if tus && post {
      throw ValidationError("cannot upload both by tus and by POST; give --tus or --post")
    }
  }

  func run() throws {
    let url = try readURL(url)
    let only = OneWay(direction: .upload, method: post ? "POST" : nil, tus: tus ? true : nil)
    try options.enqueue(options.request(url, WholePath.existing(path), only), of: app, connection)
  }
}
