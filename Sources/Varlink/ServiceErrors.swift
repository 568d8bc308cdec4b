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
