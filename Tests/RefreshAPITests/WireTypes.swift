import Foundation
import RefreshAPI
import Testing

/// A type that goes over the socket, by its name in the interface file.
struct MessageType: Sendable, CustomTestStringConvertible {
  let name: String
  let readAndWrite: @Sendable (Data) throws -> Data

  init<Message: Codable & SendableMetatype>(_ name: String, _ type: Message.Type) {
    self.name = name
    readAndWrite = { try JSONEncoder().encode(JSONDecoder().decode(Message.self, from: $0)) }
  }

  var testDescription: String { name }
}

/// An enum that goes over the socket, by its name in the interface file.
struct EnumType: Sendable, CustomTestStringConvertible {
  let name: String
  let members: [String]

  init<Enum: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Enum.Type) {
    self.name = name
    members = Enum.allCases.map(\.rawValue)
  }

  var testDescription: String { name }
}

/// All types that go over the socket.
enum WireTypes {
  static let messages: [MessageType] = methods + errors + values

  private static let methods: [MessageType] = [
    of(AppInterface.Signal.self),
    of(AppInterface.Attach.self),
    of(AppInterface.Push.self),
    of(AppInterface.Complete.self),
    of(ManagerInterface.List.self),
    of(ManagerInterface.Show.self),
    of(ManagerInterface.Why.self),
    of(ManagerInterface.Status.self),
    of(ManagerInterface.Run.self),
    of(ManagerInterface.Set.self),
    of(ManagerInterface.Reset.self),
    of(ManagerInterface.Disable.self),
    of(ManagerInterface.Enable.self),
    of(ManagerInterface.Usage.self),
    of(ManagerInterface.Openings.self),
    of(ManagerInterface.Forget.self),
    of(ManagerInterface.Skip.self),
    of(ManagerInterface.Pause.self),
    of(ManagerInterface.Resume.self),
    of(ManagerInterface.Schedule.self),
    of(ManagerInterface.History.self),
    of(ManagerInterface.Forecast.self),
    of(ManagerInterface.Timeline.self),
    of(ManagerInterface.Metrics.self),
    of(ManagerInterface.Watch.self),
    of(ManagerInterface.Check.self),
    of(ManagerInterface.Reload.self),
    of(ManagerInterface.Version.self),
    of(TransfersInterface.Enqueue.self),
    of(TransfersInterface.List.self),
    of(TransfersInterface.Watch.self),
    of(TransfersInterface.Pause.self),
    of(TransfersInterface.Resume.self),
    of(TransfersInterface.Cancel.self),
    of(TransfersInterface.SetPriority.self),
    of(TransfersInterface.Rejoin.self),
    of(WorkerInterface.Work.self),
    of(WorkerInterface.Report.self),
    of(WorkerInterface.Remember.self),
    of(PushInterface.Deliver.self),
    of(PushInterface.Report.self),
    of(PushInterface.Watch.self),
  ].flatMap(\.self)

  private static let errors: [MessageType] = [
    MessageType(AppInterface.NoSuchApp.name, AppInterface.NoSuchApp.self),
    MessageType(AppInterface.NotAllowed.name, AppInterface.NotAllowed.self),
    MessageType(AppInterface.NotLeasable.name, AppInterface.NotLeasable.self),
    MessageType(AppInterface.NoSuchToken.name, AppInterface.NoSuchToken.self),
    MessageType(AppInterface.AlreadyCompleted.name, AppInterface.AlreadyCompleted.self),
    MessageType(AppInterface.InvalidPayload.name, AppInterface.InvalidPayload.self),
    MessageType(AppInterface.NotStored.name, AppInterface.NotStored.self),
    MessageType(ManagerInterface.NoSuchApp.name, ManagerInterface.NoSuchApp.self),
    MessageType(ManagerInterface.NotAllowed.name, ManagerInterface.NotAllowed.self),
    MessageType(ManagerInterface.Held.name, ManagerInterface.Held.self),
    MessageType(ManagerInterface.InvalidInterval.name, ManagerInterface.InvalidInterval.self),
    MessageType(ManagerInterface.BadConfiguration.name, ManagerInterface.BadConfiguration.self),
    MessageType(ManagerInterface.NotStored.name, ManagerInterface.NotStored.self),
    MessageType(ManagerInterface.NotReadable.name, ManagerInterface.NotReadable.self),
    MessageType(TransfersInterface.NoSuchApp.name, TransfersInterface.NoSuchApp.self),
    MessageType(TransfersInterface.NoSuchTransfer.name, TransfersInterface.NoSuchTransfer.self),
    MessageType(TransfersInterface.AlreadyEnded.name, TransfersInterface.AlreadyEnded.self),
    MessageType(TransfersInterface.NotAllowed.name, TransfersInterface.NotAllowed.self),
    MessageType(TransfersInterface.InvalidRequest.name, TransfersInterface.InvalidRequest.self),
    MessageType(TransfersInterface.SessionTaken.name, TransfersInterface.SessionTaken.self),
    MessageType(TransfersInterface.NotStored.name, TransfersInterface.NotStored.self),
    MessageType(TransfersInterface.QueueFull.name, TransfersInterface.QueueFull.self),
    MessageType(WorkerInterface.NoSuchToken.name, WorkerInterface.NoSuchToken.self),
    MessageType(WorkerInterface.NotStored.name, WorkerInterface.NotStored.self),
    MessageType(PushInterface.NotAllowed.name, PushInterface.NotAllowed.self),
    MessageType(PushInterface.NotStored.name, PushInterface.NotStored.self),
  ]

  private static let values: [MessageType] = [
    MessageType("org.refreshd.App.Notice", Wire.Notice.self),
    MessageType("org.refreshd.App.AttachEvent", Wire.AttachEvent.self),
    MessageType("org.refreshd.Manager.Cause", Wire.Cause.self),
    MessageType("org.refreshd.Manager.RefreshTask", Wire.RefreshTask.self),
    MessageType("org.refreshd.Manager.Refresh", Wire.Refresh.self),
    MessageType("org.refreshd.Manager.Hold", Wire.Hold.self),
    MessageType("org.refreshd.Manager.Planning", Wire.Planning.self),
    MessageType("org.refreshd.Manager.Habits", Wire.Habits.self),
    MessageType("org.refreshd.Manager.LastRefresh", Wire.LastRefresh.self),
    MessageType("org.refreshd.Manager.App", Wire.App.self),
    MessageType("org.refreshd.Manager.Interval", Wire.Interval.self),
    MessageType("org.refreshd.Manager.Intervals", Wire.Intervals.self),
    MessageType("org.refreshd.Manager.Task", Wire.Task.self),
    MessageType("org.refreshd.Manager.Fetch", Wire.Fetch.self),
    MessageType("org.refreshd.Manager.Running", Wire.Running.self),
    MessageType("org.refreshd.Manager.AppDetails", Wire.AppDetails.self),
    MessageType("org.refreshd.Manager.Problem", Wire.Problem.self),
    MessageType("org.refreshd.Manager.NextRefresh", Wire.NextRefresh.self),
    MessageType("org.refreshd.Manager.ConfigurationState", Wire.ConfigurationState.self),
    MessageType("org.refreshd.Manager.StoreState", Wire.StoreState.self),
    MessageType("org.refreshd.Manager.DaemonStatus", Wire.DaemonStatus.self),
    MessageType("org.refreshd.Manager.Source", Wire.Source.self),
    MessageType("org.refreshd.Manager.PushState", Wire.PushState.self),
    MessageType("org.refreshd.Manager.PushWaiting", Wire.PushWaiting.self),
    MessageType("org.refreshd.Manager.DroppedPush", Wire.DroppedPush.self),
    MessageType("org.refreshd.Manager.PushLimit", Wire.PushLimit.self),
    MessageType("org.refreshd.Manager.PauseState", Wire.PauseState.self),
    MessageType("org.refreshd.Manager.OneShot", Wire.OneShot.self),
    MessageType("org.refreshd.Manager.Window", Wire.Window.self),
    MessageType("org.refreshd.Manager.Term", Wire.Term.self),
    MessageType("org.refreshd.Manager.Condition", Wire.Condition.self),
    MessageType("org.refreshd.Manager.Conditions", Wire.Conditions.self),
    MessageType("org.refreshd.Manager.QuietHours", Wire.QuietHours.self),
    MessageType("org.refreshd.Manager.Waiting", Wire.Waiting.self),
    MessageType("org.refreshd.Manager.Wait", Wire.Wait.self),
    MessageType("org.refreshd.Manager.Past", Wire.Past.self),
    MessageType("org.refreshd.Manager.Explanation", Wire.Explanation.self),
    MessageType("org.refreshd.Manager.ForecastStart", Wire.ForecastStart.self),
    MessageType("org.refreshd.Manager.ForecastWake", Wire.ForecastWake.self),
    MessageType("org.refreshd.Manager.ForecastRest", Wire.ForecastRest.self),
    MessageType("org.refreshd.Manager.WatchEvent", Wire.WatchEvent.self),
    MessageType("org.refreshd.Manager.RunEvent", Wire.RunEvent.self),
    MessageType("org.refreshd.Transfers.Hold", Wire.Hold.self),
    MessageType("org.refreshd.Transfers.Request", Wire.Request.self),
    MessageType("org.refreshd.Transfers.Transfer", Wire.Transfer.self),
    MessageType("org.refreshd.Worker.Resume", Wire.Resume.self),
    MessageType("org.refreshd.Worker.Assignment", Wire.Assignment.self),
    MessageType("org.refreshd.Worker.Order", Wire.Order.self),
    MessageType("org.refreshd.Worker.TransferReport", Wire.TransferReport.self),
    MessageType("org.refreshd.Push.Source", Wire.Source.self),
    MessageType("org.refreshd.Push.Delivery", Wire.Delivery.self),
    MessageType("org.refreshd.Push.DeliveryResult", Wire.DeliveryResult.self),
  ]

  static let enums: [EnumType] = [
    EnumType("org.refreshd.App.LifecycleSignal", Wire.LifecycleSignal.self),
    EnumType("org.refreshd.App.Phase", Wire.Phase.self),
    EnumType("org.refreshd.App.Outcome", Wire.Outcome.self),
    EnumType("org.refreshd.App.Trigger", Wire.Trigger.self),
    EnumType("org.refreshd.App.StopReason", Wire.StopReason.self),
    EnumType("org.refreshd.App.Urgency", Wire.Urgency.self),
    EnumType("org.refreshd.App.PushFate", Wire.PushFate.self),
    EnumType("org.refreshd.Manager.Phase", Wire.Phase.self),
    EnumType("org.refreshd.Manager.Trigger", Wire.Trigger.self),
    EnumType("org.refreshd.Manager.Outcome", Wire.Outcome.self),
    EnumType("org.refreshd.Manager.CauseKind", Wire.CauseKind.self),
    EnumType("org.refreshd.Manager.StopReason", Wire.StopReason.self),
    EnumType("org.refreshd.Manager.Verdict", Wire.Verdict.self),
    EnumType("org.refreshd.Manager.OnForeground", Wire.OnForeground.self),
    EnumType("org.refreshd.Manager.WatchKind", Wire.WatchKind.self),
    EnumType("org.refreshd.Manager.RunEventKind", Wire.RunEventKind.self),
    EnumType("org.refreshd.Manager.Urgency", Wire.Urgency.self),
    EnumType("org.refreshd.Manager.PushFate", Wire.PushFate.self),
    EnumType("org.refreshd.Manager.SourceKind", Wire.SourceKind.self),
    EnumType("org.refreshd.App.TransferResult", Wire.TransferResult.self),
    EnumType("org.refreshd.Transfers.Direction", Wire.Direction.self),
    EnumType("org.refreshd.Transfers.NetworkConstraint", Wire.NetworkConstraint.self),
    EnumType("org.refreshd.Transfers.TransferState", Wire.TransferState.self),
    EnumType("org.refreshd.Transfers.TransferResult", Wire.TransferResult.self),
    EnumType("org.refreshd.Worker.Direction", Wire.Direction.self),
    EnumType("org.refreshd.Worker.OrderKind", Wire.OrderKind.self),
    EnumType("org.refreshd.Worker.ReportKind", Wire.ReportKind.self),
    EnumType("org.refreshd.Worker.ReportEnd", Wire.ReportEnd.self),
    EnumType("org.refreshd.Push.Urgency", Wire.Urgency.self),
    EnumType("org.refreshd.Push.PushFate", Wire.PushFate.self),
    EnumType("org.refreshd.Push.SourceKind", Wire.SourceKind.self),
  ]

  private static func of<Method: InterfaceMethod>(_ method: Method.Type) -> [MessageType] {
    [
      MessageType(Method.name + ".Parameters", Method.Parameters.self),
      MessageType(Method.name + ".Reply", Method.Reply.self),
    ]
  }
}
