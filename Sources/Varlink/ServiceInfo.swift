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

// The errors that a server of any interface replies with, by short names.

/// No interface of this name is served.
public typealias InterfaceNotFound = ServiceInterface.InterfaceNotFound
/// The interface has no such method.
public typealias MethodNotFound = ServiceInterface.MethodNotFound
/// The interface has the method, but the service does not serve it.
public typealias MethodNotImplemented = ServiceInterface.MethodNotImplemented
/// A parameter is missing, of the wrong type, or has a value that the method does not take.
public typealias InvalidParameter = ServiceInterface.InvalidParameter
/// The caller may not call the method.
public typealias PermissionDenied = ServiceInterface.PermissionDenied
/// The method replies more than once, and the call did not say `more`.
public typealias ExpectedMore = ServiceInterface.ExpectedMore
