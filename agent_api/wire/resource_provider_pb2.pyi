from agent_api.wire import mesos_pb2 as _mesos_pb2
from agent_api.wire import pinfold_pb2 as _pinfold_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Call(_message.Message):
    __slots__ = ("resource_provider_id", "type", "subscribe", "update_operation_status", "update_state", "update_publish_resources_status", "update_compaction")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Call.Type]
        SUBSCRIBE: _ClassVar[Call.Type]
        UPDATE_OPERATION_STATUS: _ClassVar[Call.Type]
        UPDATE_STATE: _ClassVar[Call.Type]
        UPDATE_PUBLISH_RESOURCES_STATUS: _ClassVar[Call.Type]
        UPDATE_COMPACTION: _ClassVar[Call.Type]
    UNKNOWN: Call.Type
    SUBSCRIBE: Call.Type
    UPDATE_OPERATION_STATUS: Call.Type
    UPDATE_STATE: Call.Type
    UPDATE_PUBLISH_RESOURCES_STATUS: Call.Type
    UPDATE_COMPACTION: Call.Type
    class Subscribe(_message.Message):
        __slots__ = ("resource_provider_info",)
        RESOURCE_PROVIDER_INFO_FIELD_NUMBER: _ClassVar[int]
        resource_provider_info: _mesos_pb2.ResourceProviderInfo
        def __init__(self, resource_provider_info: _Optional[_Union[_mesos_pb2.ResourceProviderInfo, _Mapping]] = ...) -> None: ...
    class UpdateOperationStatus(_message.Message):
        __slots__ = ("framework_id", "status", "latest_status", "operation_uuid")
        FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
        STATUS_FIELD_NUMBER: _ClassVar[int]
        LATEST_STATUS_FIELD_NUMBER: _ClassVar[int]
        OPERATION_UUID_FIELD_NUMBER: _ClassVar[int]
        framework_id: _mesos_pb2.FrameworkID
        status: _mesos_pb2.OperationStatus
        latest_status: _mesos_pb2.OperationStatus
        operation_uuid: _mesos_pb2.UUID
        def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., status: _Optional[_Union[_mesos_pb2.OperationStatus, _Mapping]] = ..., latest_status: _Optional[_Union[_mesos_pb2.OperationStatus, _Mapping]] = ..., operation_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ...) -> None: ...
    class UpdatePublishResourcesStatus(_message.Message):
        __slots__ = ("uuid", "status")
        class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Call.UpdatePublishResourcesStatus.Status]
            OK: _ClassVar[Call.UpdatePublishResourcesStatus.Status]
            FAILED: _ClassVar[Call.UpdatePublishResourcesStatus.Status]
        UNKNOWN: Call.UpdatePublishResourcesStatus.Status
        OK: Call.UpdatePublishResourcesStatus.Status
        FAILED: Call.UpdatePublishResourcesStatus.Status
        UUID_FIELD_NUMBER: _ClassVar[int]
        STATUS_FIELD_NUMBER: _ClassVar[int]
        uuid: _mesos_pb2.UUID
        status: Call.UpdatePublishResourcesStatus.Status
        def __init__(self, uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., status: _Optional[_Union[Call.UpdatePublishResourcesStatus.Status, str]] = ...) -> None: ...
    class UpdateState(_message.Message):
        __slots__ = ("operations", "resources", "resource_version_uuid", "cpu_report")
        OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        RESOURCE_VERSION_UUID_FIELD_NUMBER: _ClassVar[int]
        CPU_REPORT_FIELD_NUMBER: _ClassVar[int]
        operations: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Operation]
        resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        resource_version_uuid: _mesos_pb2.UUID
        cpu_report: _pinfold_pb2.CpuReport
        def __init__(self, operations: _Optional[_Iterable[_Union[_mesos_pb2.Operation, _Mapping]]] = ..., resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., resource_version_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., cpu_report: _Optional[_Union[_pinfold_pb2.CpuReport, _Mapping]] = ...) -> None: ...
    class UpdateCompaction(_message.Message):
        __slots__ = ("uuid", "moves", "message")
        UUID_FIELD_NUMBER: _ClassVar[int]
        MOVES_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        uuid: _mesos_pb2.UUID
        moves: _containers.RepeatedCompositeFieldContainer[_pinfold_pb2.CpusetMove]
        message: str
        def __init__(self, uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., moves: _Optional[_Iterable[_Union[_pinfold_pb2.CpusetMove, _Mapping]]] = ..., message: _Optional[str] = ...) -> None: ...
    RESOURCE_PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_OPERATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_STATE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_PUBLISH_RESOURCES_STATUS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_COMPACTION_FIELD_NUMBER: _ClassVar[int]
    resource_provider_id: _mesos_pb2.ResourceProviderID
    type: Call.Type
    subscribe: Call.Subscribe
    update_operation_status: Call.UpdateOperationStatus
    update_state: Call.UpdateState
    update_publish_resources_status: Call.UpdatePublishResourcesStatus
    update_compaction: Call.UpdateCompaction
    def __init__(self, resource_provider_id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., type: _Optional[_Union[Call.Type, str]] = ..., subscribe: _Optional[_Union[Call.Subscribe, _Mapping]] = ..., update_operation_status: _Optional[_Union[Call.UpdateOperationStatus, _Mapping]] = ..., update_state: _Optional[_Union[Call.UpdateState, _Mapping]] = ..., update_publish_resources_status: _Optional[_Union[Call.UpdatePublishResourcesStatus, _Mapping]] = ..., update_compaction: _Optional[_Union[Call.UpdateCompaction, _Mapping]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("type", "subscribed", "apply_operation", "publish_resources", "acknowledge_operation_status", "reconcile_operations", "compact_cpusets")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Event.Type]
        SUBSCRIBED: _ClassVar[Event.Type]
        APPLY_OPERATION: _ClassVar[Event.Type]
        PUBLISH_RESOURCES: _ClassVar[Event.Type]
        ACKNOWLEDGE_OPERATION_STATUS: _ClassVar[Event.Type]
        RECONCILE_OPERATIONS: _ClassVar[Event.Type]
        TEARDOWN: _ClassVar[Event.Type]
        COMPACT_CPUSETS: _ClassVar[Event.Type]
    UNKNOWN: Event.Type
    SUBSCRIBED: Event.Type
    APPLY_OPERATION: Event.Type
    PUBLISH_RESOURCES: Event.Type
    ACKNOWLEDGE_OPERATION_STATUS: Event.Type
    RECONCILE_OPERATIONS: Event.Type
    TEARDOWN: Event.Type
    COMPACT_CPUSETS: Event.Type
    class AcknowledgeOperationStatus(_message.Message):
        __slots__ = ("status_uuid", "operation_uuid")
        STATUS_UUID_FIELD_NUMBER: _ClassVar[int]
        OPERATION_UUID_FIELD_NUMBER: _ClassVar[int]
        status_uuid: _mesos_pb2.UUID
        operation_uuid: _mesos_pb2.UUID
        def __init__(self, status_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., operation_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ...) -> None: ...
    class ApplyOperation(_message.Message):
        __slots__ = ("framework_id", "info", "operation_uuid", "resource_version_uuid")
        FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
        INFO_FIELD_NUMBER: _ClassVar[int]
        OPERATION_UUID_FIELD_NUMBER: _ClassVar[int]
        RESOURCE_VERSION_UUID_FIELD_NUMBER: _ClassVar[int]
        framework_id: _mesos_pb2.FrameworkID
        info: _mesos_pb2.Offer.Operation
        operation_uuid: _mesos_pb2.UUID
        resource_version_uuid: _mesos_pb2.UUID
        def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., info: _Optional[_Union[_mesos_pb2.Offer.Operation, _Mapping]] = ..., operation_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., resource_version_uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ...) -> None: ...
    class PublishResources(_message.Message):
        __slots__ = ("uuid", "resources", "together", "starting")
        class Together(_message.Message):
            __slots__ = ("set_ids",)
            SET_IDS_FIELD_NUMBER: _ClassVar[int]
            set_ids: _containers.RepeatedScalarFieldContainer[str]
            def __init__(self, set_ids: _Optional[_Iterable[str]] = ...) -> None: ...
        UUID_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        TOGETHER_FIELD_NUMBER: _ClassVar[int]
        STARTING_FIELD_NUMBER: _ClassVar[int]
        uuid: _mesos_pb2.UUID
        resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        together: _containers.RepeatedCompositeFieldContainer[Event.PublishResources.Together]
        starting: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., together: _Optional[_Iterable[_Union[Event.PublishResources.Together, _Mapping]]] = ..., starting: _Optional[_Iterable[str]] = ...) -> None: ...
    class ReconcileOperations(_message.Message):
        __slots__ = ("operation_uuids",)
        OPERATION_UUIDS_FIELD_NUMBER: _ClassVar[int]
        operation_uuids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.UUID]
        def __init__(self, operation_uuids: _Optional[_Iterable[_Union[_mesos_pb2.UUID, _Mapping]]] = ...) -> None: ...
    class Subscribed(_message.Message):
        __slots__ = ("provider_id",)
        PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
        provider_id: _mesos_pb2.ResourceProviderID
        def __init__(self, provider_id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ...) -> None: ...
    class CompactCpusets(_message.Message):
        __slots__ = ("uuid", "dry_run", "cpuset_ids")
        UUID_FIELD_NUMBER: _ClassVar[int]
        DRY_RUN_FIELD_NUMBER: _ClassVar[int]
        CPUSET_IDS_FIELD_NUMBER: _ClassVar[int]
        uuid: _mesos_pb2.UUID
        dry_run: bool
        cpuset_ids: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, uuid: _Optional[_Union[_mesos_pb2.UUID, _Mapping]] = ..., dry_run: bool = ..., cpuset_ids: _Optional[_Iterable[str]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBED_FIELD_NUMBER: _ClassVar[int]
    APPLY_OPERATION_FIELD_NUMBER: _ClassVar[int]
    PUBLISH_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGE_OPERATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    COMPACT_CPUSETS_FIELD_NUMBER: _ClassVar[int]
    type: Event.Type
    subscribed: Event.Subscribed
    apply_operation: Event.ApplyOperation
    publish_resources: Event.PublishResources
    acknowledge_operation_status: Event.AcknowledgeOperationStatus
    reconcile_operations: Event.ReconcileOperations
    compact_cpusets: Event.CompactCpusets
    def __init__(self, type: _Optional[_Union[Event.Type, str]] = ..., subscribed: _Optional[_Union[Event.Subscribed, _Mapping]] = ..., apply_operation: _Optional[_Union[Event.ApplyOperation, _Mapping]] = ..., publish_resources: _Optional[_Union[Event.PublishResources, _Mapping]] = ..., acknowledge_operation_status: _Optional[_Union[Event.AcknowledgeOperationStatus, _Mapping]] = ..., reconcile_operations: _Optional[_Union[Event.ReconcileOperations, _Mapping]] = ..., compact_cpusets: _Optional[_Union[Event.CompactCpusets, _Mapping]] = ...) -> None: ...
