/// What a service says about itself: `org.varlink.service.GetInfo`.
public struct ServiceInfo: Sendable {
  /// Who makes it.
  public var vendor: String
  /// What it is.
  public var product: String
  /// Its version.
  public var version: String
  /// Where more can be read.
  public var url: String

  /// All four are shown to people.
  public init(vendor: String, product: String, version: String, url: String) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
  }

  /// The interface that every service has: <https://varlink.org/Service>.
  func interface(besides others: [Interface]) -> Interface {
    var service = Interface("org.varlink.service", description: ServiceInfo.description)
    var descriptions = [service.name: service.description]
    for interface in others { descriptions[interface.name] = interface.description }
    let answer = Info(
      vendor: vendor, product: product, version: version, url: url,
      interfaces: [service.name] + others.map(\.name).sorted())

    service.method("GetInfo") { (call: Call<NoParameters>) in
      call.reply(answer)
    }
    service.method("GetInterfaceDescription") { (call: Call<DescriptionParameters>) in
      guard let description = descriptions[call.parameters.interface] else {
        return call.fail(InterfaceNotFound(interface: call.parameters.interface))
      }
      call.reply(Description(description: description))
    }
    return service
  }

  private struct Info: Encodable {
    let vendor, product, version, url: String
    let interfaces: [String]
  }

  private struct DescriptionParameters: Decodable {
    let interface: String
  }

  private struct Description: Encodable {
    let description: String
  }

  private static let description = """
    # What every Varlink service tells about itself.
    interface org.varlink.service

    # Who made the service, and the interfaces that it serves.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The description of one of these interfaces, in the language of this text.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # No interface of this name is served here.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, but this service does not serve it, or gave no answer.
    error MethodNotImplemented (method: string)

    # A parameter is missing, of the wrong type, or has a value that the method does not take.
    error InvalidParameter (parameter: string)

    # The caller may not call this method.
    error PermissionDenied ()

    # The method answers more than once, and the call did not say `more`.
    error ExpectedMore ()

    """
}
