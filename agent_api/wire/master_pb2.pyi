import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from agent_api.wire import maintenance_pb2 as _maintenance_pb2
from agent_api.wire import mesos_pb2 as _mesos_pb2
from agent_api.wire import quota_pb2 as _quota_pb2
from agent_api.wire import scheduler_pb2 as _scheduler_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Call(_message.Message):
    __slots__ = ("type", "get_metrics", "set_logging_level", "list_files", "read_file", "update_weights", "reserve_resources", "unreserve_resources", "create_volumes", "destroy_volumes", "update_maintenance_schedule", "start_maintenance", "stop_maintenance", "set_quota", "remove_quota", "teardown", "mark_agent_gone", "grow_volume", "shrink_volume", "update_quota", "drain_agent", "deactivate_agent", "reactivate_agent")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Call.Type]
        GET_HEALTH: _ClassVar[Call.Type]
        GET_FLAGS: _ClassVar[Call.Type]
        GET_VERSION: _ClassVar[Call.Type]
        GET_METRICS: _ClassVar[Call.Type]
        GET_LOGGING_LEVEL: _ClassVar[Call.Type]
        SET_LOGGING_LEVEL: _ClassVar[Call.Type]
        LIST_FILES: _ClassVar[Call.Type]
        READ_FILE: _ClassVar[Call.Type]
        GET_STATE: _ClassVar[Call.Type]
        GET_AGENTS: _ClassVar[Call.Type]
        GET_FRAMEWORKS: _ClassVar[Call.Type]
        GET_EXECUTORS: _ClassVar[Call.Type]
        GET_TASKS: _ClassVar[Call.Type]
        GET_ROLES: _ClassVar[Call.Type]
        GET_WEIGHTS: _ClassVar[Call.Type]
        UPDATE_WEIGHTS: _ClassVar[Call.Type]
        GET_MASTER: _ClassVar[Call.Type]
        SUBSCRIBE: _ClassVar[Call.Type]
        RESERVE_RESOURCES: _ClassVar[Call.Type]
        UNRESERVE_RESOURCES: _ClassVar[Call.Type]
        CREATE_VOLUMES: _ClassVar[Call.Type]
        DESTROY_VOLUMES: _ClassVar[Call.Type]
        GET_MAINTENANCE_STATUS: _ClassVar[Call.Type]
        GET_MAINTENANCE_SCHEDULE: _ClassVar[Call.Type]
        UPDATE_MAINTENANCE_SCHEDULE: _ClassVar[Call.Type]
        START_MAINTENANCE: _ClassVar[Call.Type]
        STOP_MAINTENANCE: _ClassVar[Call.Type]
        GET_QUOTA: _ClassVar[Call.Type]
        SET_QUOTA: _ClassVar[Call.Type]
        REMOVE_QUOTA: _ClassVar[Call.Type]
        TEARDOWN: _ClassVar[Call.Type]
        MARK_AGENT_GONE: _ClassVar[Call.Type]
        GET_OPERATIONS: _ClassVar[Call.Type]
        GROW_VOLUME: _ClassVar[Call.Type]
        SHRINK_VOLUME: _ClassVar[Call.Type]
        UPDATE_QUOTA: _ClassVar[Call.Type]
        DRAIN_AGENT: _ClassVar[Call.Type]
        DEACTIVATE_AGENT: _ClassVar[Call.Type]
        REACTIVATE_AGENT: _ClassVar[Call.Type]
    UNKNOWN: Call.Type
    GET_HEALTH: Call.Type
    GET_FLAGS: Call.Type
    GET_VERSION: Call.Type
    GET_METRICS: Call.Type
    GET_LOGGING_LEVEL: Call.Type
    SET_LOGGING_LEVEL: Call.Type
    LIST_FILES: Call.Type
    READ_FILE: Call.Type
    GET_STATE: Call.Type
    GET_AGENTS: Call.Type
    GET_FRAMEWORKS: Call.Type
    GET_EXECUTORS: Call.Type
    GET_TASKS: Call.Type
    GET_ROLES: Call.Type
    GET_WEIGHTS: Call.Type
    UPDATE_WEIGHTS: Call.Type
    GET_MASTER: Call.Type
    SUBSCRIBE: Call.Type
    RESERVE_RESOURCES: Call.Type
    UNRESERVE_RESOURCES: Call.Type
    CREATE_VOLUMES: Call.Type
    DESTROY_VOLUMES: Call.Type
    GET_MAINTENANCE_STATUS: Call.Type
    GET_MAINTENANCE_SCHEDULE: Call.Type
    UPDATE_MAINTENANCE_SCHEDULE: Call.Type
    START_MAINTENANCE: Call.Type
    STOP_MAINTENANCE: Call.Type
    GET_QUOTA: Call.Type
    SET_QUOTA: Call.Type
    REMOVE_QUOTA: Call.Type
    TEARDOWN: Call.Type
    MARK_AGENT_GONE: Call.Type
    GET_OPERATIONS: Call.Type
    GROW_VOLUME: Call.Type
    SHRINK_VOLUME: Call.Type
    UPDATE_QUOTA: Call.Type
    DRAIN_AGENT: Call.Type
    DEACTIVATE_AGENT: Call.Type
    REACTIVATE_AGENT: Call.Type
    class CreateVolumes(_message.Message):
        __slots__ = ("agent_id", "volumes")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        VOLUMES_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        volumes: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., volumes: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
    class DeactivateAgent(_message.Message):
        __slots__ = ("agent_id",)
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
    class DestroyVolumes(_message.Message):
        __slots__ = ("agent_id", "volumes")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        VOLUMES_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        volumes: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., volumes: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
    class DrainAgent(_message.Message):
        __slots__ = ("agent_id", "max_grace_period", "mark_gone")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        MAX_GRACE_PERIOD_FIELD_NUMBER: _ClassVar[int]
        MARK_GONE_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        max_grace_period: _duration_pb2.Duration
        mark_gone: bool
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., max_grace_period: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., mark_gone: bool = ...) -> None: ...
    class GetMetrics(_message.Message):
        __slots__ = ("timeout",)
        TIMEOUT_FIELD_NUMBER: _ClassVar[int]
        timeout: _mesos_pb2.DurationInfo
        def __init__(self, timeout: _Optional[_Union[_mesos_pb2.DurationInfo, _Mapping]] = ...) -> None: ...
    class GrowVolume(_message.Message):
        __slots__ = ("agent_id", "volume", "addition")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        VOLUME_FIELD_NUMBER: _ClassVar[int]
        ADDITION_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        volume: _mesos_pb2.Resource
        addition: _mesos_pb2.Resource
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., volume: _Optional[_Union[_mesos_pb2.Resource, _Mapping]] = ..., addition: _Optional[_Union[_mesos_pb2.Resource, _Mapping]] = ...) -> None: ...
    class ListFiles(_message.Message):
        __slots__ = ("path",)
        PATH_FIELD_NUMBER: _ClassVar[int]
        path: str
        def __init__(self, path: _Optional[str] = ...) -> None: ...
    class MarkAgentGone(_message.Message):
        __slots__ = ("agent_id",)
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
    class ReactivateAgent(_message.Message):
        __slots__ = ("agent_id",)
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
    class ReadFile(_message.Message):
        __slots__ = ("path", "offset", "length")
        PATH_FIELD_NUMBER: _ClassVar[int]
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        LENGTH_FIELD_NUMBER: _ClassVar[int]
        path: str
        offset: int
        length: int
        def __init__(self, path: _Optional[str] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...
    class RemoveQuota(_message.Message):
        __slots__ = ("role",)
        ROLE_FIELD_NUMBER: _ClassVar[int]
        role: str
        def __init__(self, role: _Optional[str] = ...) -> None: ...
    class ReserveResources(_message.Message):
        __slots__ = ("agent_id", "resources", "source")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        source: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., source: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
    class SetLoggingLevel(_message.Message):
        __slots__ = ("level", "duration")
        LEVEL_FIELD_NUMBER: _ClassVar[int]
        DURATION_FIELD_NUMBER: _ClassVar[int]
        level: int
        duration: _mesos_pb2.DurationInfo
        def __init__(self, level: _Optional[int] = ..., duration: _Optional[_Union[_mesos_pb2.DurationInfo, _Mapping]] = ...) -> None: ...
    class SetQuota(_message.Message):
        __slots__ = ("quota_request",)
        QUOTA_REQUEST_FIELD_NUMBER: _ClassVar[int]
        quota_request: _quota_pb2.QuotaRequest
        def __init__(self, quota_request: _Optional[_Union[_quota_pb2.QuotaRequest, _Mapping]] = ...) -> None: ...
    class ShrinkVolume(_message.Message):
        __slots__ = ("agent_id", "volume", "subtract")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        VOLUME_FIELD_NUMBER: _ClassVar[int]
        SUBTRACT_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        volume: _mesos_pb2.Resource
        subtract: _mesos_pb2.Value.Scalar
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., volume: _Optional[_Union[_mesos_pb2.Resource, _Mapping]] = ..., subtract: _Optional[_Union[_mesos_pb2.Value.Scalar, _Mapping]] = ...) -> None: ...
    class StartMaintenance(_message.Message):
        __slots__ = ("machines",)
        MACHINES_FIELD_NUMBER: _ClassVar[int]
        machines: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.MachineID]
        def __init__(self, machines: _Optional[_Iterable[_Union[_mesos_pb2.MachineID, _Mapping]]] = ...) -> None: ...
    class StopMaintenance(_message.Message):
        __slots__ = ("machines",)
        MACHINES_FIELD_NUMBER: _ClassVar[int]
        machines: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.MachineID]
        def __init__(self, machines: _Optional[_Iterable[_Union[_mesos_pb2.MachineID, _Mapping]]] = ...) -> None: ...
    class Teardown(_message.Message):
        __slots__ = ("framework_id",)
        FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
        framework_id: _mesos_pb2.FrameworkID
        def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ...) -> None: ...
    class UnreserveResources(_message.Message):
        __slots__ = ("agent_id", "resources")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
    class UpdateMaintenanceSchedule(_message.Message):
        __slots__ = ("schedule",)
        SCHEDULE_FIELD_NUMBER: _ClassVar[int]
        schedule: _maintenance_pb2.Schedule
        def __init__(self, schedule: _Optional[_Union[_maintenance_pb2.Schedule, _Mapping]] = ...) -> None: ...
    class UpdateQuota(_message.Message):
        __slots__ = ("force", "quota_configs")
        FORCE_FIELD_NUMBER: _ClassVar[int]
        QUOTA_CONFIGS_FIELD_NUMBER: _ClassVar[int]
        force: bool
        quota_configs: _containers.RepeatedCompositeFieldContainer[_quota_pb2.QuotaConfig]
        def __init__(self, force: bool = ..., quota_configs: _Optional[_Iterable[_Union[_quota_pb2.QuotaConfig, _Mapping]]] = ...) -> None: ...
    class UpdateWeights(_message.Message):
        __slots__ = ("weight_infos",)
        WEIGHT_INFOS_FIELD_NUMBER: _ClassVar[int]
        weight_infos: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.WeightInfo]
        def __init__(self, weight_infos: _Optional[_Iterable[_Union[_mesos_pb2.WeightInfo, _Mapping]]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GET_METRICS_FIELD_NUMBER: _ClassVar[int]
    SET_LOGGING_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LIST_FILES_FIELD_NUMBER: _ClassVar[int]
    READ_FILE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    RESERVE_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    UNRESERVE_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    CREATE_VOLUMES_FIELD_NUMBER: _ClassVar[int]
    DESTROY_VOLUMES_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MAINTENANCE_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    START_MAINTENANCE_FIELD_NUMBER: _ClassVar[int]
    STOP_MAINTENANCE_FIELD_NUMBER: _ClassVar[int]
    SET_QUOTA_FIELD_NUMBER: _ClassVar[int]
    REMOVE_QUOTA_FIELD_NUMBER: _ClassVar[int]
    TEARDOWN_FIELD_NUMBER: _ClassVar[int]
    MARK_AGENT_GONE_FIELD_NUMBER: _ClassVar[int]
    GROW_VOLUME_FIELD_NUMBER: _ClassVar[int]
    SHRINK_VOLUME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_QUOTA_FIELD_NUMBER: _ClassVar[int]
    DRAIN_AGENT_FIELD_NUMBER: _ClassVar[int]
    DEACTIVATE_AGENT_FIELD_NUMBER: _ClassVar[int]
    REACTIVATE_AGENT_FIELD_NUMBER: _ClassVar[int]
    type: Call.Type
    get_metrics: Call.GetMetrics
    set_logging_level: Call.SetLoggingLevel
    list_files: Call.ListFiles
    read_file: Call.ReadFile
    update_weights: Call.UpdateWeights
    reserve_resources: Call.ReserveResources
    unreserve_resources: Call.UnreserveResources
    create_volumes: Call.CreateVolumes
    destroy_volumes: Call.DestroyVolumes
    update_maintenance_schedule: Call.UpdateMaintenanceSchedule
    start_maintenance: Call.StartMaintenance
    stop_maintenance: Call.StopMaintenance
    set_quota: Call.SetQuota
    remove_quota: Call.RemoveQuota
    teardown: Call.Teardown
    mark_agent_gone: Call.MarkAgentGone
    grow_volume: Call.GrowVolume
    shrink_volume: Call.ShrinkVolume
    update_quota: Call.UpdateQuota
    drain_agent: Call.DrainAgent
    deactivate_agent: Call.DeactivateAgent
    reactivate_agent: Call.ReactivateAgent
    def __init__(self, type: _Optional[_Union[Call.Type, str]] = ..., get_metrics: _Optional[_Union[Call.GetMetrics, _Mapping]] = ..., set_logging_level: _Optional[_Union[Call.SetLoggingLevel, _Mapping]] = ..., list_files: _Optional[_Union[Call.ListFiles, _Mapping]] = ..., read_file: _Optional[_Union[Call.ReadFile, _Mapping]] = ..., update_weights: _Optional[_Union[Call.UpdateWeights, _Mapping]] = ..., reserve_resources: _Optional[_Union[Call.ReserveResources, _Mapping]] = ..., unreserve_resources: _Optional[_Union[Call.UnreserveResources, _Mapping]] = ..., create_volumes: _Optional[_Union[Call.CreateVolumes, _Mapping]] = ..., destroy_volumes: _Optional[_Union[Call.DestroyVolumes, _Mapping]] = ..., update_maintenance_schedule: _Optional[_Union[Call.UpdateMaintenanceSchedule, _Mapping]] = ..., start_maintenance: _Optional[_Union[Call.StartMaintenance, _Mapping]] = ..., stop_maintenance: _Optional[_Union[Call.StopMaintenance, _Mapping]] = ..., set_quota: _Optional[_Union[Call.SetQuota, _Mapping]] = ..., remove_quota: _Optional[_Union[Call.RemoveQuota, _Mapping]] = ..., teardown: _Optional[_Union[Call.Teardown, _Mapping]] = ..., mark_agent_gone: _Optional[_Union[Call.MarkAgentGone, _Mapping]] = ..., grow_volume: _Optional[_Union[Call.GrowVolume, _Mapping]] = ..., shrink_volume: _Optional[_Union[Call.ShrinkVolume, _Mapping]] = ..., update_quota: _Optional[_Union[Call.UpdateQuota, _Mapping]] = ..., drain_agent: _Optional[_Union[Call.DrainAgent, _Mapping]] = ..., deactivate_agent: _Optional[_Union[Call.DeactivateAgent, _Mapping]] = ..., reactivate_agent: _Optional[_Union[Call.ReactivateAgent, _Mapping]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("type", "subscribed", "task_added", "task_updated", "agent_added", "agent_removed", "framework_added", "framework_updated", "framework_removed")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Event.Type]
        SUBSCRIBED: _ClassVar[Event.Type]
        TASK_ADDED: _ClassVar[Event.Type]
        TASK_UPDATED: _ClassVar[Event.Type]
        AGENT_ADDED: _ClassVar[Event.Type]
        AGENT_REMOVED: _ClassVar[Event.Type]
        FRAMEWORK_ADDED: _ClassVar[Event.Type]
        FRAMEWORK_UPDATED: _ClassVar[Event.Type]
        FRAMEWORK_REMOVED: _ClassVar[Event.Type]
        HEARTBEAT: _ClassVar[Event.Type]
    UNKNOWN: Event.Type
    SUBSCRIBED: Event.Type
    TASK_ADDED: Event.Type
    TASK_UPDATED: Event.Type
    AGENT_ADDED: Event.Type
    AGENT_REMOVED: Event.Type
    FRAMEWORK_ADDED: Event.Type
    FRAMEWORK_UPDATED: Event.Type
    FRAMEWORK_REMOVED: Event.Type
    HEARTBEAT: Event.Type
    class AgentAdded(_message.Message):
        __slots__ = ("agent",)
        AGENT_FIELD_NUMBER: _ClassVar[int]
        agent: Response.GetAgents.Agent
        def __init__(self, agent: _Optional[_Union[Response.GetAgents.Agent, _Mapping]] = ...) -> None: ...
    class AgentRemoved(_message.Message):
        __slots__ = ("agent_id",)
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
    class FrameworkAdded(_message.Message):
        __slots__ = ("framework",)
        FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
        framework: Response.GetFrameworks.Framework
        def __init__(self, framework: _Optional[_Union[Response.GetFrameworks.Framework, _Mapping]] = ...) -> None: ...
    class FrameworkRemoved(_message.Message):
        __slots__ = ("framework_info",)
        FRAMEWORK_INFO_FIELD_NUMBER: _ClassVar[int]
        framework_info: _mesos_pb2.FrameworkInfo
        def __init__(self, framework_info: _Optional[_Union[_mesos_pb2.FrameworkInfo, _Mapping]] = ...) -> None: ...
    class FrameworkUpdated(_message.Message):
        __slots__ = ("framework",)
        FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
        framework: Response.GetFrameworks.Framework
        def __init__(self, framework: _Optional[_Union[Response.GetFrameworks.Framework, _Mapping]] = ...) -> None: ...
    class Subscribed(_message.Message):
        __slots__ = ("get_state", "heartbeat_interval_seconds")
        GET_STATE_FIELD_NUMBER: _ClassVar[int]
        HEARTBEAT_INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
        get_state: Response.GetState
        heartbeat_interval_seconds: float
        def __init__(self, get_state: _Optional[_Union[Response.GetState, _Mapping]] = ..., heartbeat_interval_seconds: _Optional[float] = ...) -> None: ...
    class TaskAdded(_message.Message):
        __slots__ = ("task",)
        TASK_FIELD_NUMBER: _ClassVar[int]
        task: _mesos_pb2.Task
        def __init__(self, task: _Optional[_Union[_mesos_pb2.Task, _Mapping]] = ...) -> None: ...
    class TaskUpdated(_message.Message):
        __slots__ = ("framework_id", "status", "state")
        FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
        STATUS_FIELD_NUMBER: _ClassVar[int]
        STATE_FIELD_NUMBER: _ClassVar[int]
        framework_id: _mesos_pb2.FrameworkID
        status: _mesos_pb2.TaskStatus
        state: _mesos_pb2.TaskState
        def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., status: _Optional[_Union[_mesos_pb2.TaskStatus, _Mapping]] = ..., state: _Optional[_Union[_mesos_pb2.TaskState, str]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBED_FIELD_NUMBER: _ClassVar[int]
    TASK_ADDED_FIELD_NUMBER: _ClassVar[int]
    TASK_UPDATED_FIELD_NUMBER: _ClassVar[int]
    AGENT_ADDED_FIELD_NUMBER: _ClassVar[int]
    AGENT_REMOVED_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ADDED_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_UPDATED_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_REMOVED_FIELD_NUMBER: _ClassVar[int]
    type: Event.Type
    subscribed: Event.Subscribed
    task_added: Event.TaskAdded
    task_updated: Event.TaskUpdated
    agent_added: Event.AgentAdded
    agent_removed: Event.AgentRemoved
    framework_added: Event.FrameworkAdded
    framework_updated: Event.FrameworkUpdated
    framework_removed: Event.FrameworkRemoved
    def __init__(self, type: _Optional[_Union[Event.Type, str]] = ..., subscribed: _Optional[_Union[Event.Subscribed, _Mapping]] = ..., task_added: _Optional[_Union[Event.TaskAdded, _Mapping]] = ..., task_updated: _Optional[_Union[Event.TaskUpdated, _Mapping]] = ..., agent_added: _Optional[_Union[Event.AgentAdded, _Mapping]] = ..., agent_removed: _Optional[_Union[Event.AgentRemoved, _Mapping]] = ..., framework_added: _Optional[_Union[Event.FrameworkAdded, _Mapping]] = ..., framework_updated: _Optional[_Union[Event.FrameworkUpdated, _Mapping]] = ..., framework_removed: _Optional[_Union[Event.FrameworkRemoved, _Mapping]] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ("type", "get_health", "get_flags", "get_version", "get_metrics", "get_logging_level", "list_files", "read_file", "get_state", "get_agents", "get_frameworks", "get_executors", "get_tasks", "get_roles", "get_weights", "get_master", "get_maintenance_status", "get_maintenance_schedule", "get_quota", "get_operations")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Response.Type]
        GET_HEALTH: _ClassVar[Response.Type]
        GET_FLAGS: _ClassVar[Response.Type]
        GET_VERSION: _ClassVar[Response.Type]
        GET_METRICS: _ClassVar[Response.Type]
        GET_LOGGING_LEVEL: _ClassVar[Response.Type]
        LIST_FILES: _ClassVar[Response.Type]
        READ_FILE: _ClassVar[Response.Type]
        GET_STATE: _ClassVar[Response.Type]
        GET_AGENTS: _ClassVar[Response.Type]
        GET_FRAMEWORKS: _ClassVar[Response.Type]
        GET_EXECUTORS: _ClassVar[Response.Type]
        GET_TASKS: _ClassVar[Response.Type]
        GET_ROLES: _ClassVar[Response.Type]
        GET_WEIGHTS: _ClassVar[Response.Type]
        GET_MASTER: _ClassVar[Response.Type]
        GET_MAINTENANCE_STATUS: _ClassVar[Response.Type]
        GET_MAINTENANCE_SCHEDULE: _ClassVar[Response.Type]
        GET_QUOTA: _ClassVar[Response.Type]
        GET_OPERATIONS: _ClassVar[Response.Type]
    UNKNOWN: Response.Type
    GET_HEALTH: Response.Type
    GET_FLAGS: Response.Type
    GET_VERSION: Response.Type
    GET_METRICS: Response.Type
    GET_LOGGING_LEVEL: Response.Type
    LIST_FILES: Response.Type
    READ_FILE: Response.Type
    GET_STATE: Response.Type
    GET_AGENTS: Response.Type
    GET_FRAMEWORKS: Response.Type
    GET_EXECUTORS: Response.Type
    GET_TASKS: Response.Type
    GET_ROLES: Response.Type
    GET_WEIGHTS: Response.Type
    GET_MASTER: Response.Type
    GET_MAINTENANCE_STATUS: Response.Type
    GET_MAINTENANCE_SCHEDULE: Response.Type
    GET_QUOTA: Response.Type
    GET_OPERATIONS: Response.Type
    class GetAgents(_message.Message):
        __slots__ = ("agents", "recovered_agents")
        class Agent(_message.Message):
            __slots__ = ("agent_info", "active", "version", "pid", "registered_time", "reregistered_time", "total_resources", "allocated_resources", "offered_resources", "capabilities", "resource_providers", "deactivated", "drain_info", "estimated_drain_start_time")
            class ResourceProvider(_message.Message):
                __slots__ = ("resource_provider_info", "total_resources")
                RESOURCE_PROVIDER_INFO_FIELD_NUMBER: _ClassVar[int]
                TOTAL_RESOURCES_FIELD_NUMBER: _ClassVar[int]
                resource_provider_info: _mesos_pb2.ResourceProviderInfo
                total_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
                def __init__(self, resource_provider_info: _Optional[_Union[_mesos_pb2.ResourceProviderInfo, _Mapping]] = ..., total_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
            AGENT_INFO_FIELD_NUMBER: _ClassVar[int]
            ACTIVE_FIELD_NUMBER: _ClassVar[int]
            VERSION_FIELD_NUMBER: _ClassVar[int]
            PID_FIELD_NUMBER: _ClassVar[int]
            REGISTERED_TIME_FIELD_NUMBER: _ClassVar[int]
            REREGISTERED_TIME_FIELD_NUMBER: _ClassVar[int]
            TOTAL_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            ALLOCATED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            OFFERED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
            RESOURCE_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
            DEACTIVATED_FIELD_NUMBER: _ClassVar[int]
            DRAIN_INFO_FIELD_NUMBER: _ClassVar[int]
            ESTIMATED_DRAIN_START_TIME_FIELD_NUMBER: _ClassVar[int]
            agent_info: _mesos_pb2.AgentInfo
            active: bool
            version: str
            pid: str
            registered_time: _mesos_pb2.TimeInfo
            reregistered_time: _mesos_pb2.TimeInfo
            total_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            allocated_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            offered_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            capabilities: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.AgentInfo.Capability]
            resource_providers: _containers.RepeatedCompositeFieldContainer[Response.GetAgents.Agent.ResourceProvider]
            deactivated: bool
            drain_info: _mesos_pb2.DrainInfo
            estimated_drain_start_time: _mesos_pb2.TimeInfo
            def __init__(self, agent_info: _Optional[_Union[_mesos_pb2.AgentInfo, _Mapping]] = ..., active: bool = ..., version: _Optional[str] = ..., pid: _Optional[str] = ..., registered_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ..., reregistered_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ..., total_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., allocated_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., offered_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., capabilities: _Optional[_Iterable[_Union[_mesos_pb2.AgentInfo.Capability, _Mapping]]] = ..., resource_providers: _Optional[_Iterable[_Union[Response.GetAgents.Agent.ResourceProvider, _Mapping]]] = ..., deactivated: bool = ..., drain_info: _Optional[_Union[_mesos_pb2.DrainInfo, _Mapping]] = ..., estimated_drain_start_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ...) -> None: ...
        AGENTS_FIELD_NUMBER: _ClassVar[int]
        RECOVERED_AGENTS_FIELD_NUMBER: _ClassVar[int]
        agents: _containers.RepeatedCompositeFieldContainer[Response.GetAgents.Agent]
        recovered_agents: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.AgentInfo]
        def __init__(self, agents: _Optional[_Iterable[_Union[Response.GetAgents.Agent, _Mapping]]] = ..., recovered_agents: _Optional[_Iterable[_Union[_mesos_pb2.AgentInfo, _Mapping]]] = ...) -> None: ...
    class GetExecutors(_message.Message):
        __slots__ = ("executors", "orphan_executors")
        class Executor(_message.Message):
            __slots__ = ("executor_info", "agent_id")
            EXECUTOR_INFO_FIELD_NUMBER: _ClassVar[int]
            AGENT_ID_FIELD_NUMBER: _ClassVar[int]
            executor_info: _mesos_pb2.ExecutorInfo
            agent_id: _mesos_pb2.AgentID
            def __init__(self, executor_info: _Optional[_Union[_mesos_pb2.ExecutorInfo, _Mapping]] = ..., agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
        EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        ORPHAN_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        executors: _containers.RepeatedCompositeFieldContainer[Response.GetExecutors.Executor]
        orphan_executors: _containers.RepeatedCompositeFieldContainer[Response.GetExecutors.Executor]
        def __init__(self, executors: _Optional[_Iterable[_Union[Response.GetExecutors.Executor, _Mapping]]] = ..., orphan_executors: _Optional[_Iterable[_Union[Response.GetExecutors.Executor, _Mapping]]] = ...) -> None: ...
    class GetFlags(_message.Message):
        __slots__ = ("flags",)
        FLAGS_FIELD_NUMBER: _ClassVar[int]
        flags: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Flag]
        def __init__(self, flags: _Optional[_Iterable[_Union[_mesos_pb2.Flag, _Mapping]]] = ...) -> None: ...
    class GetFrameworks(_message.Message):
        __slots__ = ("frameworks", "completed_frameworks", "recovered_frameworks")
        class Framework(_message.Message):
            __slots__ = ("framework_info", "active", "connected", "registered_time", "reregistered_time", "unregistered_time", "offers", "inverse_offers", "allocated_resources", "offered_resources", "recovered", "offer_constraints")
            FRAMEWORK_INFO_FIELD_NUMBER: _ClassVar[int]
            ACTIVE_FIELD_NUMBER: _ClassVar[int]
            CONNECTED_FIELD_NUMBER: _ClassVar[int]
            REGISTERED_TIME_FIELD_NUMBER: _ClassVar[int]
            REREGISTERED_TIME_FIELD_NUMBER: _ClassVar[int]
            UNREGISTERED_TIME_FIELD_NUMBER: _ClassVar[int]
            OFFERS_FIELD_NUMBER: _ClassVar[int]
            INVERSE_OFFERS_FIELD_NUMBER: _ClassVar[int]
            ALLOCATED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            OFFERED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            RECOVERED_FIELD_NUMBER: _ClassVar[int]
            OFFER_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
            framework_info: _mesos_pb2.FrameworkInfo
            active: bool
            connected: bool
            registered_time: _mesos_pb2.TimeInfo
            reregistered_time: _mesos_pb2.TimeInfo
            unregistered_time: _mesos_pb2.TimeInfo
            offers: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Offer]
            inverse_offers: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.InverseOffer]
            allocated_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            offered_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            recovered: bool
            offer_constraints: _scheduler_pb2.OfferConstraints
            def __init__(self, framework_info: _Optional[_Union[_mesos_pb2.FrameworkInfo, _Mapping]] = ..., active: bool = ..., connected: bool = ..., registered_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ..., reregistered_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ..., unregistered_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ..., offers: _Optional[_Iterable[_Union[_mesos_pb2.Offer, _Mapping]]] = ..., inverse_offers: _Optional[_Iterable[_Union[_mesos_pb2.InverseOffer, _Mapping]]] = ..., allocated_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., offered_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., recovered: bool = ..., offer_constraints: _Optional[_Union[_scheduler_pb2.OfferConstraints, _Mapping]] = ...) -> None: ...
        FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        COMPLETED_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        RECOVERED_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        frameworks: _containers.RepeatedCompositeFieldContainer[Response.GetFrameworks.Framework]
        completed_frameworks: _containers.RepeatedCompositeFieldContainer[Response.GetFrameworks.Framework]
        recovered_frameworks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.FrameworkInfo]
        def __init__(self, frameworks: _Optional[_Iterable[_Union[Response.GetFrameworks.Framework, _Mapping]]] = ..., completed_frameworks: _Optional[_Iterable[_Union[Response.GetFrameworks.Framework, _Mapping]]] = ..., recovered_frameworks: _Optional[_Iterable[_Union[_mesos_pb2.FrameworkInfo, _Mapping]]] = ...) -> None: ...
    class GetHealth(_message.Message):
        __slots__ = ("healthy",)
        HEALTHY_FIELD_NUMBER: _ClassVar[int]
        healthy: bool
        def __init__(self, healthy: bool = ...) -> None: ...
    class GetLoggingLevel(_message.Message):
        __slots__ = ("level",)
        LEVEL_FIELD_NUMBER: _ClassVar[int]
        level: int
        def __init__(self, level: _Optional[int] = ...) -> None: ...
    class GetMaintenanceSchedule(_message.Message):
        __slots__ = ("schedule",)
        SCHEDULE_FIELD_NUMBER: _ClassVar[int]
        schedule: _maintenance_pb2.Schedule
        def __init__(self, schedule: _Optional[_Union[_maintenance_pb2.Schedule, _Mapping]] = ...) -> None: ...
    class GetMaintenanceStatus(_message.Message):
        __slots__ = ("status",)
        STATUS_FIELD_NUMBER: _ClassVar[int]
        status: _maintenance_pb2.ClusterStatus
        def __init__(self, status: _Optional[_Union[_maintenance_pb2.ClusterStatus, _Mapping]] = ...) -> None: ...
    class GetMaster(_message.Message):
        __slots__ = ("master_info", "start_time", "elected_time")
        MASTER_INFO_FIELD_NUMBER: _ClassVar[int]
        START_TIME_FIELD_NUMBER: _ClassVar[int]
        ELECTED_TIME_FIELD_NUMBER: _ClassVar[int]
        master_info: _mesos_pb2.MasterInfo
        start_time: float
        elected_time: float
        def __init__(self, master_info: _Optional[_Union[_mesos_pb2.MasterInfo, _Mapping]] = ..., start_time: _Optional[float] = ..., elected_time: _Optional[float] = ...) -> None: ...
    class GetMetrics(_message.Message):
        __slots__ = ("metrics",)
        METRICS_FIELD_NUMBER: _ClassVar[int]
        metrics: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Metric]
        def __init__(self, metrics: _Optional[_Iterable[_Union[_mesos_pb2.Metric, _Mapping]]] = ...) -> None: ...
    class GetOperations(_message.Message):
        __slots__ = ("operations",)
        OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        operations: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Operation]
        def __init__(self, operations: _Optional[_Iterable[_Union[_mesos_pb2.Operation, _Mapping]]] = ...) -> None: ...
    class GetQuota(_message.Message):
        __slots__ = ("status",)
        STATUS_FIELD_NUMBER: _ClassVar[int]
        status: _quota_pb2.QuotaStatus
        def __init__(self, status: _Optional[_Union[_quota_pb2.QuotaStatus, _Mapping]] = ...) -> None: ...
    class GetRoles(_message.Message):
        __slots__ = ("roles",)
        ROLES_FIELD_NUMBER: _ClassVar[int]
        roles: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Role]
        def __init__(self, roles: _Optional[_Iterable[_Union[_mesos_pb2.Role, _Mapping]]] = ...) -> None: ...
    class GetState(_message.Message):
        __slots__ = ("get_tasks", "get_executors", "get_frameworks", "get_agents")
        GET_TASKS_FIELD_NUMBER: _ClassVar[int]
        GET_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        GET_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        GET_AGENTS_FIELD_NUMBER: _ClassVar[int]
        get_tasks: Response.GetTasks
        get_executors: Response.GetExecutors
        get_frameworks: Response.GetFrameworks
        get_agents: Response.GetAgents
        def __init__(self, get_tasks: _Optional[_Union[Response.GetTasks, _Mapping]] = ..., get_executors: _Optional[_Union[Response.GetExecutors, _Mapping]] = ..., get_frameworks: _Optional[_Union[Response.GetFrameworks, _Mapping]] = ..., get_agents: _Optional[_Union[Response.GetAgents, _Mapping]] = ...) -> None: ...
    class GetTasks(_message.Message):
        __slots__ = ("pending_tasks", "tasks", "completed_tasks", "orphan_tasks", "unreachable_tasks")
        PENDING_TASKS_FIELD_NUMBER: _ClassVar[int]
        TASKS_FIELD_NUMBER: _ClassVar[int]
        COMPLETED_TASKS_FIELD_NUMBER: _ClassVar[int]
        ORPHAN_TASKS_FIELD_NUMBER: _ClassVar[int]
        UNREACHABLE_TASKS_FIELD_NUMBER: _ClassVar[int]
        pending_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        completed_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        orphan_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        unreachable_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        def __init__(self, pending_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., completed_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., orphan_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., unreachable_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ...) -> None: ...
    class GetVersion(_message.Message):
        __slots__ = ("version_info",)
        VERSION_INFO_FIELD_NUMBER: _ClassVar[int]
        version_info: _mesos_pb2.VersionInfo
        def __init__(self, version_info: _Optional[_Union[_mesos_pb2.VersionInfo, _Mapping]] = ...) -> None: ...
    class GetWeights(_message.Message):
        __slots__ = ("weight_infos",)
        WEIGHT_INFOS_FIELD_NUMBER: _ClassVar[int]
        weight_infos: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.WeightInfo]
        def __init__(self, weight_infos: _Optional[_Iterable[_Union[_mesos_pb2.WeightInfo, _Mapping]]] = ...) -> None: ...
    class ListFiles(_message.Message):
        __slots__ = ("file_infos",)
        FILE_INFOS_FIELD_NUMBER: _ClassVar[int]
        file_infos: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.FileInfo]
        def __init__(self, file_infos: _Optional[_Iterable[_Union[_mesos_pb2.FileInfo, _Mapping]]] = ...) -> None: ...
    class ReadFile(_message.Message):
        __slots__ = ("size", "data")
        SIZE_FIELD_NUMBER: _ClassVar[int]
        DATA_FIELD_NUMBER: _ClassVar[int]
        size: int
        data: bytes
        def __init__(self, size: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GET_HEALTH_FIELD_NUMBER: _ClassVar[int]
    GET_FLAGS_FIELD_NUMBER: _ClassVar[int]
    GET_VERSION_FIELD_NUMBER: _ClassVar[int]
    GET_METRICS_FIELD_NUMBER: _ClassVar[int]
    GET_LOGGING_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LIST_FILES_FIELD_NUMBER: _ClassVar[int]
    READ_FILE_FIELD_NUMBER: _ClassVar[int]
    GET_STATE_FIELD_NUMBER: _ClassVar[int]
    GET_AGENTS_FIELD_NUMBER: _ClassVar[int]
    GET_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
    GET_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
    GET_TASKS_FIELD_NUMBER: _ClassVar[int]
    GET_ROLES_FIELD_NUMBER: _ClassVar[int]
    GET_WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    GET_MASTER_FIELD_NUMBER: _ClassVar[int]
    GET_MAINTENANCE_STATUS_FIELD_NUMBER: _ClassVar[int]
    GET_MAINTENANCE_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    GET_QUOTA_FIELD_NUMBER: _ClassVar[int]
    GET_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    type: Response.Type
    get_health: Response.GetHealth
    get_flags: Response.GetFlags
    get_version: Response.GetVersion
    get_metrics: Response.GetMetrics
    get_logging_level: Response.GetLoggingLevel
    list_files: Response.ListFiles
    read_file: Response.ReadFile
    get_state: Response.GetState
    get_agents: Response.GetAgents
    get_frameworks: Response.GetFrameworks
    get_executors: Response.GetExecutors
    get_tasks: Response.GetTasks
    get_roles: Response.GetRoles
    get_weights: Response.GetWeights
    get_master: Response.GetMaster
    get_maintenance_status: Response.GetMaintenanceStatus
    get_maintenance_schedule: Response.GetMaintenanceSchedule
    get_quota: Response.GetQuota
    get_operations: Response.GetOperations
    def __init__(self, type: _Optional[_Union[Response.Type, str]] = ..., get_health: _Optional[_Union[Response.GetHealth, _Mapping]] = ..., get_flags: _Optional[_Union[Response.GetFlags, _Mapping]] = ..., get_version: _Optional[_Union[Response.GetVersion, _Mapping]] = ..., get_metrics: _Optional[_Union[Response.GetMetrics, _Mapping]] = ..., get_logging_level: _Optional[_Union[Response.GetLoggingLevel, _Mapping]] = ..., list_files: _Optional[_Union[Response.ListFiles, _Mapping]] = ..., read_file: _Optional[_Union[Response.ReadFile, _Mapping]] = ..., get_state: _Optional[_Union[Response.GetState, _Mapping]] = ..., get_agents: _Optional[_Union[Response.GetAgents, _Mapping]] = ..., get_frameworks: _Optional[_Union[Response.GetFrameworks, _Mapping]] = ..., get_executors: _Optional[_Union[Response.GetExecutors, _Mapping]] = ..., get_tasks: _Optional[_Union[Response.GetTasks, _Mapping]] = ..., get_roles: _Optional[_Union[Response.GetRoles, _Mapping]] = ..., get_weights: _Optional[_Union[Response.GetWeights, _Mapping]] = ..., get_master: _Optional[_Union[Response.GetMaster, _Mapping]] = ..., get_maintenance_status: _Optional[_Union[Response.GetMaintenanceStatus, _Mapping]] = ..., get_maintenance_schedule: _Optional[_Union[Response.GetMaintenanceSchedule, _Mapping]] = ..., get_quota: _Optional[_Union[Response.GetQuota, _Mapping]] = ..., get_operations: _Optional[_Union[Response.GetOperations, _Mapping]] = ...) -> None: ...
