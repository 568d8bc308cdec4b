/// The facts about a service that `org.varlink.service.GetInfo` replies with.
public struct ServiceInfo: Sendable {
  /// The vendor.
  public var vendor: String
  /// The product.
  public var product: String
  /// Its version.
  public var version: String
  /// The address of further information.
  public var url: String

  /// Makes the facts; all four are shown to people.
  public init(vendor: String, product: String, version: String, url: String) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
  }

  /// The interface that every service has: <https://varlink.org/Service>.
  func interface(besides others: [Interface]) -> Interface {
    var service = Interface(ServiceInterface.self)
    var descriptions = [service.name: service.description]
    for interface in others { descriptions[interface.name] = interface.description }
    let info = ServiceInterface.GetInfo.Reply(
      vendor: vendor, product: product, version: version, url: url,
      interfaces: [service.name] + others.map(\.name).sorted())

    service.serve(ServiceInterface.GetInfo.self, as: .query) { $0.reply(info) }
    service.serve(ServiceInterface.GetInterfaceDescription.self, as: .query) { call in
      guard let description = descriptions[call.parameters.interface] else {
        return call.fail(InterfaceNotFound(interface: call.parameters.interface))
      }
      call.reply(ServiceInterface.GetInterfaceDescription.Reply(description: description))
    }
    return service
  }
}
