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
    __slots__ = ("type", "get_metrics", "set_logging_level", "list_files", "read_file", "launch_nested_container", "wait_nested_container", "kill_nested_container", "launch_nested_container_session", "attach_container_input", "attach_container_output", "remove_nested_container", "launch_container", "wait_container", "kill_container", "remove_container", "add_resource_provider_config", "update_resource_provider_config", "remove_resource_provider_config", "get_containers", "prune_images", "mark_resource_provider_gone", "destroy_cpuset", "compact_cpusets")
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
        GET_CONTAINERS: _ClassVar[Call.Type]
        GET_FRAMEWORKS: _ClassVar[Call.Type]
        GET_EXECUTORS: _ClassVar[Call.Type]
        GET_TASKS: _ClassVar[Call.Type]
        LAUNCH_NESTED_CONTAINER: _ClassVar[Call.Type]
        WAIT_NESTED_CONTAINER: _ClassVar[Call.Type]
        KILL_NESTED_CONTAINER: _ClassVar[Call.Type]
        LAUNCH_NESTED_CONTAINER_SESSION: _ClassVar[Call.Type]
        ATTACH_CONTAINER_INPUT: _ClassVar[Call.Type]
        ATTACH_CONTAINER_OUTPUT: _ClassVar[Call.Type]
        GET_AGENT: _ClassVar[Call.Type]
        REMOVE_NESTED_CONTAINER: _ClassVar[Call.Type]
        LAUNCH_CONTAINER: _ClassVar[Call.Type]
        WAIT_CONTAINER: _ClassVar[Call.Type]
        KILL_CONTAINER: _ClassVar[Call.Type]
        REMOVE_CONTAINER: _ClassVar[Call.Type]
        GET_RESOURCE_PROVIDERS: _ClassVar[Call.Type]
        ADD_RESOURCE_PROVIDER_CONFIG: _ClassVar[Call.Type]
        UPDATE_RESOURCE_PROVIDER_CONFIG: _ClassVar[Call.Type]
        REMOVE_RESOURCE_PROVIDER_CONFIG: _ClassVar[Call.Type]
        PRUNE_IMAGES: _ClassVar[Call.Type]
        GET_OPERATIONS: _ClassVar[Call.Type]
        MARK_RESOURCE_PROVIDER_GONE: _ClassVar[Call.Type]
        GET_TOPOLOGY: _ClassVar[Call.Type]
        GET_PROFILES: _ClassVar[Call.Type]
        GET_CPUSETS: _ClassVar[Call.Type]
        DESTROY_CPUSET: _ClassVar[Call.Type]
        COMPACT_CPUSETS: _ClassVar[Call.Type]
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
    GET_CONTAINERS: Call.Type
    GET_FRAMEWORKS: Call.Type
    GET_EXECUTORS: Call.Type
    GET_TASKS: Call.Type
    LAUNCH_NESTED_CONTAINER: Call.Type
    WAIT_NESTED_CONTAINER: Call.Type
    KILL_NESTED_CONTAINER: Call.Type
    LAUNCH_NESTED_CONTAINER_SESSION: Call.Type
    ATTACH_CONTAINER_INPUT: Call.Type
    ATTACH_CONTAINER_OUTPUT: Call.Type
    GET_AGENT: Call.Type
    REMOVE_NESTED_CONTAINER: Call.Type
    LAUNCH_CONTAINER: Call.Type
    WAIT_CONTAINER: Call.Type
    KILL_CONTAINER: Call.Type
    REMOVE_CONTAINER: Call.Type
    GET_RESOURCE_PROVIDERS: Call.Type
    ADD_RESOURCE_PROVIDER_CONFIG: Call.Type
    UPDATE_RESOURCE_PROVIDER_CONFIG: Call.Type
    REMOVE_RESOURCE_PROVIDER_CONFIG: Call.Type
    PRUNE_IMAGES: Call.Type
    GET_OPERATIONS: Call.Type
    MARK_RESOURCE_PROVIDER_GONE: Call.Type
    GET_TOPOLOGY: Call.Type
    GET_PROFILES: Call.Type
    GET_CPUSETS: Call.Type
    DESTROY_CPUSET: Call.Type
    COMPACT_CPUSETS: Call.Type
    class AddResourceProviderConfig(_message.Message):
        __slots__ = ("info",)
        INFO_FIELD_NUMBER: _ClassVar[int]
        info: _mesos_pb2.ResourceProviderInfo
        def __init__(self, info: _Optional[_Union[_mesos_pb2.ResourceProviderInfo, _Mapping]] = ...) -> None: ...
    class AttachContainerInput(_message.Message):
        __slots__ = ("type", "container_id", "process_io")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Call.AttachContainerInput.Type]
            CONTAINER_ID: _ClassVar[Call.AttachContainerInput.Type]
            PROCESS_IO: _ClassVar[Call.AttachContainerInput.Type]
        UNKNOWN: Call.AttachContainerInput.Type
        CONTAINER_ID: Call.AttachContainerInput.Type
        PROCESS_IO: Call.AttachContainerInput.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        PROCESS_IO_FIELD_NUMBER: _ClassVar[int]
        type: Call.AttachContainerInput.Type
        container_id: _mesos_pb2.ContainerID
        process_io: ProcessIO
        def __init__(self, type: _Optional[_Union[Call.AttachContainerInput.Type, str]] = ..., container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., process_io: _Optional[_Union[ProcessIO, _Mapping]] = ...) -> None: ...
    class AttachContainerOutput(_message.Message):
        __slots__ = ("container_id",)
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ...) -> None: ...
    class GetContainers(_message.Message):
        __slots__ = ("show_nested", "show_standalone")
        SHOW_NESTED_FIELD_NUMBER: _ClassVar[int]
        SHOW_STANDALONE_FIELD_NUMBER: _ClassVar[int]
        show_nested: bool
        show_standalone: bool
        def __init__(self, show_nested: bool = ..., show_standalone: bool = ...) -> None: ...
    class GetMetrics(_message.Message):
        __slots__ = ("timeout",)
        TIMEOUT_FIELD_NUMBER: _ClassVar[int]
        timeout: _mesos_pb2.DurationInfo
        def __init__(self, timeout: _Optional[_Union[_mesos_pb2.DurationInfo, _Mapping]] = ...) -> None: ...
    class KillContainer(_message.Message):
        __slots__ = ("container_id", "signal")
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        SIGNAL_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        signal: int
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., signal: _Optional[int] = ...) -> None: ...
    class KillNestedContainer(_message.Message):
        __slots__ = ("container_id", "signal")
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        SIGNAL_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        signal: int
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., signal: _Optional[int] = ...) -> None: ...
    class LaunchContainer(_message.Message):
        __slots__ = ("container_id", "command", "resources", "container", "limits")
        class LimitsEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _mesos_pb2.Value.Scalar
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_mesos_pb2.Value.Scalar, _Mapping]] = ...) -> None: ...
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        COMMAND_FIELD_NUMBER: _ClassVar[int]
        RESOURCES_FIELD_NUMBER: _ClassVar[int]
        CONTAINER_FIELD_NUMBER: _ClassVar[int]
        LIMITS_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        command: _mesos_pb2.CommandInfo
        resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
        container: _mesos_pb2.ContainerInfo
        limits: _containers.MessageMap[str, _mesos_pb2.Value.Scalar]
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., command: _Optional[_Union[_mesos_pb2.CommandInfo, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ..., container: _Optional[_Union[_mesos_pb2.ContainerInfo, _Mapping]] = ..., limits: _Optional[_Mapping[str, _mesos_pb2.Value.Scalar]] = ...) -> None: ...
    class LaunchNestedContainer(_message.Message):
        __slots__ = ("container_id", "command", "container")
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        COMMAND_FIELD_NUMBER: _ClassVar[int]
        CONTAINER_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        command: _mesos_pb2.CommandInfo
        container: _mesos_pb2.ContainerInfo
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., command: _Optional[_Union[_mesos_pb2.CommandInfo, _Mapping]] = ..., container: _Optional[_Union[_mesos_pb2.ContainerInfo, _Mapping]] = ...) -> None: ...
    class LaunchNestedContainerSession(_message.Message):
        __slots__ = ("container_id", "command", "container")
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        COMMAND_FIELD_NUMBER: _ClassVar[int]
        CONTAINER_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        command: _mesos_pb2.CommandInfo
        container: _mesos_pb2.ContainerInfo
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., command: _Optional[_Union[_mesos_pb2.CommandInfo, _Mapping]] = ..., container: _Optional[_Union[_mesos_pb2.ContainerInfo, _Mapping]] = ...) -> None: ...
    class ListFiles(_message.Message):
        __slots__ = ("path",)
        PATH_FIELD_NUMBER: _ClassVar[int]
        path: str
        def __init__(self, path: _Optional[str] = ...) -> None: ...
    class MarkResourceProviderGone(_message.Message):
        __slots__ = ("resource_provider_id",)
        RESOURCE_PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
        resource_provider_id: _mesos_pb2.ResourceProviderID
        def __init__(self, resource_provider_id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ...) -> None: ...
    class PruneImages(_message.Message):
        __slots__ = ("excluded_images",)
        EXCLUDED_IMAGES_FIELD_NUMBER: _ClassVar[int]
        excluded_images: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Image]
        def __init__(self, excluded_images: _Optional[_Iterable[_Union[_mesos_pb2.Image, _Mapping]]] = ...) -> None: ...
    class ReadFile(_message.Message):
        __slots__ = ("path", "offset", "length")
        PATH_FIELD_NUMBER: _ClassVar[int]
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        LENGTH_FIELD_NUMBER: _ClassVar[int]
        path: str
        offset: int
        length: int
        def __init__(self, path: _Optional[str] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...
    class RemoveContainer(_message.Message):
        __slots__ = ("container_id",)
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ...) -> None: ...
    class RemoveNestedContainer(_message.Message):
        __slots__ = ("container_id",)
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ...) -> None: ...
    class RemoveResourceProviderConfig(_message.Message):
        __slots__ = ("type", "name")
        TYPE_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        type: str
        name: str
        def __init__(self, type: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...
    class SetLoggingLevel(_message.Message):
        __slots__ = ("level", "duration")
        LEVEL_FIELD_NUMBER: _ClassVar[int]
        DURATION_FIELD_NUMBER: _ClassVar[int]
        level: int
        duration: _mesos_pb2.DurationInfo
        def __init__(self, level: _Optional[int] = ..., duration: _Optional[_Union[_mesos_pb2.DurationInfo, _Mapping]] = ...) -> None: ...
    class UpdateResourceProviderConfig(_message.Message):
        __slots__ = ("info",)
        INFO_FIELD_NUMBER: _ClassVar[int]
        info: _mesos_pb2.ResourceProviderInfo
        def __init__(self, info: _Optional[_Union[_mesos_pb2.ResourceProviderInfo, _Mapping]] = ...) -> None: ...
    class WaitContainer(_message.Message):
        __slots__ = ("container_id",)
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ...) -> None: ...
    class WaitNestedContainer(_message.Message):
        __slots__ = ("container_id",)
        CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
        container_id: _mesos_pb2.ContainerID
        def __init__(self, container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ...) -> None: ...
    class CompactCpusets(_message.Message):
        __slots__ = ("dry_run", "cpuset_ids")
        DRY_RUN_FIELD_NUMBER: _ClassVar[int]
        CPUSET_IDS_FIELD_NUMBER: _ClassVar[int]
        dry_run: bool
        cpuset_ids: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, dry_run: bool = ..., cpuset_ids: _Optional[_Iterable[str]] = ...) -> None: ...
    class DestroyCpuset(_message.Message):
        __slots__ = ("cpuset_id",)
        CPUSET_ID_FIELD_NUMBER: _ClassVar[int]
        cpuset_id: str
        def __init__(self, cpuset_id: _Optional[str] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GET_METRICS_FIELD_NUMBER: _ClassVar[int]
    SET_LOGGING_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LIST_FILES_FIELD_NUMBER: _ClassVar[int]
    READ_FILE_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_NESTED_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    WAIT_NESTED_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    KILL_NESTED_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_NESTED_CONTAINER_SESSION_FIELD_NUMBER: _ClassVar[int]
    ATTACH_CONTAINER_INPUT_FIELD_NUMBER: _ClassVar[int]
    ATTACH_CONTAINER_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REMOVE_NESTED_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    WAIT_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    KILL_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    REMOVE_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    ADD_RESOURCE_PROVIDER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    UPDATE_RESOURCE_PROVIDER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    REMOVE_RESOURCE_PROVIDER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    GET_CONTAINERS_FIELD_NUMBER: _ClassVar[int]
    PRUNE_IMAGES_FIELD_NUMBER: _ClassVar[int]
    MARK_RESOURCE_PROVIDER_GONE_FIELD_NUMBER: _ClassVar[int]
    DESTROY_CPUSET_FIELD_NUMBER: _ClassVar[int]
    COMPACT_CPUSETS_FIELD_NUMBER: _ClassVar[int]
    type: Call.Type
    get_metrics: Call.GetMetrics
    set_logging_level: Call.SetLoggingLevel
    list_files: Call.ListFiles
    read_file: Call.ReadFile
    launch_nested_container: Call.LaunchNestedContainer
    wait_nested_container: Call.WaitNestedContainer
    kill_nested_container: Call.KillNestedContainer
    launch_nested_container_session: Call.LaunchNestedContainerSession
    attach_container_input: Call.AttachContainerInput
    attach_container_output: Call.AttachContainerOutput
    remove_nested_container: Call.RemoveNestedContainer
    launch_container: Call.LaunchContainer
    wait_container: Call.WaitContainer
    kill_container: Call.KillContainer
    remove_container: Call.RemoveContainer
    add_resource_provider_config: Call.AddResourceProviderConfig
    update_resource_provider_config: Call.UpdateResourceProviderConfig
    remove_resource_provider_config: Call.RemoveResourceProviderConfig
    get_containers: Call.GetContainers
    prune_images: Call.PruneImages
    mark_resource_provider_gone: Call.MarkResourceProviderGone
    destroy_cpuset: Call.DestroyCpuset
    compact_cpusets: Call.CompactCpusets
    def __init__(self, type: _Optional[_Union[Call.Type, str]] = ..., get_metrics: _Optional[_Union[Call.GetMetrics, _Mapping]] = ..., set_logging_level: _Optional[_Union[Call.SetLoggingLevel, _Mapping]] = ..., list_files: _Optional[_Union[Call.ListFiles, _Mapping]] = ..., read_file: _Optional[_Union[Call.ReadFile, _Mapping]] = ..., launch_nested_container: _Optional[_Union[Call.LaunchNestedContainer, _Mapping]] = ..., wait_nested_container: _Optional[_Union[Call.WaitNestedContainer, _Mapping]] = ..., kill_nested_container: _Optional[_Union[Call.KillNestedContainer, _Mapping]] = ..., launch_nested_container_session: _Optional[_Union[Call.LaunchNestedContainerSession, _Mapping]] = ..., attach_container_input: _Optional[_Union[Call.AttachContainerInput, _Mapping]] = ..., attach_container_output: _Optional[_Union[Call.AttachContainerOutput, _Mapping]] = ..., remove_nested_container: _Optional[_Union[Call.RemoveNestedContainer, _Mapping]] = ..., launch_container: _Optional[_Union[Call.LaunchContainer, _Mapping]] = ..., wait_container: _Optional[_Union[Call.WaitContainer, _Mapping]] = ..., kill_container: _Optional[_Union[Call.KillContainer, _Mapping]] = ..., remove_container: _Optional[_Union[Call.RemoveContainer, _Mapping]] = ..., add_resource_provider_config: _Optional[_Union[Call.AddResourceProviderConfig, _Mapping]] = ..., update_resource_provider_config: _Optional[_Union[Call.UpdateResourceProviderConfig, _Mapping]] = ..., remove_resource_provider_config: _Optional[_Union[Call.RemoveResourceProviderConfig, _Mapping]] = ..., get_containers: _Optional[_Union[Call.GetContainers, _Mapping]] = ..., prune_images: _Optional[_Union[Call.PruneImages, _Mapping]] = ..., mark_resource_provider_gone: _Optional[_Union[Call.MarkResourceProviderGone, _Mapping]] = ..., destroy_cpuset: _Optional[_Union[Call.DestroyCpuset, _Mapping]] = ..., compact_cpusets: _Optional[_Union[Call.CompactCpusets, _Mapping]] = ...) -> None: ...

class ProcessIO(_message.Message):
    __slots__ = ("type", "data", "control")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ProcessIO.Type]
        DATA: _ClassVar[ProcessIO.Type]
        CONTROL: _ClassVar[ProcessIO.Type]
    UNKNOWN: ProcessIO.Type
    DATA: ProcessIO.Type
    CONTROL: ProcessIO.Type
    class Control(_message.Message):
        __slots__ = ("type", "tty_info", "heartbeat")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[ProcessIO.Control.Type]
            TTY_INFO: _ClassVar[ProcessIO.Control.Type]
            HEARTBEAT: _ClassVar[ProcessIO.Control.Type]
        UNKNOWN: ProcessIO.Control.Type
        TTY_INFO: ProcessIO.Control.Type
        HEARTBEAT: ProcessIO.Control.Type
        class Heartbeat(_message.Message):
            __slots__ = ("interval",)
            INTERVAL_FIELD_NUMBER: _ClassVar[int]
            interval: _mesos_pb2.DurationInfo
            def __init__(self, interval: _Optional[_Union[_mesos_pb2.DurationInfo, _Mapping]] = ...) -> None: ...
        TYPE_FIELD_NUMBER: _ClassVar[int]
        TTY_INFO_FIELD_NUMBER: _ClassVar[int]
        HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
        type: ProcessIO.Control.Type
        tty_info: _mesos_pb2.TTYInfo
        heartbeat: ProcessIO.Control.Heartbeat
        def __init__(self, type: _Optional[_Union[ProcessIO.Control.Type, str]] = ..., tty_info: _Optional[_Union[_mesos_pb2.TTYInfo, _Mapping]] = ..., heartbeat: _Optional[_Union[ProcessIO.Control.Heartbeat, _Mapping]] = ...) -> None: ...
    class Data(_message.Message):
        __slots__ = ("type", "data")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[ProcessIO.Data.Type]
            STDIN: _ClassVar[ProcessIO.Data.Type]
            STDOUT: _ClassVar[ProcessIO.Data.Type]
            STDERR: _ClassVar[ProcessIO.Data.Type]
        UNKNOWN: ProcessIO.Data.Type
        STDIN: ProcessIO.Data.Type
        STDOUT: ProcessIO.Data.Type
        STDERR: ProcessIO.Data.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        DATA_FIELD_NUMBER: _ClassVar[int]
        type: ProcessIO.Data.Type
        data: bytes
        def __init__(self, type: _Optional[_Union[ProcessIO.Data.Type, str]] = ..., data: _Optional[bytes] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    type: ProcessIO.Type
    data: ProcessIO.Data
    control: ProcessIO.Control
    def __init__(self, type: _Optional[_Union[ProcessIO.Type, str]] = ..., data: _Optional[_Union[ProcessIO.Data, _Mapping]] = ..., control: _Optional[_Union[ProcessIO.Control, _Mapping]] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ("type", "get_health", "get_flags", "get_version", "get_metrics", "get_logging_level", "list_files", "read_file", "get_state", "get_containers", "get_frameworks", "get_executors", "get_tasks", "wait_nested_container", "get_agent", "wait_container", "get_resource_providers", "get_operations", "get_topology", "get_profiles", "get_cpusets", "compact_cpusets")
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
        GET_CONTAINERS: _ClassVar[Response.Type]
        GET_FRAMEWORKS: _ClassVar[Response.Type]
        GET_EXECUTORS: _ClassVar[Response.Type]
        GET_TASKS: _ClassVar[Response.Type]
        WAIT_NESTED_CONTAINER: _ClassVar[Response.Type]
        GET_AGENT: _ClassVar[Response.Type]
        WAIT_CONTAINER: _ClassVar[Response.Type]
        GET_RESOURCE_PROVIDERS: _ClassVar[Response.Type]
        GET_OPERATIONS: _ClassVar[Response.Type]
        GET_TOPOLOGY: _ClassVar[Response.Type]
        GET_PROFILES: _ClassVar[Response.Type]
        GET_CPUSETS: _ClassVar[Response.Type]
        COMPACT_CPUSETS: _ClassVar[Response.Type]
    UNKNOWN: Response.Type
    GET_HEALTH: Response.Type
    GET_FLAGS: Response.Type
    GET_VERSION: Response.Type
    GET_METRICS: Response.Type
    GET_LOGGING_LEVEL: Response.Type
    LIST_FILES: Response.Type
    READ_FILE: Response.Type
    GET_STATE: Response.Type
    GET_CONTAINERS: Response.Type
    GET_FRAMEWORKS: Response.Type
    GET_EXECUTORS: Response.Type
    GET_TASKS: Response.Type
    WAIT_NESTED_CONTAINER: Response.Type
    GET_AGENT: Response.Type
    WAIT_CONTAINER: Response.Type
    GET_RESOURCE_PROVIDERS: Response.Type
    GET_OPERATIONS: Response.Type
    GET_TOPOLOGY: Response.Type
    GET_PROFILES: Response.Type
    GET_CPUSETS: Response.Type
    COMPACT_CPUSETS: Response.Type
    class CompactCpusets(_message.Message):
        __slots__ = ("dry_run", "providers")
        class Provider(_message.Message):
            __slots__ = ("id", "name", "moves", "message")
            ID_FIELD_NUMBER: _ClassVar[int]
            NAME_FIELD_NUMBER: _ClassVar[int]
            MOVES_FIELD_NUMBER: _ClassVar[int]
            MESSAGE_FIELD_NUMBER: _ClassVar[int]
            id: _mesos_pb2.ResourceProviderID
            name: str
            moves: _containers.RepeatedCompositeFieldContainer[_pinfold_pb2.CpusetMove]
            message: str
            def __init__(self, id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., name: _Optional[str] = ..., moves: _Optional[_Iterable[_Union[_pinfold_pb2.CpusetMove, _Mapping]]] = ..., message: _Optional[str] = ...) -> None: ...
        DRY_RUN_FIELD_NUMBER: _ClassVar[int]
        PROVIDERS_FIELD_NUMBER: _ClassVar[int]
        dry_run: bool
        providers: _containers.RepeatedCompositeFieldContainer[Response.CompactCpusets.Provider]
        def __init__(self, dry_run: bool = ..., providers: _Optional[_Iterable[_Union[Response.CompactCpusets.Provider, _Mapping]]] = ...) -> None: ...
    class GetAgent(_message.Message):
        __slots__ = ("agent_info", "drain_config", "estimated_drain_start_time")
        AGENT_INFO_FIELD_NUMBER: _ClassVar[int]
        DRAIN_CONFIG_FIELD_NUMBER: _ClassVar[int]
        ESTIMATED_DRAIN_START_TIME_FIELD_NUMBER: _ClassVar[int]
        agent_info: _mesos_pb2.AgentInfo
        drain_config: _mesos_pb2.DrainConfig
        estimated_drain_start_time: _mesos_pb2.TimeInfo
        def __init__(self, agent_info: _Optional[_Union[_mesos_pb2.AgentInfo, _Mapping]] = ..., drain_config: _Optional[_Union[_mesos_pb2.DrainConfig, _Mapping]] = ..., estimated_drain_start_time: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ...) -> None: ...
    class GetContainers(_message.Message):
        __slots__ = ("containers",)
        class Container(_message.Message):
            __slots__ = ("framework_id", "executor_id", "executor_name", "container_id", "container_status", "resource_statistics")
            FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
            EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
            EXECUTOR_NAME_FIELD_NUMBER: _ClassVar[int]
            CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
            CONTAINER_STATUS_FIELD_NUMBER: _ClassVar[int]
            RESOURCE_STATISTICS_FIELD_NUMBER: _ClassVar[int]
            framework_id: _mesos_pb2.FrameworkID
            executor_id: _mesos_pb2.ExecutorID
            executor_name: str
            container_id: _mesos_pb2.ContainerID
            container_status: _mesos_pb2.ContainerStatus
            resource_statistics: _mesos_pb2.ResourceStatistics
            def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., executor_id: _Optional[_Union[_mesos_pb2.ExecutorID, _Mapping]] = ..., executor_name: _Optional[str] = ..., container_id: _Optional[_Union[_mesos_pb2.ContainerID, _Mapping]] = ..., container_status: _Optional[_Union[_mesos_pb2.ContainerStatus, _Mapping]] = ..., resource_statistics: _Optional[_Union[_mesos_pb2.ResourceStatistics, _Mapping]] = ...) -> None: ...
        CONTAINERS_FIELD_NUMBER: _ClassVar[int]
        containers: _containers.RepeatedCompositeFieldContainer[Response.GetContainers.Container]
        def __init__(self, containers: _Optional[_Iterable[_Union[Response.GetContainers.Container, _Mapping]]] = ...) -> None: ...
    class GetExecutors(_message.Message):
        __slots__ = ("executors", "completed_executors")
        class Executor(_message.Message):
            __slots__ = ("executor_info",)
            EXECUTOR_INFO_FIELD_NUMBER: _ClassVar[int]
            executor_info: _mesos_pb2.ExecutorInfo
            def __init__(self, executor_info: _Optional[_Union[_mesos_pb2.ExecutorInfo, _Mapping]] = ...) -> None: ...
        EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        COMPLETED_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        executors: _containers.RepeatedCompositeFieldContainer[Response.GetExecutors.Executor]
        completed_executors: _containers.RepeatedCompositeFieldContainer[Response.GetExecutors.Executor]
        def __init__(self, executors: _Optional[_Iterable[_Union[Response.GetExecutors.Executor, _Mapping]]] = ..., completed_executors: _Optional[_Iterable[_Union[Response.GetExecutors.Executor, _Mapping]]] = ...) -> None: ...
    class GetFlags(_message.Message):
        __slots__ = ("flags",)
        FLAGS_FIELD_NUMBER: _ClassVar[int]
        flags: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Flag]
        def __init__(self, flags: _Optional[_Iterable[_Union[_mesos_pb2.Flag, _Mapping]]] = ...) -> None: ...
    class GetFrameworks(_message.Message):
        __slots__ = ("frameworks", "completed_frameworks")
        class Framework(_message.Message):
            __slots__ = ("framework_info",)
            FRAMEWORK_INFO_FIELD_NUMBER: _ClassVar[int]
            framework_info: _mesos_pb2.FrameworkInfo
            def __init__(self, framework_info: _Optional[_Union[_mesos_pb2.FrameworkInfo, _Mapping]] = ...) -> None: ...
        FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        COMPLETED_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        frameworks: _containers.RepeatedCompositeFieldContainer[Response.GetFrameworks.Framework]
        completed_frameworks: _containers.RepeatedCompositeFieldContainer[Response.GetFrameworks.Framework]
        def __init__(self, frameworks: _Optional[_Iterable[_Union[Response.GetFrameworks.Framework, _Mapping]]] = ..., completed_frameworks: _Optional[_Iterable[_Union[Response.GetFrameworks.Framework, _Mapping]]] = ...) -> None: ...
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
    class GetResourceProviders(_message.Message):
        __slots__ = ("resource_providers",)
        class ResourceProvider(_message.Message):
            __slots__ = ("resource_provider_info", "total_resources")
            RESOURCE_PROVIDER_INFO_FIELD_NUMBER: _ClassVar[int]
            TOTAL_RESOURCES_FIELD_NUMBER: _ClassVar[int]
            resource_provider_info: _mesos_pb2.ResourceProviderInfo
            total_resources: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
            def __init__(self, resource_provider_info: _Optional[_Union[_mesos_pb2.ResourceProviderInfo, _Mapping]] = ..., total_resources: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...
        RESOURCE_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
        resource_providers: _containers.RepeatedCompositeFieldContainer[Response.GetResourceProviders.ResourceProvider]
        def __init__(self, resource_providers: _Optional[_Iterable[_Union[Response.GetResourceProviders.ResourceProvider, _Mapping]]] = ...) -> None: ...
    class GetState(_message.Message):
        __slots__ = ("get_tasks", "get_executors", "get_frameworks")
        GET_TASKS_FIELD_NUMBER: _ClassVar[int]
        GET_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
        GET_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
        get_tasks: Response.GetTasks
        get_executors: Response.GetExecutors
        get_frameworks: Response.GetFrameworks
        def __init__(self, get_tasks: _Optional[_Union[Response.GetTasks, _Mapping]] = ..., get_executors: _Optional[_Union[Response.GetExecutors, _Mapping]] = ..., get_frameworks: _Optional[_Union[Response.GetFrameworks, _Mapping]] = ...) -> None: ...
    class GetTasks(_message.Message):
        __slots__ = ("pending_tasks", "queued_tasks", "launched_tasks", "terminated_tasks", "completed_tasks")
        PENDING_TASKS_FIELD_NUMBER: _ClassVar[int]
        QUEUED_TASKS_FIELD_NUMBER: _ClassVar[int]
        LAUNCHED_TASKS_FIELD_NUMBER: _ClassVar[int]
        TERMINATED_TASKS_FIELD_NUMBER: _ClassVar[int]
        COMPLETED_TASKS_FIELD_NUMBER: _ClassVar[int]
        pending_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        queued_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        launched_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        terminated_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        completed_tasks: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Task]
        def __init__(self, pending_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., queued_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., launched_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., terminated_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ..., completed_tasks: _Optional[_Iterable[_Union[_mesos_pb2.Task, _Mapping]]] = ...) -> None: ...
    class GetVersion(_message.Message):
        __slots__ = ("version_info",)
        VERSION_INFO_FIELD_NUMBER: _ClassVar[int]
        version_info: _mesos_pb2.VersionInfo
        def __init__(self, version_info: _Optional[_Union[_mesos_pb2.VersionInfo, _Mapping]] = ...) -> None: ...
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
    class WaitContainer(_message.Message):
        __slots__ = ("exit_status", "state", "reason", "limitation", "message")
        EXIT_STATUS_FIELD_NUMBER: _ClassVar[int]
        STATE_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        LIMITATION_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        exit_status: int
        state: _mesos_pb2.TaskState
        reason: _mesos_pb2.TaskStatus.Reason
        limitation: _mesos_pb2.TaskResourceLimitation
        message: str
        def __init__(self, exit_status: _Optional[int] = ..., state: _Optional[_Union[_mesos_pb2.TaskState, str]] = ..., reason: _Optional[_Union[_mesos_pb2.TaskStatus.Reason, str]] = ..., limitation: _Optional[_Union[_mesos_pb2.TaskResourceLimitation, _Mapping]] = ..., message: _Optional[str] = ...) -> None: ...
    class WaitNestedContainer(_message.Message):
        __slots__ = ("exit_status", "state", "reason", "limitation", "message")
        EXIT_STATUS_FIELD_NUMBER: _ClassVar[int]
        STATE_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        LIMITATION_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        exit_status: int
        state: _mesos_pb2.TaskState
        reason: _mesos_pb2.TaskStatus.Reason
        limitation: _mesos_pb2.TaskResourceLimitation
        message: str
        def __init__(self, exit_status: _Optional[int] = ..., state: _Optional[_Union[_mesos_pb2.TaskState, str]] = ..., reason: _Optional[_Union[_mesos_pb2.TaskStatus.Reason, str]] = ..., limitation: _Optional[_Union[_mesos_pb2.TaskResourceLimitation, _Mapping]] = ..., message: _Optional[str] = ...) -> None: ...
    class GetTopology(_message.Message):
        __slots__ = ("providers",)
        class Provider(_message.Message):
            __slots__ = ("id", "name", "topology")
            ID_FIELD_NUMBER: _ClassVar[int]
            NAME_FIELD_NUMBER: _ClassVar[int]
            TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
            id: _mesos_pb2.ResourceProviderID
            name: str
            topology: _pinfold_pb2.Topology
            def __init__(self, id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., name: _Optional[str] = ..., topology: _Optional[_Union[_pinfold_pb2.Topology, _Mapping]] = ...) -> None: ...
        PROVIDERS_FIELD_NUMBER: _ClassVar[int]
        providers: _containers.RepeatedCompositeFieldContainer[Response.GetTopology.Provider]
        def __init__(self, providers: _Optional[_Iterable[_Union[Response.GetTopology.Provider, _Mapping]]] = ...) -> None: ...
    class GetProfiles(_message.Message):
        __slots__ = ("providers",)
        class Provider(_message.Message):
            __slots__ = ("id", "name", "profiles", "source")
            ID_FIELD_NUMBER: _ClassVar[int]
            NAME_FIELD_NUMBER: _ClassVar[int]
            PROFILES_FIELD_NUMBER: _ClassVar[int]
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            id: _mesos_pb2.ResourceProviderID
            name: str
            profiles: _containers.RepeatedCompositeFieldContainer[_pinfold_pb2.Profile]
            source: _pinfold_pb2.ProfileSource
            def __init__(self, id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., name: _Optional[str] = ..., profiles: _Optional[_Iterable[_Union[_pinfold_pb2.Profile, _Mapping]]] = ..., source: _Optional[_Union[_pinfold_pb2.ProfileSource, _Mapping]] = ...) -> None: ...
        PROVIDERS_FIELD_NUMBER: _ClassVar[int]
        providers: _containers.RepeatedCompositeFieldContainer[Response.GetProfiles.Provider]
        def __init__(self, providers: _Optional[_Iterable[_Union[Response.GetProfiles.Provider, _Mapping]]] = ...) -> None: ...
    class GetCpusets(_message.Message):
        __slots__ = ("providers",)
        class Provider(_message.Message):
            __slots__ = ("id", "name", "cpusets")
            ID_FIELD_NUMBER: _ClassVar[int]
            NAME_FIELD_NUMBER: _ClassVar[int]
            CPUSETS_FIELD_NUMBER: _ClassVar[int]
            id: _mesos_pb2.ResourceProviderID
            name: str
            cpusets: _containers.RepeatedCompositeFieldContainer[_pinfold_pb2.Cpuset]
            def __init__(self, id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., name: _Optional[str] = ..., cpusets: _Optional[_Iterable[_Union[_pinfold_pb2.Cpuset, _Mapping]]] = ...) -> None: ...
        PROVIDERS_FIELD_NUMBER: _ClassVar[int]
        providers: _containers.RepeatedCompositeFieldContainer[Response.GetCpusets.Provider]
        def __init__(self, providers: _Optional[_Iterable[_Union[Response.GetCpusets.Provider, _Mapping]]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GET_HEALTH_FIELD_NUMBER: _ClassVar[int]
    GET_FLAGS_FIELD_NUMBER: _ClassVar[int]
    GET_VERSION_FIELD_NUMBER: _ClassVar[int]
    GET_METRICS_FIELD_NUMBER: _ClassVar[int]
    GET_LOGGING_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LIST_FILES_FIELD_NUMBER: _ClassVar[int]
    READ_FILE_FIELD_NUMBER: _ClassVar[int]
    GET_STATE_FIELD_NUMBER: _ClassVar[int]
    GET_CONTAINERS_FIELD_NUMBER: _ClassVar[int]
    GET_FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
    GET_EXECUTORS_FIELD_NUMBER: _ClassVar[int]
    GET_TASKS_FIELD_NUMBER: _ClassVar[int]
    WAIT_NESTED_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    GET_AGENT_FIELD_NUMBER: _ClassVar[int]
    WAIT_CONTAINER_FIELD_NUMBER: _ClassVar[int]
    GET_RESOURCE_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    GET_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    GET_TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    GET_PROFILES_FIELD_NUMBER: _ClassVar[int]
    GET_CPUSETS_FIELD_NUMBER: _ClassVar[int]
    COMPACT_CPUSETS_FIELD_NUMBER: _ClassVar[int]
    type: Response.Type
    get_health: Response.GetHealth
    get_flags: Response.GetFlags
    get_version: Response.GetVersion
    get_metrics: Response.GetMetrics
    get_logging_level: Response.GetLoggingLevel
    list_files: Response.ListFiles
    read_file: Response.ReadFile
    get_state: Response.GetState
    get_containers: Response.GetContainers
    get_frameworks: Response.GetFrameworks
    get_executors: Response.GetExecutors
    get_tasks: Response.GetTasks
    wait_nested_container: Response.WaitNestedContainer
    get_agent: Response.GetAgent
    wait_container: Response.WaitContainer
    get_resource_providers: Response.GetResourceProviders
    get_operations: Response.GetOperations
    get_topology: Response.GetTopology
    get_profiles: Response.GetProfiles
    get_cpusets: Response.GetCpusets
    compact_cpusets: Response.CompactCpusets
    def __init__(self, type: _Optional[_Union[Response.Type, str]] = ..., get_health: _Optional[_Union[Response.GetHealth, _Mapping]] = ..., get_flags: _Optional[_Union[Response.GetFlags, _Mapping]] = ..., get_version: _Optional[_Union[Response.GetVersion, _Mapping]] = ..., get_metrics: _Optional[_Union[Response.GetMetrics, _Mapping]] = ..., get_logging_level: _Optional[_Union[Response.GetLoggingLevel, _Mapping]] = ..., list_files: _Optional[_Union[Response.ListFiles, _Mapping]] = ..., read_file: _Optional[_Union[Response.ReadFile, _Mapping]] = ..., get_state: _Optional[_Union[Response.GetState, _Mapping]] = ..., get_containers: _Optional[_Union[Response.GetContainers, _Mapping]] = ..., get_frameworks: _Optional[_Union[Response.GetFrameworks, _Mapping]] = ..., get_executors: _Optional[_Union[Response.GetExecutors, _Mapping]] = ..., get_tasks: _Optional[_Union[Response.GetTasks, _Mapping]] = ..., wait_nested_container: _Optional[_Union[Response.WaitNestedContainer, _Mapping]] = ..., get_agent: _Optional[_Union[Response.GetAgent, _Mapping]] = ..., wait_container: _Optional[_Union[Response.WaitContainer, _Mapping]] = ..., get_resource_providers: _Optional[_Union[Response.GetResourceProviders, _Mapping]] = ..., get_operations: _Optional[_Union[Response.GetOperations, _Mapping]] = ..., get_topology: _Optional[_Union[Response.GetTopology, _Mapping]] = ..., get_profiles: _Optional[_Union[Response.GetProfiles, _Mapping]] = ..., get_cpusets: _Optional[_Union[Response.GetCpusets, _Mapping]] = ..., compact_cpusets: _Optional[_Union[Response.CompactCpusets, _Mapping]] = ...) -> None: ...
