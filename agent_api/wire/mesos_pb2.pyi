from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DrainState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNKNOWN: _ClassVar[DrainState]
    DRAINING: _ClassVar[DrainState]
    DRAINED: _ClassVar[DrainState]

class OperationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATION_UNSUPPORTED: _ClassVar[OperationState]
    OPERATION_PENDING: _ClassVar[OperationState]
    OPERATION_FINISHED: _ClassVar[OperationState]
    OPERATION_FAILED: _ClassVar[OperationState]
    OPERATION_ERROR: _ClassVar[OperationState]
    OPERATION_DROPPED: _ClassVar[OperationState]
    OPERATION_UNREACHABLE: _ClassVar[OperationState]
    OPERATION_GONE_BY_OPERATOR: _ClassVar[OperationState]
    OPERATION_RECOVERING: _ClassVar[OperationState]
    OPERATION_UNKNOWN: _ClassVar[OperationState]

class TaskState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_STARTING: _ClassVar[TaskState]
    TASK_RUNNING: _ClassVar[TaskState]
    TASK_FINISHED: _ClassVar[TaskState]
    TASK_FAILED: _ClassVar[TaskState]
    TASK_KILLED: _ClassVar[TaskState]
    TASK_LOST: _ClassVar[TaskState]
    TASK_STAGING: _ClassVar[TaskState]
    TASK_ERROR: _ClassVar[TaskState]
    TASK_KILLING: _ClassVar[TaskState]
    TASK_DROPPED: _ClassVar[TaskState]
    TASK_UNREACHABLE: _ClassVar[TaskState]
    TASK_GONE: _ClassVar[TaskState]
    TASK_GONE_BY_OPERATOR: _ClassVar[TaskState]
    TASK_UNKNOWN: _ClassVar[TaskState]
UNKNOWN: DrainState
DRAINING: DrainState
DRAINED: DrainState
OPERATION_UNSUPPORTED: OperationState
OPERATION_PENDING: OperationState
OPERATION_FINISHED: OperationState
OPERATION_FAILED: OperationState
OPERATION_ERROR: OperationState
OPERATION_DROPPED: OperationState
OPERATION_UNREACHABLE: OperationState
OPERATION_GONE_BY_OPERATOR: OperationState
OPERATION_RECOVERING: OperationState
OPERATION_UNKNOWN: OperationState
TASK_STARTING: TaskState
TASK_RUNNING: TaskState
TASK_FINISHED: TaskState
TASK_FAILED: TaskState
TASK_KILLED: TaskState
TASK_LOST: TaskState
TASK_STAGING: TaskState
TASK_ERROR: TaskState
TASK_KILLING: TaskState
TASK_DROPPED: TaskState
TASK_UNREACHABLE: TaskState
TASK_GONE: TaskState
TASK_GONE_BY_OPERATOR: TaskState
TASK_UNKNOWN: TaskState

class Address(_message.Message):
    __slots__ = ("hostname", "ip", "port")
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    IP_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    hostname: str
    ip: str
    port: int
    def __init__(self, hostname: _Optional[str] = ..., ip: _Optional[str] = ..., port: _Optional[int] = ...) -> None: ...

class AgentID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class AgentInfo(_message.Message):
    __slots__ = ("hostname", "resources", "attributes", "id", "port", "domain")
    class Capability(_message.Message):
        __slots__ = ("type",)
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[AgentInfo.Capability.Type]
            MULTI_ROLE: _ClassVar[AgentInfo.Capability.Type]
            HIERARCHICAL_ROLE: _ClassVar[AgentInfo.Capability.Type]
            RESERVATION_REFINEMENT: _ClassVar[AgentInfo.Capability.Type]
            RESOURCE_PROVIDER: _ClassVar[AgentInfo.Capability.Type]
            RESIZE_VOLUME: _ClassVar[AgentInfo.Capability.Type]
            AGENT_OPERATION_FEEDBACK: _ClassVar[AgentInfo.Capability.Type]
            AGENT_DRAINING: _ClassVar[AgentInfo.Capability.Type]
            TASK_RESOURCE_LIMITS: _ClassVar[AgentInfo.Capability.Type]
        UNKNOWN: AgentInfo.Capability.Type
        MULTI_ROLE: AgentInfo.Capability.Type
        HIERARCHICAL_ROLE: AgentInfo.Capability.Type
        RESERVATION_REFINEMENT: AgentInfo.Capability.Type
        RESOURCE_PROVIDER: AgentInfo.Capability.Type
        RESIZE_VOLUME: AgentInfo.Capability.Type
        AGENT_OPERATION_FEEDBACK: AgentInfo.Capability.Type
        AGENT_DRAINING: AgentInfo.Capability.Type
        TASK_RESOURCE_LIMITS: AgentInfo.Capability.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        type: AgentInfo.Capability.Type
        def __init__(self, type: _Optional[_Union[AgentInfo.Capability.Type, str]] = ...) -> None: ...
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    hostname: str
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    id: AgentID
    port: int
    domain: DomainInfo
    def __init__(self, hostname: _Optional[str] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., id: _Optional[_Union[AgentID, _Mapping]] = ..., port: _Optional[int] = ..., domain: _Optional[_Union[DomainInfo, _Mapping]] = ...) -> None: ...

class Attribute(_message.Message):
    __slots__ = ("name", "type", "scalar", "ranges", "text", "set")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: Value.Type
    scalar: Value.Scalar
    ranges: Value.Ranges
    text: Value.Text
    set: Value.Set
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[Value.Type, str]] = ..., scalar: _Optional[_Union[Value.Scalar, _Mapping]] = ..., ranges: _Optional[_Union[Value.Ranges, _Mapping]] = ..., text: _Optional[_Union[Value.Text, _Mapping]] = ..., set: _Optional[_Union[Value.Set, _Mapping]] = ...) -> None: ...

class CSIPluginContainerInfo(_message.Message):
    __slots__ = ("services", "command", "resources", "container")
    class Service(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[CSIPluginContainerInfo.Service]
        CONTROLLER_SERVICE: _ClassVar[CSIPluginContainerInfo.Service]
        NODE_SERVICE: _ClassVar[CSIPluginContainerInfo.Service]
    UNKNOWN: CSIPluginContainerInfo.Service
    CONTROLLER_SERVICE: CSIPluginContainerInfo.Service
    NODE_SERVICE: CSIPluginContainerInfo.Service
    SERVICES_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    services: _containers.RepeatedScalarFieldContainer[CSIPluginContainerInfo.Service]
    command: CommandInfo
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    container: ContainerInfo
    def __init__(self, services: _Optional[_Iterable[_Union[CSIPluginContainerInfo.Service, str]]] = ..., command: _Optional[_Union[CommandInfo, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., container: _Optional[_Union[ContainerInfo, _Mapping]] = ...) -> None: ...

class CSIPluginEndpoint(_message.Message):
    __slots__ = ("csi_service", "endpoint")
    CSI_SERVICE_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    csi_service: CSIPluginContainerInfo.Service
    endpoint: str
    def __init__(self, csi_service: _Optional[_Union[CSIPluginContainerInfo.Service, str]] = ..., endpoint: _Optional[str] = ...) -> None: ...

class CSIPluginInfo(_message.Message):
    __slots__ = ("type", "name", "containers", "endpoints", "target_path_root", "target_path_exists")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTAINERS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    TARGET_PATH_ROOT_FIELD_NUMBER: _ClassVar[int]
    TARGET_PATH_EXISTS_FIELD_NUMBER: _ClassVar[int]
    type: str
    name: str
    containers: _containers.RepeatedCompositeFieldContainer[CSIPluginContainerInfo]
    endpoints: _containers.RepeatedCompositeFieldContainer[CSIPluginEndpoint]
    target_path_root: str
    target_path_exists: bool
    def __init__(self, type: _Optional[str] = ..., name: _Optional[str] = ..., containers: _Optional[_Iterable[_Union[CSIPluginContainerInfo, _Mapping]]] = ..., endpoints: _Optional[_Iterable[_Union[CSIPluginEndpoint, _Mapping]]] = ..., target_path_root: _Optional[str] = ..., target_path_exists: bool = ...) -> None: ...

class CapabilityInfo(_message.Message):
    __slots__ = ("capabilities",)
    class Capability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[CapabilityInfo.Capability]
        CHOWN: _ClassVar[CapabilityInfo.Capability]
        DAC_OVERRIDE: _ClassVar[CapabilityInfo.Capability]
        DAC_READ_SEARCH: _ClassVar[CapabilityInfo.Capability]
        FOWNER: _ClassVar[CapabilityInfo.Capability]
        FSETID: _ClassVar[CapabilityInfo.Capability]
        KILL: _ClassVar[CapabilityInfo.Capability]
        SETGID: _ClassVar[CapabilityInfo.Capability]
        SETUID: _ClassVar[CapabilityInfo.Capability]
        SETPCAP: _ClassVar[CapabilityInfo.Capability]
        LINUX_IMMUTABLE: _ClassVar[CapabilityInfo.Capability]
        NET_BIND_SERVICE: _ClassVar[CapabilityInfo.Capability]
        NET_BROADCAST: _ClassVar[CapabilityInfo.Capability]
        NET_ADMIN: _ClassVar[CapabilityInfo.Capability]
        NET_RAW: _ClassVar[CapabilityInfo.Capability]
        IPC_LOCK: _ClassVar[CapabilityInfo.Capability]
        IPC_OWNER: _ClassVar[CapabilityInfo.Capability]
        SYS_MODULE: _ClassVar[CapabilityInfo.Capability]
        SYS_RAWIO: _ClassVar[CapabilityInfo.Capability]
        SYS_CHROOT: _ClassVar[CapabilityInfo.Capability]
        SYS_PTRACE: _ClassVar[CapabilityInfo.Capability]
        SYS_PACCT: _ClassVar[CapabilityInfo.Capability]
        SYS_ADMIN: _ClassVar[CapabilityInfo.Capability]
        SYS_BOOT: _ClassVar[CapabilityInfo.Capability]
        SYS_NICE: _ClassVar[CapabilityInfo.Capability]
        SYS_RESOURCE: _ClassVar[CapabilityInfo.Capability]
        SYS_TIME: _ClassVar[CapabilityInfo.Capability]
        SYS_TTY_CONFIG: _ClassVar[CapabilityInfo.Capability]
        MKNOD: _ClassVar[CapabilityInfo.Capability]
        LEASE: _ClassVar[CapabilityInfo.Capability]
        AUDIT_WRITE: _ClassVar[CapabilityInfo.Capability]
        AUDIT_CONTROL: _ClassVar[CapabilityInfo.Capability]
        SETFCAP: _ClassVar[CapabilityInfo.Capability]
        MAC_OVERRIDE: _ClassVar[CapabilityInfo.Capability]
        MAC_ADMIN: _ClassVar[CapabilityInfo.Capability]
        SYSLOG: _ClassVar[CapabilityInfo.Capability]
        WAKE_ALARM: _ClassVar[CapabilityInfo.Capability]
        BLOCK_SUSPEND: _ClassVar[CapabilityInfo.Capability]
        AUDIT_READ: _ClassVar[CapabilityInfo.Capability]
        PERFMON: _ClassVar[CapabilityInfo.Capability]
        BPF: _ClassVar[CapabilityInfo.Capability]
        CHECKPOINT_RESTORE: _ClassVar[CapabilityInfo.Capability]
    UNKNOWN: CapabilityInfo.Capability
    CHOWN: CapabilityInfo.Capability
    DAC_OVERRIDE: CapabilityInfo.Capability
    DAC_READ_SEARCH: CapabilityInfo.Capability
    FOWNER: CapabilityInfo.Capability
    FSETID: CapabilityInfo.Capability
    KILL: CapabilityInfo.Capability
    SETGID: CapabilityInfo.Capability
    SETUID: CapabilityInfo.Capability
    SETPCAP: CapabilityInfo.Capability
    LINUX_IMMUTABLE: CapabilityInfo.Capability
    NET_BIND_SERVICE: CapabilityInfo.Capability
    NET_BROADCAST: CapabilityInfo.Capability
    NET_ADMIN: CapabilityInfo.Capability
    NET_RAW: CapabilityInfo.Capability
    IPC_LOCK: CapabilityInfo.Capability
    IPC_OWNER: CapabilityInfo.Capability
    SYS_MODULE: CapabilityInfo.Capability
    SYS_RAWIO: CapabilityInfo.Capability
    SYS_CHROOT: CapabilityInfo.Capability
    SYS_PTRACE: CapabilityInfo.Capability
    SYS_PACCT: CapabilityInfo.Capability
    SYS_ADMIN: CapabilityInfo.Capability
    SYS_BOOT: CapabilityInfo.Capability
    SYS_NICE: CapabilityInfo.Capability
    SYS_RESOURCE: CapabilityInfo.Capability
    SYS_TIME: CapabilityInfo.Capability
    SYS_TTY_CONFIG: CapabilityInfo.Capability
    MKNOD: CapabilityInfo.Capability
    LEASE: CapabilityInfo.Capability
    AUDIT_WRITE: CapabilityInfo.Capability
    AUDIT_CONTROL: CapabilityInfo.Capability
    SETFCAP: CapabilityInfo.Capability
    MAC_OVERRIDE: CapabilityInfo.Capability
    MAC_ADMIN: CapabilityInfo.Capability
    SYSLOG: CapabilityInfo.Capability
    WAKE_ALARM: CapabilityInfo.Capability
    BLOCK_SUSPEND: CapabilityInfo.Capability
    AUDIT_READ: CapabilityInfo.Capability
    PERFMON: CapabilityInfo.Capability
    BPF: CapabilityInfo.Capability
    CHECKPOINT_RESTORE: CapabilityInfo.Capability
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    capabilities: _containers.RepeatedScalarFieldContainer[CapabilityInfo.Capability]
    def __init__(self, capabilities: _Optional[_Iterable[_Union[CapabilityInfo.Capability, str]]] = ...) -> None: ...

class CgroupInfo(_message.Message):
    __slots__ = ("net_cls",)
    class Blkio(_message.Message):
        __slots__ = ()
        class Operation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[CgroupInfo.Blkio.Operation]
            TOTAL: _ClassVar[CgroupInfo.Blkio.Operation]
            READ: _ClassVar[CgroupInfo.Blkio.Operation]
            WRITE: _ClassVar[CgroupInfo.Blkio.Operation]
            SYNC: _ClassVar[CgroupInfo.Blkio.Operation]
            ASYNC: _ClassVar[CgroupInfo.Blkio.Operation]
            DISCARD: _ClassVar[CgroupInfo.Blkio.Operation]
        UNKNOWN: CgroupInfo.Blkio.Operation
        TOTAL: CgroupInfo.Blkio.Operation
        READ: CgroupInfo.Blkio.Operation
        WRITE: CgroupInfo.Blkio.Operation
        SYNC: CgroupInfo.Blkio.Operation
        ASYNC: CgroupInfo.Blkio.Operation
        DISCARD: CgroupInfo.Blkio.Operation
        class CFQ(_message.Message):
            __slots__ = ()
            class Statistics(_message.Message):
                __slots__ = ("device", "sectors", "time", "io_serviced", "io_service_bytes", "io_service_time", "io_wait_time", "io_merged", "io_queued")
                DEVICE_FIELD_NUMBER: _ClassVar[int]
                SECTORS_FIELD_NUMBER: _ClassVar[int]
                TIME_FIELD_NUMBER: _ClassVar[int]
                IO_SERVICED_FIELD_NUMBER: _ClassVar[int]
                IO_SERVICE_BYTES_FIELD_NUMBER: _ClassVar[int]
                IO_SERVICE_TIME_FIELD_NUMBER: _ClassVar[int]
                IO_WAIT_TIME_FIELD_NUMBER: _ClassVar[int]
                IO_MERGED_FIELD_NUMBER: _ClassVar[int]
                IO_QUEUED_FIELD_NUMBER: _ClassVar[int]
                device: Device.Number
                sectors: int
                time: int
                io_serviced: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_service_bytes: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_service_time: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_wait_time: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_merged: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_queued: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                def __init__(self, device: _Optional[_Union[Device.Number, _Mapping]] = ..., sectors: _Optional[int] = ..., time: _Optional[int] = ..., io_serviced: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_service_bytes: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_service_time: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_wait_time: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_merged: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_queued: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ...) -> None: ...
            def __init__(self) -> None: ...
        class Statistics(_message.Message):
            __slots__ = ("cfq", "cfq_recursive", "throttling")
            CFQ_FIELD_NUMBER: _ClassVar[int]
            CFQ_RECURSIVE_FIELD_NUMBER: _ClassVar[int]
            THROTTLING_FIELD_NUMBER: _ClassVar[int]
            cfq: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.CFQ.Statistics]
            cfq_recursive: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.CFQ.Statistics]
            throttling: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Throttling.Statistics]
            def __init__(self, cfq: _Optional[_Iterable[_Union[CgroupInfo.Blkio.CFQ.Statistics, _Mapping]]] = ..., cfq_recursive: _Optional[_Iterable[_Union[CgroupInfo.Blkio.CFQ.Statistics, _Mapping]]] = ..., throttling: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Throttling.Statistics, _Mapping]]] = ...) -> None: ...
        class Throttling(_message.Message):
            __slots__ = ()
            class Statistics(_message.Message):
                __slots__ = ("device", "io_serviced", "io_service_bytes")
                DEVICE_FIELD_NUMBER: _ClassVar[int]
                IO_SERVICED_FIELD_NUMBER: _ClassVar[int]
                IO_SERVICE_BYTES_FIELD_NUMBER: _ClassVar[int]
                device: Device.Number
                io_serviced: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                io_service_bytes: _containers.RepeatedCompositeFieldContainer[CgroupInfo.Blkio.Value]
                def __init__(self, device: _Optional[_Union[Device.Number, _Mapping]] = ..., io_serviced: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ..., io_service_bytes: _Optional[_Iterable[_Union[CgroupInfo.Blkio.Value, _Mapping]]] = ...) -> None: ...
            def __init__(self) -> None: ...
        class Value(_message.Message):
            __slots__ = ("op", "value")
            OP_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            op: CgroupInfo.Blkio.Operation
            value: int
            def __init__(self, op: _Optional[_Union[CgroupInfo.Blkio.Operation, str]] = ..., value: _Optional[int] = ...) -> None: ...
        def __init__(self) -> None: ...
    class NetCls(_message.Message):
        __slots__ = ("classid",)
        CLASSID_FIELD_NUMBER: _ClassVar[int]
        classid: int
        def __init__(self, classid: _Optional[int] = ...) -> None: ...
    NET_CLS_FIELD_NUMBER: _ClassVar[int]
    net_cls: CgroupInfo.NetCls
    def __init__(self, net_cls: _Optional[_Union[CgroupInfo.NetCls, _Mapping]] = ...) -> None: ...

class CheckInfo(_message.Message):
    __slots__ = ("type", "command", "http", "delay_seconds", "interval_seconds", "timeout_seconds", "tcp")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[CheckInfo.Type]
        COMMAND: _ClassVar[CheckInfo.Type]
        HTTP: _ClassVar[CheckInfo.Type]
        TCP: _ClassVar[CheckInfo.Type]
    UNKNOWN: CheckInfo.Type
    COMMAND: CheckInfo.Type
    HTTP: CheckInfo.Type
    TCP: CheckInfo.Type
    class Command(_message.Message):
        __slots__ = ("command",)
        COMMAND_FIELD_NUMBER: _ClassVar[int]
        command: CommandInfo
        def __init__(self, command: _Optional[_Union[CommandInfo, _Mapping]] = ...) -> None: ...
    class Http(_message.Message):
        __slots__ = ("port", "path")
        PORT_FIELD_NUMBER: _ClassVar[int]
        PATH_FIELD_NUMBER: _ClassVar[int]
        port: int
        path: str
        def __init__(self, port: _Optional[int] = ..., path: _Optional[str] = ...) -> None: ...
    class Tcp(_message.Message):
        __slots__ = ("port",)
        PORT_FIELD_NUMBER: _ClassVar[int]
        port: int
        def __init__(self, port: _Optional[int] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    DELAY_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TCP_FIELD_NUMBER: _ClassVar[int]
    type: CheckInfo.Type
    command: CheckInfo.Command
    http: CheckInfo.Http
    delay_seconds: float
    interval_seconds: float
    timeout_seconds: float
    tcp: CheckInfo.Tcp
    def __init__(self, type: _Optional[_Union[CheckInfo.Type, str]] = ..., command: _Optional[_Union[CheckInfo.Command, _Mapping]] = ..., http: _Optional[_Union[CheckInfo.Http, _Mapping]] = ..., delay_seconds: _Optional[float] = ..., interval_seconds: _Optional[float] = ..., timeout_seconds: _Optional[float] = ..., tcp: _Optional[_Union[CheckInfo.Tcp, _Mapping]] = ...) -> None: ...

class CheckStatusInfo(_message.Message):
    __slots__ = ("type", "command", "http", "tcp")
    class Command(_message.Message):
        __slots__ = ("exit_code",)
        EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
        exit_code: int
        def __init__(self, exit_code: _Optional[int] = ...) -> None: ...
    class Http(_message.Message):
        __slots__ = ("status_code",)
        STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
        status_code: int
        def __init__(self, status_code: _Optional[int] = ...) -> None: ...
    class Tcp(_message.Message):
        __slots__ = ("succeeded",)
        SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
        succeeded: bool
        def __init__(self, succeeded: bool = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    TCP_FIELD_NUMBER: _ClassVar[int]
    type: CheckInfo.Type
    command: CheckStatusInfo.Command
    http: CheckStatusInfo.Http
    tcp: CheckStatusInfo.Tcp
    def __init__(self, type: _Optional[_Union[CheckInfo.Type, str]] = ..., command: _Optional[_Union[CheckStatusInfo.Command, _Mapping]] = ..., http: _Optional[_Union[CheckStatusInfo.Http, _Mapping]] = ..., tcp: _Optional[_Union[CheckStatusInfo.Tcp, _Mapping]] = ...) -> None: ...

class CommandInfo(_message.Message):
    __slots__ = ("uris", "environment", "value", "user", "shell", "arguments")
    class URI(_message.Message):
        __slots__ = ("value", "executable", "extract", "cache", "output_file")
        VALUE_FIELD_NUMBER: _ClassVar[int]
        EXECUTABLE_FIELD_NUMBER: _ClassVar[int]
        EXTRACT_FIELD_NUMBER: _ClassVar[int]
        CACHE_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_FILE_FIELD_NUMBER: _ClassVar[int]
        value: str
        executable: bool
        extract: bool
        cache: bool
        output_file: str
        def __init__(self, value: _Optional[str] = ..., executable: bool = ..., extract: bool = ..., cache: bool = ..., output_file: _Optional[str] = ...) -> None: ...
    URIS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    SHELL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    uris: _containers.RepeatedCompositeFieldContainer[CommandInfo.URI]
    environment: Environment
    value: str
    user: str
    shell: bool
    arguments: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, uris: _Optional[_Iterable[_Union[CommandInfo.URI, _Mapping]]] = ..., environment: _Optional[_Union[Environment, _Mapping]] = ..., value: _Optional[str] = ..., user: _Optional[str] = ..., shell: bool = ..., arguments: _Optional[_Iterable[str]] = ...) -> None: ...

class ContainerID(_message.Message):
    __slots__ = ("value", "parent")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    value: str
    parent: ContainerID
    def __init__(self, value: _Optional[str] = ..., parent: _Optional[_Union[ContainerID, _Mapping]] = ...) -> None: ...

class ContainerInfo(_message.Message):
    __slots__ = ("type", "volumes", "docker", "hostname", "mesos", "network_infos", "linux_info", "rlimit_info", "tty_info")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DOCKER: _ClassVar[ContainerInfo.Type]
        MESOS: _ClassVar[ContainerInfo.Type]
    DOCKER: ContainerInfo.Type
    MESOS: ContainerInfo.Type
    class DockerInfo(_message.Message):
        __slots__ = ("image", "network", "port_mappings", "privileged", "parameters", "force_pull_image", "volume_driver")
        class Network(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            HOST: _ClassVar[ContainerInfo.DockerInfo.Network]
            BRIDGE: _ClassVar[ContainerInfo.DockerInfo.Network]
            NONE: _ClassVar[ContainerInfo.DockerInfo.Network]
            USER: _ClassVar[ContainerInfo.DockerInfo.Network]
        HOST: ContainerInfo.DockerInfo.Network
        BRIDGE: ContainerInfo.DockerInfo.Network
        NONE: ContainerInfo.DockerInfo.Network
        USER: ContainerInfo.DockerInfo.Network
        class PortMapping(_message.Message):
            __slots__ = ("host_port", "container_port", "protocol")
            HOST_PORT_FIELD_NUMBER: _ClassVar[int]
            CONTAINER_PORT_FIELD_NUMBER: _ClassVar[int]
            PROTOCOL_FIELD_NUMBER: _ClassVar[int]
            host_port: int
            container_port: int
            protocol: str
            def __init__(self, host_port: _Optional[int] = ..., container_port: _Optional[int] = ..., protocol: _Optional[str] = ...) -> None: ...
        IMAGE_FIELD_NUMBER: _ClassVar[int]
        NETWORK_FIELD_NUMBER: _ClassVar[int]
        PORT_MAPPINGS_FIELD_NUMBER: _ClassVar[int]
        PRIVILEGED_FIELD_NUMBER: _ClassVar[int]
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        FORCE_PULL_IMAGE_FIELD_NUMBER: _ClassVar[int]
        VOLUME_DRIVER_FIELD_NUMBER: _ClassVar[int]
        image: str
        network: ContainerInfo.DockerInfo.Network
        port_mappings: _containers.RepeatedCompositeFieldContainer[ContainerInfo.DockerInfo.PortMapping]
        privileged: bool
        parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
        force_pull_image: bool
        volume_driver: str
        def __init__(self, image: _Optional[str] = ..., network: _Optional[_Union[ContainerInfo.DockerInfo.Network, str]] = ..., port_mappings: _Optional[_Iterable[_Union[ContainerInfo.DockerInfo.PortMapping, _Mapping]]] = ..., privileged: bool = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., force_pull_image: bool = ..., volume_driver: _Optional[str] = ...) -> None: ...
    class MesosInfo(_message.Message):
        __slots__ = ("image",)
        IMAGE_FIELD_NUMBER: _ClassVar[int]
        image: Image
        def __init__(self, image: _Optional[_Union[Image, _Mapping]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VOLUMES_FIELD_NUMBER: _ClassVar[int]
    DOCKER_FIELD_NUMBER: _ClassVar[int]
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    MESOS_FIELD_NUMBER: _ClassVar[int]
    NETWORK_INFOS_FIELD_NUMBER: _ClassVar[int]
    LINUX_INFO_FIELD_NUMBER: _ClassVar[int]
    RLIMIT_INFO_FIELD_NUMBER: _ClassVar[int]
    TTY_INFO_FIELD_NUMBER: _ClassVar[int]
    type: ContainerInfo.Type
    volumes: _containers.RepeatedCompositeFieldContainer[Volume]
    docker: ContainerInfo.DockerInfo
    hostname: str
    mesos: ContainerInfo.MesosInfo
    network_infos: _containers.RepeatedCompositeFieldContainer[NetworkInfo]
    linux_info: LinuxInfo
    rlimit_info: RLimitInfo
    tty_info: TTYInfo
    def __init__(self, type: _Optional[_Union[ContainerInfo.Type, str]] = ..., volumes: _Optional[_Iterable[_Union[Volume, _Mapping]]] = ..., docker: _Optional[_Union[ContainerInfo.DockerInfo, _Mapping]] = ..., hostname: _Optional[str] = ..., mesos: _Optional[_Union[ContainerInfo.MesosInfo, _Mapping]] = ..., network_infos: _Optional[_Iterable[_Union[NetworkInfo, _Mapping]]] = ..., linux_info: _Optional[_Union[LinuxInfo, _Mapping]] = ..., rlimit_info: _Optional[_Union[RLimitInfo, _Mapping]] = ..., tty_info: _Optional[_Union[TTYInfo, _Mapping]] = ...) -> None: ...

class ContainerStatus(_message.Message):
    __slots__ = ("network_infos", "cgroup_info", "executor_pid", "container_id")
    NETWORK_INFOS_FIELD_NUMBER: _ClassVar[int]
    CGROUP_INFO_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_PID_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
    network_infos: _containers.RepeatedCompositeFieldContainer[NetworkInfo]
    cgroup_info: CgroupInfo
    executor_pid: int
    container_id: ContainerID
    def __init__(self, network_infos: _Optional[_Iterable[_Union[NetworkInfo, _Mapping]]] = ..., cgroup_info: _Optional[_Union[CgroupInfo, _Mapping]] = ..., executor_pid: _Optional[int] = ..., container_id: _Optional[_Union[ContainerID, _Mapping]] = ...) -> None: ...

class Credential(_message.Message):
    __slots__ = ("principal", "secret")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    principal: str
    secret: str
    def __init__(self, principal: _Optional[str] = ..., secret: _Optional[str] = ...) -> None: ...

class Credentials(_message.Message):
    __slots__ = ("credentials",)
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    credentials: _containers.RepeatedCompositeFieldContainer[Credential]
    def __init__(self, credentials: _Optional[_Iterable[_Union[Credential, _Mapping]]] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("path", "number")
    class Number(_message.Message):
        __slots__ = ("major_number", "minor_number")
        MAJOR_NUMBER_FIELD_NUMBER: _ClassVar[int]
        MINOR_NUMBER_FIELD_NUMBER: _ClassVar[int]
        major_number: int
        minor_number: int
        def __init__(self, major_number: _Optional[int] = ..., minor_number: _Optional[int] = ...) -> None: ...
    PATH_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    path: str
    number: Device.Number
    def __init__(self, path: _Optional[str] = ..., number: _Optional[_Union[Device.Number, _Mapping]] = ...) -> None: ...

class DiscoveryInfo(_message.Message):
    __slots__ = ("visibility", "name", "environment", "location", "version", "ports", "labels")
    class Visibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FRAMEWORK: _ClassVar[DiscoveryInfo.Visibility]
        CLUSTER: _ClassVar[DiscoveryInfo.Visibility]
        EXTERNAL: _ClassVar[DiscoveryInfo.Visibility]
    FRAMEWORK: DiscoveryInfo.Visibility
    CLUSTER: DiscoveryInfo.Visibility
    EXTERNAL: DiscoveryInfo.Visibility
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    visibility: DiscoveryInfo.Visibility
    name: str
    environment: str
    location: str
    version: str
    ports: Ports
    labels: Labels
    def __init__(self, visibility: _Optional[_Union[DiscoveryInfo.Visibility, str]] = ..., name: _Optional[str] = ..., environment: _Optional[str] = ..., location: _Optional[str] = ..., version: _Optional[str] = ..., ports: _Optional[_Union[Ports, _Mapping]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ...) -> None: ...

class DiskStatistics(_message.Message):
    __slots__ = ("source", "persistence", "limit_bytes", "used_bytes")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    USED_BYTES_FIELD_NUMBER: _ClassVar[int]
    source: Resource.DiskInfo.Source
    persistence: Resource.DiskInfo.Persistence
    limit_bytes: int
    used_bytes: int
    def __init__(self, source: _Optional[_Union[Resource.DiskInfo.Source, _Mapping]] = ..., persistence: _Optional[_Union[Resource.DiskInfo.Persistence, _Mapping]] = ..., limit_bytes: _Optional[int] = ..., used_bytes: _Optional[int] = ...) -> None: ...

class DomainInfo(_message.Message):
    __slots__ = ("fault_domain",)
    class FaultDomain(_message.Message):
        __slots__ = ("region", "zone")
        class RegionInfo(_message.Message):
            __slots__ = ("name",)
            NAME_FIELD_NUMBER: _ClassVar[int]
            name: str
            def __init__(self, name: _Optional[str] = ...) -> None: ...
        class ZoneInfo(_message.Message):
            __slots__ = ("name",)
            NAME_FIELD_NUMBER: _ClassVar[int]
            name: str
            def __init__(self, name: _Optional[str] = ...) -> None: ...
        REGION_FIELD_NUMBER: _ClassVar[int]
        ZONE_FIELD_NUMBER: _ClassVar[int]
        region: DomainInfo.FaultDomain.RegionInfo
        zone: DomainInfo.FaultDomain.ZoneInfo
        def __init__(self, region: _Optional[_Union[DomainInfo.FaultDomain.RegionInfo, _Mapping]] = ..., zone: _Optional[_Union[DomainInfo.FaultDomain.ZoneInfo, _Mapping]] = ...) -> None: ...
    FAULT_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    fault_domain: DomainInfo.FaultDomain
    def __init__(self, fault_domain: _Optional[_Union[DomainInfo.FaultDomain, _Mapping]] = ...) -> None: ...

class DrainConfig(_message.Message):
    __slots__ = ("max_grace_period", "mark_gone")
    MAX_GRACE_PERIOD_FIELD_NUMBER: _ClassVar[int]
    MARK_GONE_FIELD_NUMBER: _ClassVar[int]
    max_grace_period: DurationInfo
    mark_gone: bool
    def __init__(self, max_grace_period: _Optional[_Union[DurationInfo, _Mapping]] = ..., mark_gone: bool = ...) -> None: ...

class DrainInfo(_message.Message):
    __slots__ = ("state", "config")
    STATE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    state: DrainState
    config: DrainConfig
    def __init__(self, state: _Optional[_Union[DrainState, str]] = ..., config: _Optional[_Union[DrainConfig, _Mapping]] = ...) -> None: ...

class DurationInfo(_message.Message):
    __slots__ = ("nanoseconds",)
    NANOSECONDS_FIELD_NUMBER: _ClassVar[int]
    nanoseconds: int
    def __init__(self, nanoseconds: _Optional[int] = ...) -> None: ...

class Environment(_message.Message):
    __slots__ = ("variables",)
    class Variable(_message.Message):
        __slots__ = ("name", "value", "type", "secret")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Environment.Variable.Type]
            VALUE: _ClassVar[Environment.Variable.Type]
            SECRET: _ClassVar[Environment.Variable.Type]
        UNKNOWN: Environment.Variable.Type
        VALUE: Environment.Variable.Type
        SECRET: Environment.Variable.Type
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        SECRET_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: str
        type: Environment.Variable.Type
        secret: Secret
        def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ..., type: _Optional[_Union[Environment.Variable.Type, str]] = ..., secret: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[Environment.Variable]
    def __init__(self, variables: _Optional[_Iterable[_Union[Environment.Variable, _Mapping]]] = ...) -> None: ...

class ExecutorID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class ExecutorInfo(_message.Message):
    __slots__ = ("executor_id", "data", "resources", "command", "framework_id", "name", "source", "container", "discovery", "shutdown_grace_period", "labels", "type")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ExecutorInfo.Type]
        DEFAULT: _ClassVar[ExecutorInfo.Type]
        CUSTOM: _ClassVar[ExecutorInfo.Type]
    UNKNOWN: ExecutorInfo.Type
    DEFAULT: ExecutorInfo.Type
    CUSTOM: ExecutorInfo.Type
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    DISCOVERY_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_GRACE_PERIOD_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    executor_id: ExecutorID
    data: bytes
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    command: CommandInfo
    framework_id: FrameworkID
    name: str
    source: str
    container: ContainerInfo
    discovery: DiscoveryInfo
    shutdown_grace_period: DurationInfo
    labels: Labels
    type: ExecutorInfo.Type
    def __init__(self, executor_id: _Optional[_Union[ExecutorID, _Mapping]] = ..., data: _Optional[bytes] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., command: _Optional[_Union[CommandInfo, _Mapping]] = ..., framework_id: _Optional[_Union[FrameworkID, _Mapping]] = ..., name: _Optional[str] = ..., source: _Optional[str] = ..., container: _Optional[_Union[ContainerInfo, _Mapping]] = ..., discovery: _Optional[_Union[DiscoveryInfo, _Mapping]] = ..., shutdown_grace_period: _Optional[_Union[DurationInfo, _Mapping]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., type: _Optional[_Union[ExecutorInfo.Type, str]] = ...) -> None: ...

class FileInfo(_message.Message):
    __slots__ = ("path", "nlink", "size", "mtime", "mode", "uid", "gid")
    PATH_FIELD_NUMBER: _ClassVar[int]
    NLINK_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    MTIME_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    GID_FIELD_NUMBER: _ClassVar[int]
    path: str
    nlink: int
    size: int
    mtime: TimeInfo
    mode: int
    uid: str
    gid: str
    def __init__(self, path: _Optional[str] = ..., nlink: _Optional[int] = ..., size: _Optional[int] = ..., mtime: _Optional[_Union[TimeInfo, _Mapping]] = ..., mode: _Optional[int] = ..., uid: _Optional[str] = ..., gid: _Optional[str] = ...) -> None: ...

class Filters(_message.Message):
    __slots__ = ("refuse_seconds",)
    REFUSE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    refuse_seconds: float
    def __init__(self, refuse_seconds: _Optional[float] = ...) -> None: ...

class Flag(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class FrameworkID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class FrameworkInfo(_message.Message):
    __slots__ = ("user", "name", "id", "failover_timeout", "checkpoint", "role", "hostname", "principal", "webui_url", "capabilities", "labels", "roles", "offer_filters")
    class Capability(_message.Message):
        __slots__ = ("type",)
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[FrameworkInfo.Capability.Type]
            REVOCABLE_RESOURCES: _ClassVar[FrameworkInfo.Capability.Type]
            TASK_KILLING_STATE: _ClassVar[FrameworkInfo.Capability.Type]
            GPU_RESOURCES: _ClassVar[FrameworkInfo.Capability.Type]
            SHARED_RESOURCES: _ClassVar[FrameworkInfo.Capability.Type]
            PARTITION_AWARE: _ClassVar[FrameworkInfo.Capability.Type]
            MULTI_ROLE: _ClassVar[FrameworkInfo.Capability.Type]
            RESERVATION_REFINEMENT: _ClassVar[FrameworkInfo.Capability.Type]
            REGION_AWARE: _ClassVar[FrameworkInfo.Capability.Type]
        UNKNOWN: FrameworkInfo.Capability.Type
        REVOCABLE_RESOURCES: FrameworkInfo.Capability.Type
        TASK_KILLING_STATE: FrameworkInfo.Capability.Type
        GPU_RESOURCES: FrameworkInfo.Capability.Type
        SHARED_RESOURCES: FrameworkInfo.Capability.Type
        PARTITION_AWARE: FrameworkInfo.Capability.Type
        MULTI_ROLE: FrameworkInfo.Capability.Type
        RESERVATION_REFINEMENT: FrameworkInfo.Capability.Type
        REGION_AWARE: FrameworkInfo.Capability.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        type: FrameworkInfo.Capability.Type
        def __init__(self, type: _Optional[_Union[FrameworkInfo.Capability.Type, str]] = ...) -> None: ...
    class OfferFiltersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: OfferFilters
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[OfferFilters, _Mapping]] = ...) -> None: ...
    USER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    FAILOVER_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    WEBUI_URL_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    OFFER_FILTERS_FIELD_NUMBER: _ClassVar[int]
    user: str
    name: str
    id: FrameworkID
    failover_timeout: float
    checkpoint: bool
    role: str
    hostname: str
    principal: str
    webui_url: str
    capabilities: _containers.RepeatedCompositeFieldContainer[FrameworkInfo.Capability]
    labels: Labels
    roles: _containers.RepeatedScalarFieldContainer[str]
    offer_filters: _containers.MessageMap[str, OfferFilters]
    def __init__(self, user: _Optional[str] = ..., name: _Optional[str] = ..., id: _Optional[_Union[FrameworkID, _Mapping]] = ..., failover_timeout: _Optional[float] = ..., checkpoint: bool = ..., role: _Optional[str] = ..., hostname: _Optional[str] = ..., principal: _Optional[str] = ..., webui_url: _Optional[str] = ..., capabilities: _Optional[_Iterable[_Union[FrameworkInfo.Capability, _Mapping]]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., roles: _Optional[_Iterable[str]] = ..., offer_filters: _Optional[_Mapping[str, OfferFilters]] = ...) -> None: ...

class HealthCheck(_message.Message):
    __slots__ = ("http", "delay_seconds", "interval_seconds", "timeout_seconds", "consecutive_failures", "grace_period_seconds", "command", "type", "tcp")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[HealthCheck.Type]
        COMMAND: _ClassVar[HealthCheck.Type]
        HTTP: _ClassVar[HealthCheck.Type]
        TCP: _ClassVar[HealthCheck.Type]
    UNKNOWN: HealthCheck.Type
    COMMAND: HealthCheck.Type
    HTTP: HealthCheck.Type
    TCP: HealthCheck.Type
    class HTTPCheckInfo(_message.Message):
        __slots__ = ("port", "path", "scheme", "statuses", "protocol")
        PORT_FIELD_NUMBER: _ClassVar[int]
        PATH_FIELD_NUMBER: _ClassVar[int]
        SCHEME_FIELD_NUMBER: _ClassVar[int]
        STATUSES_FIELD_NUMBER: _ClassVar[int]
        PROTOCOL_FIELD_NUMBER: _ClassVar[int]
        port: int
        path: str
        scheme: str
        statuses: _containers.RepeatedScalarFieldContainer[int]
        protocol: NetworkInfo.Protocol
        def __init__(self, port: _Optional[int] = ..., path: _Optional[str] = ..., scheme: _Optional[str] = ..., statuses: _Optional[_Iterable[int]] = ..., protocol: _Optional[_Union[NetworkInfo.Protocol, str]] = ...) -> None: ...
    class TCPCheckInfo(_message.Message):
        __slots__ = ("port", "protocol")
        PORT_FIELD_NUMBER: _ClassVar[int]
        PROTOCOL_FIELD_NUMBER: _ClassVar[int]
        port: int
        protocol: NetworkInfo.Protocol
        def __init__(self, port: _Optional[int] = ..., protocol: _Optional[_Union[NetworkInfo.Protocol, str]] = ...) -> None: ...
    HTTP_FIELD_NUMBER: _ClassVar[int]
    DELAY_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    GRACE_PERIOD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TCP_FIELD_NUMBER: _ClassVar[int]
    http: HealthCheck.HTTPCheckInfo
    delay_seconds: float
    interval_seconds: float
    timeout_seconds: float
    consecutive_failures: int
    grace_period_seconds: float
    command: CommandInfo
    type: HealthCheck.Type
    tcp: HealthCheck.TCPCheckInfo
    def __init__(self, http: _Optional[_Union[HealthCheck.HTTPCheckInfo, _Mapping]] = ..., delay_seconds: _Optional[float] = ..., interval_seconds: _Optional[float] = ..., timeout_seconds: _Optional[float] = ..., consecutive_failures: _Optional[int] = ..., grace_period_seconds: _Optional[float] = ..., command: _Optional[_Union[CommandInfo, _Mapping]] = ..., type: _Optional[_Union[HealthCheck.Type, str]] = ..., tcp: _Optional[_Union[HealthCheck.TCPCheckInfo, _Mapping]] = ...) -> None: ...

class IcmpStatistics(_message.Message):
    __slots__ = ("InMsgs", "InErrors", "InCsumErrors", "InDestUnreachs", "InTimeExcds", "InParmProbs", "InSrcQuenchs", "InRedirects", "InEchos", "InEchoReps", "InTimestamps", "InTimestampReps", "InAddrMasks", "InAddrMaskReps", "OutMsgs", "OutErrors", "OutDestUnreachs", "OutTimeExcds", "OutParmProbs", "OutSrcQuenchs", "OutRedirects", "OutEchos", "OutEchoReps", "OutTimestamps", "OutTimestampReps", "OutAddrMasks", "OutAddrMaskReps")
    INMSGS_FIELD_NUMBER: _ClassVar[int]
    INERRORS_FIELD_NUMBER: _ClassVar[int]
    INCSUMERRORS_FIELD_NUMBER: _ClassVar[int]
    INDESTUNREACHS_FIELD_NUMBER: _ClassVar[int]
    INTIMEEXCDS_FIELD_NUMBER: _ClassVar[int]
    INPARMPROBS_FIELD_NUMBER: _ClassVar[int]
    INSRCQUENCHS_FIELD_NUMBER: _ClassVar[int]
    INREDIRECTS_FIELD_NUMBER: _ClassVar[int]
    INECHOS_FIELD_NUMBER: _ClassVar[int]
    INECHOREPS_FIELD_NUMBER: _ClassVar[int]
    INTIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    INTIMESTAMPREPS_FIELD_NUMBER: _ClassVar[int]
    INADDRMASKS_FIELD_NUMBER: _ClassVar[int]
    INADDRMASKREPS_FIELD_NUMBER: _ClassVar[int]
    OUTMSGS_FIELD_NUMBER: _ClassVar[int]
    OUTERRORS_FIELD_NUMBER: _ClassVar[int]
    OUTDESTUNREACHS_FIELD_NUMBER: _ClassVar[int]
    OUTTIMEEXCDS_FIELD_NUMBER: _ClassVar[int]
    OUTPARMPROBS_FIELD_NUMBER: _ClassVar[int]
    OUTSRCQUENCHS_FIELD_NUMBER: _ClassVar[int]
    OUTREDIRECTS_FIELD_NUMBER: _ClassVar[int]
    OUTECHOS_FIELD_NUMBER: _ClassVar[int]
    OUTECHOREPS_FIELD_NUMBER: _ClassVar[int]
    OUTTIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    OUTTIMESTAMPREPS_FIELD_NUMBER: _ClassVar[int]
    OUTADDRMASKS_FIELD_NUMBER: _ClassVar[int]
    OUTADDRMASKREPS_FIELD_NUMBER: _ClassVar[int]
    InMsgs: int
    InErrors: int
    InCsumErrors: int
    InDestUnreachs: int
    InTimeExcds: int
    InParmProbs: int
    InSrcQuenchs: int
    InRedirects: int
    InEchos: int
    InEchoReps: int
    InTimestamps: int
    InTimestampReps: int
    InAddrMasks: int
    InAddrMaskReps: int
    OutMsgs: int
    OutErrors: int
    OutDestUnreachs: int
    OutTimeExcds: int
    OutParmProbs: int
    OutSrcQuenchs: int
    OutRedirects: int
    OutEchos: int
    OutEchoReps: int
    OutTimestamps: int
    OutTimestampReps: int
    OutAddrMasks: int
    OutAddrMaskReps: int
    def __init__(self, InMsgs: _Optional[int] = ..., InErrors: _Optional[int] = ..., InCsumErrors: _Optional[int] = ..., InDestUnreachs: _Optional[int] = ..., InTimeExcds: _Optional[int] = ..., InParmProbs: _Optional[int] = ..., InSrcQuenchs: _Optional[int] = ..., InRedirects: _Optional[int] = ..., InEchos: _Optional[int] = ..., InEchoReps: _Optional[int] = ..., InTimestamps: _Optional[int] = ..., InTimestampReps: _Optional[int] = ..., InAddrMasks: _Optional[int] = ..., InAddrMaskReps: _Optional[int] = ..., OutMsgs: _Optional[int] = ..., OutErrors: _Optional[int] = ..., OutDestUnreachs: _Optional[int] = ..., OutTimeExcds: _Optional[int] = ..., OutParmProbs: _Optional[int] = ..., OutSrcQuenchs: _Optional[int] = ..., OutRedirects: _Optional[int] = ..., OutEchos: _Optional[int] = ..., OutEchoReps: _Optional[int] = ..., OutTimestamps: _Optional[int] = ..., OutTimestampReps: _Optional[int] = ..., OutAddrMasks: _Optional[int] = ..., OutAddrMaskReps: _Optional[int] = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ("type", "appc", "docker", "cached")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        APPC: _ClassVar[Image.Type]
        DOCKER: _ClassVar[Image.Type]
    APPC: Image.Type
    DOCKER: Image.Type
    class Appc(_message.Message):
        __slots__ = ("name", "id", "labels")
        NAME_FIELD_NUMBER: _ClassVar[int]
        ID_FIELD_NUMBER: _ClassVar[int]
        LABELS_FIELD_NUMBER: _ClassVar[int]
        name: str
        id: str
        labels: Labels
        def __init__(self, name: _Optional[str] = ..., id: _Optional[str] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ...) -> None: ...
    class Docker(_message.Message):
        __slots__ = ("name", "credential", "config")
        NAME_FIELD_NUMBER: _ClassVar[int]
        CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
        CONFIG_FIELD_NUMBER: _ClassVar[int]
        name: str
        credential: Credential
        config: Secret
        def __init__(self, name: _Optional[str] = ..., credential: _Optional[_Union[Credential, _Mapping]] = ..., config: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    APPC_FIELD_NUMBER: _ClassVar[int]
    DOCKER_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    type: Image.Type
    appc: Image.Appc
    docker: Image.Docker
    cached: bool
    def __init__(self, type: _Optional[_Union[Image.Type, str]] = ..., appc: _Optional[_Union[Image.Appc, _Mapping]] = ..., docker: _Optional[_Union[Image.Docker, _Mapping]] = ..., cached: bool = ...) -> None: ...

class InverseOffer(_message.Message):
    __slots__ = ("id", "url", "framework_id", "agent_id", "unavailability", "resources")
    ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    id: OfferID
    url: URL
    framework_id: FrameworkID
    agent_id: AgentID
    unavailability: Unavailability
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    def __init__(self, id: _Optional[_Union[OfferID, _Mapping]] = ..., url: _Optional[_Union[URL, _Mapping]] = ..., framework_id: _Optional[_Union[FrameworkID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., unavailability: _Optional[_Union[Unavailability, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...

class IpStatistics(_message.Message):
    __slots__ = ("Forwarding", "DefaultTTL", "InReceives", "InHdrErrors", "InAddrErrors", "ForwDatagrams", "InUnknownProtos", "InDiscards", "InDelivers", "OutRequests", "OutDiscards", "OutNoRoutes", "ReasmTimeout", "ReasmReqds", "ReasmOKs", "ReasmFails", "FragOKs", "FragFails", "FragCreates")
    FORWARDING_FIELD_NUMBER: _ClassVar[int]
    DEFAULTTTL_FIELD_NUMBER: _ClassVar[int]
    INRECEIVES_FIELD_NUMBER: _ClassVar[int]
    INHDRERRORS_FIELD_NUMBER: _ClassVar[int]
    INADDRERRORS_FIELD_NUMBER: _ClassVar[int]
    FORWDATAGRAMS_FIELD_NUMBER: _ClassVar[int]
    INUNKNOWNPROTOS_FIELD_NUMBER: _ClassVar[int]
    INDISCARDS_FIELD_NUMBER: _ClassVar[int]
    INDELIVERS_FIELD_NUMBER: _ClassVar[int]
    OUTREQUESTS_FIELD_NUMBER: _ClassVar[int]
    OUTDISCARDS_FIELD_NUMBER: _ClassVar[int]
    OUTNOROUTES_FIELD_NUMBER: _ClassVar[int]
    REASMTIMEOUT_FIELD_NUMBER: _ClassVar[int]
    REASMREQDS_FIELD_NUMBER: _ClassVar[int]
    REASMOKS_FIELD_NUMBER: _ClassVar[int]
    REASMFAILS_FIELD_NUMBER: _ClassVar[int]
    FRAGOKS_FIELD_NUMBER: _ClassVar[int]
    FRAGFAILS_FIELD_NUMBER: _ClassVar[int]
    FRAGCREATES_FIELD_NUMBER: _ClassVar[int]
    Forwarding: int
    DefaultTTL: int
    InReceives: int
    InHdrErrors: int
    InAddrErrors: int
    ForwDatagrams: int
    InUnknownProtos: int
    InDiscards: int
    InDelivers: int
    OutRequests: int
    OutDiscards: int
    OutNoRoutes: int
    ReasmTimeout: int
    ReasmReqds: int
    ReasmOKs: int
    ReasmFails: int
    FragOKs: int
    FragFails: int
    FragCreates: int
    def __init__(self, Forwarding: _Optional[int] = ..., DefaultTTL: _Optional[int] = ..., InReceives: _Optional[int] = ..., InHdrErrors: _Optional[int] = ..., InAddrErrors: _Optional[int] = ..., ForwDatagrams: _Optional[int] = ..., InUnknownProtos: _Optional[int] = ..., InDiscards: _Optional[int] = ..., InDelivers: _Optional[int] = ..., OutRequests: _Optional[int] = ..., OutDiscards: _Optional[int] = ..., OutNoRoutes: _Optional[int] = ..., ReasmTimeout: _Optional[int] = ..., ReasmReqds: _Optional[int] = ..., ReasmOKs: _Optional[int] = ..., ReasmFails: _Optional[int] = ..., FragOKs: _Optional[int] = ..., FragFails: _Optional[int] = ..., FragCreates: _Optional[int] = ...) -> None: ...

class KillPolicy(_message.Message):
    __slots__ = ("grace_period",)
    GRACE_PERIOD_FIELD_NUMBER: _ClassVar[int]
    grace_period: DurationInfo
    def __init__(self, grace_period: _Optional[_Union[DurationInfo, _Mapping]] = ...) -> None: ...

class Label(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Labels(_message.Message):
    __slots__ = ("labels",)
    LABELS_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedCompositeFieldContainer[Label]
    def __init__(self, labels: _Optional[_Iterable[_Union[Label, _Mapping]]] = ...) -> None: ...

class LinuxInfo(_message.Message):
    __slots__ = ("capability_info", "bounding_capabilities", "effective_capabilities", "share_pid_namespace", "seccomp", "ipc_mode", "shm_size", "share_cgroups")
    class IpcMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[LinuxInfo.IpcMode]
        PRIVATE: _ClassVar[LinuxInfo.IpcMode]
        SHARE_PARENT: _ClassVar[LinuxInfo.IpcMode]
    UNKNOWN: LinuxInfo.IpcMode
    PRIVATE: LinuxInfo.IpcMode
    SHARE_PARENT: LinuxInfo.IpcMode
    CAPABILITY_INFO_FIELD_NUMBER: _ClassVar[int]
    BOUNDING_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    SHARE_PID_NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SECCOMP_FIELD_NUMBER: _ClassVar[int]
    IPC_MODE_FIELD_NUMBER: _ClassVar[int]
    SHM_SIZE_FIELD_NUMBER: _ClassVar[int]
    SHARE_CGROUPS_FIELD_NUMBER: _ClassVar[int]
    capability_info: CapabilityInfo
    bounding_capabilities: CapabilityInfo
    effective_capabilities: CapabilityInfo
    share_pid_namespace: bool
    seccomp: SeccompInfo
    ipc_mode: LinuxInfo.IpcMode
    shm_size: int
    share_cgroups: bool
    def __init__(self, capability_info: _Optional[_Union[CapabilityInfo, _Mapping]] = ..., bounding_capabilities: _Optional[_Union[CapabilityInfo, _Mapping]] = ..., effective_capabilities: _Optional[_Union[CapabilityInfo, _Mapping]] = ..., share_pid_namespace: bool = ..., seccomp: _Optional[_Union[SeccompInfo, _Mapping]] = ..., ipc_mode: _Optional[_Union[LinuxInfo.IpcMode, str]] = ..., shm_size: _Optional[int] = ..., share_cgroups: bool = ...) -> None: ...

class MachineID(_message.Message):
    __slots__ = ("hostname", "ip")
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    IP_FIELD_NUMBER: _ClassVar[int]
    hostname: str
    ip: str
    def __init__(self, hostname: _Optional[str] = ..., ip: _Optional[str] = ...) -> None: ...

class MasterInfo(_message.Message):
    __slots__ = ("id", "ip", "port", "pid", "hostname", "version", "address", "domain", "capabilities")
    class Capability(_message.Message):
        __slots__ = ("type",)
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[MasterInfo.Capability.Type]
            AGENT_UPDATE: _ClassVar[MasterInfo.Capability.Type]
            AGENT_DRAINING: _ClassVar[MasterInfo.Capability.Type]
            QUOTA_V2: _ClassVar[MasterInfo.Capability.Type]
        UNKNOWN: MasterInfo.Capability.Type
        AGENT_UPDATE: MasterInfo.Capability.Type
        AGENT_DRAINING: MasterInfo.Capability.Type
        QUOTA_V2: MasterInfo.Capability.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        type: MasterInfo.Capability.Type
        def __init__(self, type: _Optional[_Union[MasterInfo.Capability.Type, str]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    IP_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    id: str
    ip: int
    port: int
    pid: str
    hostname: str
    version: str
    address: Address
    domain: DomainInfo
    capabilities: _containers.RepeatedCompositeFieldContainer[MasterInfo.Capability]
    def __init__(self, id: _Optional[str] = ..., ip: _Optional[int] = ..., port: _Optional[int] = ..., pid: _Optional[str] = ..., hostname: _Optional[str] = ..., version: _Optional[str] = ..., address: _Optional[_Union[Address, _Mapping]] = ..., domain: _Optional[_Union[DomainInfo, _Mapping]] = ..., capabilities: _Optional[_Iterable[_Union[MasterInfo.Capability, _Mapping]]] = ...) -> None: ...

class Metric(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class MountPropagation(_message.Message):
    __slots__ = ("mode",)
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[MountPropagation.Mode]
        HOST_TO_CONTAINER: _ClassVar[MountPropagation.Mode]
        BIDIRECTIONAL: _ClassVar[MountPropagation.Mode]
    UNKNOWN: MountPropagation.Mode
    HOST_TO_CONTAINER: MountPropagation.Mode
    BIDIRECTIONAL: MountPropagation.Mode
    MODE_FIELD_NUMBER: _ClassVar[int]
    mode: MountPropagation.Mode
    def __init__(self, mode: _Optional[_Union[MountPropagation.Mode, str]] = ...) -> None: ...

class NetworkInfo(_message.Message):
    __slots__ = ("groups", "labels", "ip_addresses", "name", "port_mappings")
    class Protocol(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        IPv4: _ClassVar[NetworkInfo.Protocol]
        IPv6: _ClassVar[NetworkInfo.Protocol]
    IPv4: NetworkInfo.Protocol
    IPv6: NetworkInfo.Protocol
    class IPAddress(_message.Message):
        __slots__ = ("protocol", "ip_address")
        PROTOCOL_FIELD_NUMBER: _ClassVar[int]
        IP_ADDRESS_FIELD_NUMBER: _ClassVar[int]
        protocol: NetworkInfo.Protocol
        ip_address: str
        def __init__(self, protocol: _Optional[_Union[NetworkInfo.Protocol, str]] = ..., ip_address: _Optional[str] = ...) -> None: ...
    class PortMapping(_message.Message):
        __slots__ = ("host_port", "container_port", "protocol")
        HOST_PORT_FIELD_NUMBER: _ClassVar[int]
        CONTAINER_PORT_FIELD_NUMBER: _ClassVar[int]
        PROTOCOL_FIELD_NUMBER: _ClassVar[int]
        host_port: int
        container_port: int
        protocol: str
        def __init__(self, host_port: _Optional[int] = ..., container_port: _Optional[int] = ..., protocol: _Optional[str] = ...) -> None: ...
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    IP_ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PORT_MAPPINGS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedScalarFieldContainer[str]
    labels: Labels
    ip_addresses: _containers.RepeatedCompositeFieldContainer[NetworkInfo.IPAddress]
    name: str
    port_mappings: _containers.RepeatedCompositeFieldContainer[NetworkInfo.PortMapping]
    def __init__(self, groups: _Optional[_Iterable[str]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., ip_addresses: _Optional[_Iterable[_Union[NetworkInfo.IPAddress, _Mapping]]] = ..., name: _Optional[str] = ..., port_mappings: _Optional[_Iterable[_Union[NetworkInfo.PortMapping, _Mapping]]] = ...) -> None: ...

class Offer(_message.Message):
    __slots__ = ("id", "framework_id", "agent_id", "hostname", "resources", "executor_ids", "attributes", "url", "unavailability", "allocation_info", "domain")
    class Operation(_message.Message):
        __slots__ = ("type", "launch", "reserve", "unreserve", "create", "destroy", "launch_group", "id", "grow_volume", "shrink_volume", "create_disk", "destroy_disk", "create_cpuset", "destroy_cpuset", "resize_cpuset")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Offer.Operation.Type]
            LAUNCH: _ClassVar[Offer.Operation.Type]
            RESERVE: _ClassVar[Offer.Operation.Type]
            UNRESERVE: _ClassVar[Offer.Operation.Type]
            CREATE: _ClassVar[Offer.Operation.Type]
            DESTROY: _ClassVar[Offer.Operation.Type]
            LAUNCH_GROUP: _ClassVar[Offer.Operation.Type]
            GROW_VOLUME: _ClassVar[Offer.Operation.Type]
            SHRINK_VOLUME: _ClassVar[Offer.Operation.Type]
            CREATE_DISK: _ClassVar[Offer.Operation.Type]
            DESTROY_DISK: _ClassVar[Offer.Operation.Type]
            CREATE_CPUSET: _ClassVar[Offer.Operation.Type]
            DESTROY_CPUSET: _ClassVar[Offer.Operation.Type]
            RESIZE_CPUSET: _ClassVar[Offer.Operation.Type]
        UNKNOWN: Offer.Operation.Type
        LAUNCH: Offer.Operation.Type
        RESERVE: Offer.Operation.Type
        UNRESERVE: Offer.Operation.Type
        CREATE: Offer.Operation.Type
        DESTROY: Offer.Operation.Type
        LAUNCH_GROUP: Offer.Operation.Type
        GROW_VOLUME: Offer.Operation.Type
        SHRINK_VOLUME: Offer.Operation.Type
        CREATE_DISK: Offer.Operation.Type
        DESTROY_DISK: Offer.Operation.Type
        CREATE_CPUSET: Offer.Operation.Type
        DESTROY_CPUSET: Offer.Operation.Type
        RESIZE_CPUSET: Offer.Operation.Type
        class Create(_message.Message):
            __slots__ = ("volumes",)
            VOLUMES_FIELD_NUMBER: _ClassVar[int]
            volumes: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, volumes: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        class CreateDisk(_message.Message):
            __slots__ = ("source", "target_type", "target_profile")
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            TARGET_TYPE_FIELD_NUMBER: _ClassVar[int]
            TARGET_PROFILE_FIELD_NUMBER: _ClassVar[int]
            source: Resource
            target_type: Resource.DiskInfo.Source.Type
            target_profile: str
            def __init__(self, source: _Optional[_Union[Resource, _Mapping]] = ..., target_type: _Optional[_Union[Resource.DiskInfo.Source.Type, str]] = ..., target_profile: _Optional[str] = ...) -> None: ...
        class Destroy(_message.Message):
            __slots__ = ("volumes",)
            VOLUMES_FIELD_NUMBER: _ClassVar[int]
            volumes: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, volumes: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        class DestroyDisk(_message.Message):
            __slots__ = ("source",)
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            source: Resource
            def __init__(self, source: _Optional[_Union[Resource, _Mapping]] = ...) -> None: ...
        class GrowVolume(_message.Message):
            __slots__ = ("volume", "addition")
            VOLUME_FIELD_NUMBER: _ClassVar[int]
            ADDITION_FIELD_NUMBER: _ClassVar[int]
            volume: Resource
            addition: Resource
            def __init__(self, volume: _Optional[_Union[Resource, _Mapping]] = ..., addition: _Optional[_Union[Resource, _Mapping]] = ...) -> None: ...
        class Launch(_message.Message):
            __slots__ = ("task_infos",)
            TASK_INFOS_FIELD_NUMBER: _ClassVar[int]
            task_infos: _containers.RepeatedCompositeFieldContainer[TaskInfo]
            def __init__(self, task_infos: _Optional[_Iterable[_Union[TaskInfo, _Mapping]]] = ...) -> None: ...
        class LaunchGroup(_message.Message):
            __slots__ = ("executor", "task_group")
            EXECUTOR_FIELD_NUMBER: _ClassVar[int]
            TASK_GROUP_FIELD_NUMBER: _ClassVar[int]
            executor: ExecutorInfo
            task_group: TaskGroupInfo
            def __init__(self, executor: _Optional[_Union[ExecutorInfo, _Mapping]] = ..., task_group: _Optional[_Union[TaskGroupInfo, _Mapping]] = ...) -> None: ...
        class Reserve(_message.Message):
            __slots__ = ("resources", "source")
            RESOURCES_FIELD_NUMBER: _ClassVar[int]
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            resources: _containers.RepeatedCompositeFieldContainer[Resource]
            source: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., source: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        class ShrinkVolume(_message.Message):
            __slots__ = ("volume", "subtract")
            VOLUME_FIELD_NUMBER: _ClassVar[int]
            SUBTRACT_FIELD_NUMBER: _ClassVar[int]
            volume: Resource
            subtract: Value.Scalar
            def __init__(self, volume: _Optional[_Union[Resource, _Mapping]] = ..., subtract: _Optional[_Union[Value.Scalar, _Mapping]] = ...) -> None: ...
        class Unreserve(_message.Message):
            __slots__ = ("resources",)
            RESOURCES_FIELD_NUMBER: _ClassVar[int]
            resources: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        class CreateCpuset(_message.Message):
            __slots__ = ("source", "target_profile", "burst")
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            TARGET_PROFILE_FIELD_NUMBER: _ClassVar[int]
            BURST_FIELD_NUMBER: _ClassVar[int]
            source: _containers.RepeatedCompositeFieldContainer[Resource]
            target_profile: str
            burst: float
            def __init__(self, source: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., target_profile: _Optional[str] = ..., burst: _Optional[float] = ...) -> None: ...
        class DestroyCpuset(_message.Message):
            __slots__ = ("source",)
            SOURCE_FIELD_NUMBER: _ClassVar[int]
            source: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, source: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        class ResizeCpuset(_message.Message):
            __slots__ = ("cpuset", "add", "subtract")
            CPUSET_FIELD_NUMBER: _ClassVar[int]
            ADD_FIELD_NUMBER: _ClassVar[int]
            SUBTRACT_FIELD_NUMBER: _ClassVar[int]
            cpuset: _containers.RepeatedCompositeFieldContainer[Resource]
            add: _containers.RepeatedCompositeFieldContainer[Resource]
            subtract: _containers.RepeatedCompositeFieldContainer[Resource]
            def __init__(self, cpuset: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., add: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., subtract: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...
        TYPE_FIELD_NUMBER: _ClassVar[int]
        LAUNCH_FIELD_NUMBER: _ClassVar[int]
        RESERVE_FIELD_NUMBER: _ClassVar[int]
        UNRESERVE_FIELD_NUMBER: _ClassVar[int]
        CREATE_FIELD_NUMBER: _ClassVar[int]
        DESTROY_FIELD_NUMBER: _ClassVar[int]
        LAUNCH_GROUP_FIELD_NUMBER: _ClassVar[int]
        ID_FIELD_NUMBER: _ClassVar[int]
        GROW_VOLUME_FIELD_NUMBER: _ClassVar[int]
        SHRINK_VOLUME_FIELD_NUMBER: _ClassVar[int]
        CREATE_DISK_FIELD_NUMBER: _ClassVar[int]
        DESTROY_DISK_FIELD_NUMBER: _ClassVar[int]
        CREATE_CPUSET_FIELD_NUMBER: _ClassVar[int]
        DESTROY_CPUSET_FIELD_NUMBER: _ClassVar[int]
        RESIZE_CPUSET_FIELD_NUMBER: _ClassVar[int]
        type: Offer.Operation.Type
        launch: Offer.Operation.Launch
        reserve: Offer.Operation.Reserve
        unreserve: Offer.Operation.Unreserve
        create: Offer.Operation.Create
        destroy: Offer.Operation.Destroy
        launch_group: Offer.Operation.LaunchGroup
        id: OperationID
        grow_volume: Offer.Operation.GrowVolume
        shrink_volume: Offer.Operation.ShrinkVolume
        create_disk: Offer.Operation.CreateDisk
        destroy_disk: Offer.Operation.DestroyDisk
        create_cpuset: Offer.Operation.CreateCpuset
        destroy_cpuset: Offer.Operation.DestroyCpuset
        resize_cpuset: Offer.Operation.ResizeCpuset
        def __init__(self, type: _Optional[_Union[Offer.Operation.Type, str]] = ..., launch: _Optional[_Union[Offer.Operation.Launch, _Mapping]] = ..., reserve: _Optional[_Union[Offer.Operation.Reserve, _Mapping]] = ..., unreserve: _Optional[_Union[Offer.Operation.Unreserve, _Mapping]] = ..., create: _Optional[_Union[Offer.Operation.Create, _Mapping]] = ..., destroy: _Optional[_Union[Offer.Operation.Destroy, _Mapping]] = ..., launch_group: _Optional[_Union[Offer.Operation.LaunchGroup, _Mapping]] = ..., id: _Optional[_Union[OperationID, _Mapping]] = ..., grow_volume: _Optional[_Union[Offer.Operation.GrowVolume, _Mapping]] = ..., shrink_volume: _Optional[_Union[Offer.Operation.ShrinkVolume, _Mapping]] = ..., create_disk: _Optional[_Union[Offer.Operation.CreateDisk, _Mapping]] = ..., destroy_disk: _Optional[_Union[Offer.Operation.DestroyDisk, _Mapping]] = ..., create_cpuset: _Optional[_Union[Offer.Operation.CreateCpuset, _Mapping]] = ..., destroy_cpuset: _Optional[_Union[Offer.Operation.DestroyCpuset, _Mapping]] = ..., resize_cpuset: _Optional[_Union[Offer.Operation.ResizeCpuset, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    HOSTNAME_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_IDS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_INFO_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    id: OfferID
    framework_id: FrameworkID
    agent_id: AgentID
    hostname: str
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    executor_ids: _containers.RepeatedCompositeFieldContainer[ExecutorID]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    url: URL
    unavailability: Unavailability
    allocation_info: Resource.AllocationInfo
    domain: DomainInfo
    def __init__(self, id: _Optional[_Union[OfferID, _Mapping]] = ..., framework_id: _Optional[_Union[FrameworkID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., hostname: _Optional[str] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., executor_ids: _Optional[_Iterable[_Union[ExecutorID, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., url: _Optional[_Union[URL, _Mapping]] = ..., unavailability: _Optional[_Union[Unavailability, _Mapping]] = ..., allocation_info: _Optional[_Union[Resource.AllocationInfo, _Mapping]] = ..., domain: _Optional[_Union[DomainInfo, _Mapping]] = ...) -> None: ...

class OfferFilters(_message.Message):
    __slots__ = ("min_allocatable_resources",)
    class MinAllocatableResources(_message.Message):
        __slots__ = ("quantities",)
        QUANTITIES_FIELD_NUMBER: _ClassVar[int]
        quantities: _containers.RepeatedCompositeFieldContainer[OfferFilters.ResourceQuantities]
        def __init__(self, quantities: _Optional[_Iterable[_Union[OfferFilters.ResourceQuantities, _Mapping]]] = ...) -> None: ...
    class ResourceQuantities(_message.Message):
        __slots__ = ("quantities",)
        class QuantitiesEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: Value.Scalar
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value.Scalar, _Mapping]] = ...) -> None: ...
        QUANTITIES_FIELD_NUMBER: _ClassVar[int]
        quantities: _containers.MessageMap[str, Value.Scalar]
        def __init__(self, quantities: _Optional[_Mapping[str, Value.Scalar]] = ...) -> None: ...
    MIN_ALLOCATABLE_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    min_allocatable_resources: OfferFilters.MinAllocatableResources
    def __init__(self, min_allocatable_resources: _Optional[_Union[OfferFilters.MinAllocatableResources, _Mapping]] = ...) -> None: ...

class OfferID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("framework_id", "agent_id", "info", "latest_status", "statuses", "uuid")
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    LATEST_STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    framework_id: FrameworkID
    agent_id: AgentID
    info: Offer.Operation
    latest_status: OperationStatus
    statuses: _containers.RepeatedCompositeFieldContainer[OperationStatus]
    uuid: UUID
    def __init__(self, framework_id: _Optional[_Union[FrameworkID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., info: _Optional[_Union[Offer.Operation, _Mapping]] = ..., latest_status: _Optional[_Union[OperationStatus, _Mapping]] = ..., statuses: _Optional[_Iterable[_Union[OperationStatus, _Mapping]]] = ..., uuid: _Optional[_Union[UUID, _Mapping]] = ...) -> None: ...

class OperationID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class OperationStatus(_message.Message):
    __slots__ = ("operation_id", "state", "message", "converted_resources", "uuid", "agent_id", "resource_provider_id")
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CONVERTED_RESOURCES_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    operation_id: OperationID
    state: OperationState
    message: str
    converted_resources: _containers.RepeatedCompositeFieldContainer[Resource]
    uuid: UUID
    agent_id: AgentID
    resource_provider_id: ResourceProviderID
    def __init__(self, operation_id: _Optional[_Union[OperationID, _Mapping]] = ..., state: _Optional[_Union[OperationState, str]] = ..., message: _Optional[str] = ..., converted_resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., uuid: _Optional[_Union[UUID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., resource_provider_id: _Optional[_Union[ResourceProviderID, _Mapping]] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Parameters(_message.Message):
    __slots__ = ("parameter",)
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    parameter: _containers.RepeatedCompositeFieldContainer[Parameter]
    def __init__(self, parameter: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ...) -> None: ...

class PerfStatistics(_message.Message):
    __slots__ = ("timestamp", "duration", "cycles", "stalled_cycles_frontend", "stalled_cycles_backend", "instructions", "cache_references", "cache_misses", "branches", "branch_misses", "bus_cycles", "ref_cycles", "cpu_clock", "task_clock", "page_faults", "minor_faults", "major_faults", "context_switches", "cpu_migrations", "alignment_faults", "emulation_faults", "l1_dcache_loads", "l1_dcache_load_misses", "l1_dcache_stores", "l1_dcache_store_misses", "l1_dcache_prefetches", "l1_dcache_prefetch_misses", "l1_icache_loads", "l1_icache_load_misses", "l1_icache_prefetches", "l1_icache_prefetch_misses", "llc_loads", "llc_load_misses", "llc_stores", "llc_store_misses", "llc_prefetches", "llc_prefetch_misses", "dtlb_loads", "dtlb_load_misses", "dtlb_stores", "dtlb_store_misses", "dtlb_prefetches", "dtlb_prefetch_misses", "itlb_loads", "itlb_load_misses", "branch_loads", "branch_load_misses", "node_loads", "node_load_misses", "node_stores", "node_store_misses", "node_prefetches", "node_prefetch_misses")
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    STALLED_CYCLES_FRONTEND_FIELD_NUMBER: _ClassVar[int]
    STALLED_CYCLES_BACKEND_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    CACHE_REFERENCES_FIELD_NUMBER: _ClassVar[int]
    CACHE_MISSES_FIELD_NUMBER: _ClassVar[int]
    BRANCHES_FIELD_NUMBER: _ClassVar[int]
    BRANCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    BUS_CYCLES_FIELD_NUMBER: _ClassVar[int]
    REF_CYCLES_FIELD_NUMBER: _ClassVar[int]
    CPU_CLOCK_FIELD_NUMBER: _ClassVar[int]
    TASK_CLOCK_FIELD_NUMBER: _ClassVar[int]
    PAGE_FAULTS_FIELD_NUMBER: _ClassVar[int]
    MINOR_FAULTS_FIELD_NUMBER: _ClassVar[int]
    MAJOR_FAULTS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_SWITCHES_FIELD_NUMBER: _ClassVar[int]
    CPU_MIGRATIONS_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FAULTS_FIELD_NUMBER: _ClassVar[int]
    EMULATION_FAULTS_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_LOADS_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_STORES_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_STORE_MISSES_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_PREFETCHES_FIELD_NUMBER: _ClassVar[int]
    L1_DCACHE_PREFETCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    L1_ICACHE_LOADS_FIELD_NUMBER: _ClassVar[int]
    L1_ICACHE_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    L1_ICACHE_PREFETCHES_FIELD_NUMBER: _ClassVar[int]
    L1_ICACHE_PREFETCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    LLC_LOADS_FIELD_NUMBER: _ClassVar[int]
    LLC_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    LLC_STORES_FIELD_NUMBER: _ClassVar[int]
    LLC_STORE_MISSES_FIELD_NUMBER: _ClassVar[int]
    LLC_PREFETCHES_FIELD_NUMBER: _ClassVar[int]
    LLC_PREFETCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    DTLB_LOADS_FIELD_NUMBER: _ClassVar[int]
    DTLB_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    DTLB_STORES_FIELD_NUMBER: _ClassVar[int]
    DTLB_STORE_MISSES_FIELD_NUMBER: _ClassVar[int]
    DTLB_PREFETCHES_FIELD_NUMBER: _ClassVar[int]
    DTLB_PREFETCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    ITLB_LOADS_FIELD_NUMBER: _ClassVar[int]
    ITLB_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    BRANCH_LOADS_FIELD_NUMBER: _ClassVar[int]
    BRANCH_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    NODE_LOADS_FIELD_NUMBER: _ClassVar[int]
    NODE_LOAD_MISSES_FIELD_NUMBER: _ClassVar[int]
    NODE_STORES_FIELD_NUMBER: _ClassVar[int]
    NODE_STORE_MISSES_FIELD_NUMBER: _ClassVar[int]
    NODE_PREFETCHES_FIELD_NUMBER: _ClassVar[int]
    NODE_PREFETCH_MISSES_FIELD_NUMBER: _ClassVar[int]
    timestamp: float
    duration: float
    cycles: int
    stalled_cycles_frontend: int
    stalled_cycles_backend: int
    instructions: int
    cache_references: int
    cache_misses: int
    branches: int
    branch_misses: int
    bus_cycles: int
    ref_cycles: int
    cpu_clock: float
    task_clock: float
    page_faults: int
    minor_faults: int
    major_faults: int
    context_switches: int
    cpu_migrations: int
    alignment_faults: int
    emulation_faults: int
    l1_dcache_loads: int
    l1_dcache_load_misses: int
    l1_dcache_stores: int
    l1_dcache_store_misses: int
    l1_dcache_prefetches: int
    l1_dcache_prefetch_misses: int
    l1_icache_loads: int
    l1_icache_load_misses: int
    l1_icache_prefetches: int
    l1_icache_prefetch_misses: int
    llc_loads: int
    llc_load_misses: int
    llc_stores: int
    llc_store_misses: int
    llc_prefetches: int
    llc_prefetch_misses: int
    dtlb_loads: int
    dtlb_load_misses: int
    dtlb_stores: int
    dtlb_store_misses: int
    dtlb_prefetches: int
    dtlb_prefetch_misses: int
    itlb_loads: int
    itlb_load_misses: int
    branch_loads: int
    branch_load_misses: int
    node_loads: int
    node_load_misses: int
    node_stores: int
    node_store_misses: int
    node_prefetches: int
    node_prefetch_misses: int
    def __init__(self, timestamp: _Optional[float] = ..., duration: _Optional[float] = ..., cycles: _Optional[int] = ..., stalled_cycles_frontend: _Optional[int] = ..., stalled_cycles_backend: _Optional[int] = ..., instructions: _Optional[int] = ..., cache_references: _Optional[int] = ..., cache_misses: _Optional[int] = ..., branches: _Optional[int] = ..., branch_misses: _Optional[int] = ..., bus_cycles: _Optional[int] = ..., ref_cycles: _Optional[int] = ..., cpu_clock: _Optional[float] = ..., task_clock: _Optional[float] = ..., page_faults: _Optional[int] = ..., minor_faults: _Optional[int] = ..., major_faults: _Optional[int] = ..., context_switches: _Optional[int] = ..., cpu_migrations: _Optional[int] = ..., alignment_faults: _Optional[int] = ..., emulation_faults: _Optional[int] = ..., l1_dcache_loads: _Optional[int] = ..., l1_dcache_load_misses: _Optional[int] = ..., l1_dcache_stores: _Optional[int] = ..., l1_dcache_store_misses: _Optional[int] = ..., l1_dcache_prefetches: _Optional[int] = ..., l1_dcache_prefetch_misses: _Optional[int] = ..., l1_icache_loads: _Optional[int] = ..., l1_icache_load_misses: _Optional[int] = ..., l1_icache_prefetches: _Optional[int] = ..., l1_icache_prefetch_misses: _Optional[int] = ..., llc_loads: _Optional[int] = ..., llc_load_misses: _Optional[int] = ..., llc_stores: _Optional[int] = ..., llc_store_misses: _Optional[int] = ..., llc_prefetches: _Optional[int] = ..., llc_prefetch_misses: _Optional[int] = ..., dtlb_loads: _Optional[int] = ..., dtlb_load_misses: _Optional[int] = ..., dtlb_stores: _Optional[int] = ..., dtlb_store_misses: _Optional[int] = ..., dtlb_prefetches: _Optional[int] = ..., dtlb_prefetch_misses: _Optional[int] = ..., itlb_loads: _Optional[int] = ..., itlb_load_misses: _Optional[int] = ..., branch_loads: _Optional[int] = ..., branch_load_misses: _Optional[int] = ..., node_loads: _Optional[int] = ..., node_load_misses: _Optional[int] = ..., node_stores: _Optional[int] = ..., node_store_misses: _Optional[int] = ..., node_prefetches: _Optional[int] = ..., node_prefetch_misses: _Optional[int] = ...) -> None: ...

class Port(_message.Message):
    __slots__ = ("number", "name", "protocol", "visibility", "labels")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    protocol: str
    visibility: DiscoveryInfo.Visibility
    labels: Labels
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ..., protocol: _Optional[str] = ..., visibility: _Optional[_Union[DiscoveryInfo.Visibility, str]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ...) -> None: ...

class Ports(_message.Message):
    __slots__ = ("ports",)
    PORTS_FIELD_NUMBER: _ClassVar[int]
    ports: _containers.RepeatedCompositeFieldContainer[Port]
    def __init__(self, ports: _Optional[_Iterable[_Union[Port, _Mapping]]] = ...) -> None: ...

class RLimitInfo(_message.Message):
    __slots__ = ("rlimits",)
    class RLimit(_message.Message):
        __slots__ = ("type", "hard", "soft")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_AS: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_CORE: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_CPU: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_DATA: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_FSIZE: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_LOCKS: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_MEMLOCK: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_MSGQUEUE: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_NICE: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_NOFILE: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_NPROC: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_RSS: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_RTPRIO: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_RTTIME: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_SIGPENDING: _ClassVar[RLimitInfo.RLimit.Type]
            RLMT_STACK: _ClassVar[RLimitInfo.RLimit.Type]
        UNKNOWN: RLimitInfo.RLimit.Type
        RLMT_AS: RLimitInfo.RLimit.Type
        RLMT_CORE: RLimitInfo.RLimit.Type
        RLMT_CPU: RLimitInfo.RLimit.Type
        RLMT_DATA: RLimitInfo.RLimit.Type
        RLMT_FSIZE: RLimitInfo.RLimit.Type
        RLMT_LOCKS: RLimitInfo.RLimit.Type
        RLMT_MEMLOCK: RLimitInfo.RLimit.Type
        RLMT_MSGQUEUE: RLimitInfo.RLimit.Type
        RLMT_NICE: RLimitInfo.RLimit.Type
        RLMT_NOFILE: RLimitInfo.RLimit.Type
        RLMT_NPROC: RLimitInfo.RLimit.Type
        RLMT_RSS: RLimitInfo.RLimit.Type
        RLMT_RTPRIO: RLimitInfo.RLimit.Type
        RLMT_RTTIME: RLimitInfo.RLimit.Type
        RLMT_SIGPENDING: RLimitInfo.RLimit.Type
        RLMT_STACK: RLimitInfo.RLimit.Type
        TYPE_FIELD_NUMBER: _ClassVar[int]
        HARD_FIELD_NUMBER: _ClassVar[int]
        SOFT_FIELD_NUMBER: _ClassVar[int]
        type: RLimitInfo.RLimit.Type
        hard: int
        soft: int
        def __init__(self, type: _Optional[_Union[RLimitInfo.RLimit.Type, str]] = ..., hard: _Optional[int] = ..., soft: _Optional[int] = ...) -> None: ...
    RLIMITS_FIELD_NUMBER: _ClassVar[int]
    rlimits: _containers.RepeatedCompositeFieldContainer[RLimitInfo.RLimit]
    def __init__(self, rlimits: _Optional[_Iterable[_Union[RLimitInfo.RLimit, _Mapping]]] = ...) -> None: ...

class Request(_message.Message):
    __slots__ = ("agent_id", "resources")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    agent_id: AgentID
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    def __init__(self, agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...

class Resource(_message.Message):
    __slots__ = ("name", "type", "scalar", "ranges", "set", "role", "disk", "reservation", "revocable", "shared", "allocation_info", "provider_id", "reservations", "cpu")
    class AllocationInfo(_message.Message):
        __slots__ = ("role",)
        ROLE_FIELD_NUMBER: _ClassVar[int]
        role: str
        def __init__(self, role: _Optional[str] = ...) -> None: ...
    class DiskInfo(_message.Message):
        __slots__ = ("persistence", "volume", "source")
        class Persistence(_message.Message):
            __slots__ = ("id", "principal")
            ID_FIELD_NUMBER: _ClassVar[int]
            PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
            id: str
            principal: str
            def __init__(self, id: _Optional[str] = ..., principal: _Optional[str] = ...) -> None: ...
        class Source(_message.Message):
            __slots__ = ("type", "path", "mount", "id", "metadata", "profile", "vendor")
            class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                UNKNOWN: _ClassVar[Resource.DiskInfo.Source.Type]
                PATH: _ClassVar[Resource.DiskInfo.Source.Type]
                MOUNT: _ClassVar[Resource.DiskInfo.Source.Type]
                BLOCK: _ClassVar[Resource.DiskInfo.Source.Type]
                RAW: _ClassVar[Resource.DiskInfo.Source.Type]
            UNKNOWN: Resource.DiskInfo.Source.Type
            PATH: Resource.DiskInfo.Source.Type
            MOUNT: Resource.DiskInfo.Source.Type
            BLOCK: Resource.DiskInfo.Source.Type
            RAW: Resource.DiskInfo.Source.Type
            class Mount(_message.Message):
                __slots__ = ("root",)
                ROOT_FIELD_NUMBER: _ClassVar[int]
                root: str
                def __init__(self, root: _Optional[str] = ...) -> None: ...
            class Path(_message.Message):
                __slots__ = ("root",)
                ROOT_FIELD_NUMBER: _ClassVar[int]
                root: str
                def __init__(self, root: _Optional[str] = ...) -> None: ...
            TYPE_FIELD_NUMBER: _ClassVar[int]
            PATH_FIELD_NUMBER: _ClassVar[int]
            MOUNT_FIELD_NUMBER: _ClassVar[int]
            ID_FIELD_NUMBER: _ClassVar[int]
            METADATA_FIELD_NUMBER: _ClassVar[int]
            PROFILE_FIELD_NUMBER: _ClassVar[int]
            VENDOR_FIELD_NUMBER: _ClassVar[int]
            type: Resource.DiskInfo.Source.Type
            path: Resource.DiskInfo.Source.Path
            mount: Resource.DiskInfo.Source.Mount
            id: str
            metadata: Labels
            profile: str
            vendor: str
            def __init__(self, type: _Optional[_Union[Resource.DiskInfo.Source.Type, str]] = ..., path: _Optional[_Union[Resource.DiskInfo.Source.Path, _Mapping]] = ..., mount: _Optional[_Union[Resource.DiskInfo.Source.Mount, _Mapping]] = ..., id: _Optional[str] = ..., metadata: _Optional[_Union[Labels, _Mapping]] = ..., profile: _Optional[str] = ..., vendor: _Optional[str] = ...) -> None: ...
        PERSISTENCE_FIELD_NUMBER: _ClassVar[int]
        VOLUME_FIELD_NUMBER: _ClassVar[int]
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        persistence: Resource.DiskInfo.Persistence
        volume: Volume
        source: Resource.DiskInfo.Source
        def __init__(self, persistence: _Optional[_Union[Resource.DiskInfo.Persistence, _Mapping]] = ..., volume: _Optional[_Union[Volume, _Mapping]] = ..., source: _Optional[_Union[Resource.DiskInfo.Source, _Mapping]] = ...) -> None: ...
    class ReservationInfo(_message.Message):
        __slots__ = ("principal", "labels", "role", "type")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Resource.ReservationInfo.Type]
            STATIC: _ClassVar[Resource.ReservationInfo.Type]
            DYNAMIC: _ClassVar[Resource.ReservationInfo.Type]
        UNKNOWN: Resource.ReservationInfo.Type
        STATIC: Resource.ReservationInfo.Type
        DYNAMIC: Resource.ReservationInfo.Type
        PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
        LABELS_FIELD_NUMBER: _ClassVar[int]
        ROLE_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        principal: str
        labels: Labels
        role: str
        type: Resource.ReservationInfo.Type
        def __init__(self, principal: _Optional[str] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., role: _Optional[str] = ..., type: _Optional[_Union[Resource.ReservationInfo.Type, str]] = ...) -> None: ...
    class RevocableInfo(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class SharedInfo(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class CpuInfo(_message.Message):
        __slots__ = ("source",)
        class Source(_message.Message):
            __slots__ = ("type", "id", "profile", "zone", "pool", "metadata")
            class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                UNKNOWN: _ClassVar[Resource.CpuInfo.Source.Type]
                RAW: _ClassVar[Resource.CpuInfo.Source.Type]
                EXCLUSIVE: _ClassVar[Resource.CpuInfo.Source.Type]
                SHARED: _ClassVar[Resource.CpuInfo.Source.Type]
            UNKNOWN: Resource.CpuInfo.Source.Type
            RAW: Resource.CpuInfo.Source.Type
            EXCLUSIVE: Resource.CpuInfo.Source.Type
            SHARED: Resource.CpuInfo.Source.Type
            TYPE_FIELD_NUMBER: _ClassVar[int]
            ID_FIELD_NUMBER: _ClassVar[int]
            PROFILE_FIELD_NUMBER: _ClassVar[int]
            ZONE_FIELD_NUMBER: _ClassVar[int]
            POOL_FIELD_NUMBER: _ClassVar[int]
            METADATA_FIELD_NUMBER: _ClassVar[int]
            type: Resource.CpuInfo.Source.Type
            id: str
            profile: str
            zone: str
            pool: str
            metadata: Labels
            def __init__(self, type: _Optional[_Union[Resource.CpuInfo.Source.Type, str]] = ..., id: _Optional[str] = ..., profile: _Optional[str] = ..., zone: _Optional[str] = ..., pool: _Optional[str] = ..., metadata: _Optional[_Union[Labels, _Mapping]] = ...) -> None: ...
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        source: Resource.CpuInfo.Source
        def __init__(self, source: _Optional[_Union[Resource.CpuInfo.Source, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    DISK_FIELD_NUMBER: _ClassVar[int]
    RESERVATION_FIELD_NUMBER: _ClassVar[int]
    REVOCABLE_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_INFO_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    RESERVATIONS_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: Value.Type
    scalar: Value.Scalar
    ranges: Value.Ranges
    set: Value.Set
    role: str
    disk: Resource.DiskInfo
    reservation: Resource.ReservationInfo
    revocable: Resource.RevocableInfo
    shared: Resource.SharedInfo
    allocation_info: Resource.AllocationInfo
    provider_id: ResourceProviderID
    reservations: _containers.RepeatedCompositeFieldContainer[Resource.ReservationInfo]
    cpu: Resource.CpuInfo
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[Value.Type, str]] = ..., scalar: _Optional[_Union[Value.Scalar, _Mapping]] = ..., ranges: _Optional[_Union[Value.Ranges, _Mapping]] = ..., set: _Optional[_Union[Value.Set, _Mapping]] = ..., role: _Optional[str] = ..., disk: _Optional[_Union[Resource.DiskInfo, _Mapping]] = ..., reservation: _Optional[_Union[Resource.ReservationInfo, _Mapping]] = ..., revocable: _Optional[_Union[Resource.RevocableInfo, _Mapping]] = ..., shared: _Optional[_Union[Resource.SharedInfo, _Mapping]] = ..., allocation_info: _Optional[_Union[Resource.AllocationInfo, _Mapping]] = ..., provider_id: _Optional[_Union[ResourceProviderID, _Mapping]] = ..., reservations: _Optional[_Iterable[_Union[Resource.ReservationInfo, _Mapping]]] = ..., cpu: _Optional[_Union[Resource.CpuInfo, _Mapping]] = ...) -> None: ...

class ResourceProviderID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class ResourceProviderInfo(_message.Message):
    __slots__ = ("id", "attributes", "type", "name", "default_reservations", "storage", "cpu")
    class Storage(_message.Message):
        __slots__ = ("plugin", "reconciliation_interval_seconds")
        PLUGIN_FIELD_NUMBER: _ClassVar[int]
        RECONCILIATION_INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
        plugin: CSIPluginInfo
        reconciliation_interval_seconds: float
        def __init__(self, plugin: _Optional[_Union[CSIPluginInfo, _Mapping]] = ..., reconciliation_interval_seconds: _Optional[float] = ...) -> None: ...
    class Cpu(_message.Message):
        __slots__ = ("group_by", "reserved_cpus", "floor", "overcommit", "pools", "profiles")
        class Pool(_message.Message):
            __slots__ = ("name", "capacity", "cpus")
            NAME_FIELD_NUMBER: _ClassVar[int]
            CAPACITY_FIELD_NUMBER: _ClassVar[int]
            CPUS_FIELD_NUMBER: _ClassVar[int]
            name: str
            capacity: int
            cpus: str
            def __init__(self, name: _Optional[str] = ..., capacity: _Optional[int] = ..., cpus: _Optional[str] = ...) -> None: ...
        class Profiles(_message.Message):
            __slots__ = ("uri", "poll_interval_seconds", "max_random_wait_seconds", "ca_file", "credentials_file")
            URI_FIELD_NUMBER: _ClassVar[int]
            POLL_INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
            MAX_RANDOM_WAIT_SECONDS_FIELD_NUMBER: _ClassVar[int]
            CA_FILE_FIELD_NUMBER: _ClassVar[int]
            CREDENTIALS_FILE_FIELD_NUMBER: _ClassVar[int]
            uri: str
            poll_interval_seconds: float
            max_random_wait_seconds: float
            ca_file: str
            credentials_file: str
            def __init__(self, uri: _Optional[str] = ..., poll_interval_seconds: _Optional[float] = ..., max_random_wait_seconds: _Optional[float] = ..., ca_file: _Optional[str] = ..., credentials_file: _Optional[str] = ...) -> None: ...
        GROUP_BY_FIELD_NUMBER: _ClassVar[int]
        RESERVED_CPUS_FIELD_NUMBER: _ClassVar[int]
        FLOOR_FIELD_NUMBER: _ClassVar[int]
        OVERCOMMIT_FIELD_NUMBER: _ClassVar[int]
        POOLS_FIELD_NUMBER: _ClassVar[int]
        PROFILES_FIELD_NUMBER: _ClassVar[int]
        group_by: str
        reserved_cpus: str
        floor: int
        overcommit: float
        pools: _containers.RepeatedCompositeFieldContainer[ResourceProviderInfo.Cpu.Pool]
        profiles: ResourceProviderInfo.Cpu.Profiles
        def __init__(self, group_by: _Optional[str] = ..., reserved_cpus: _Optional[str] = ..., floor: _Optional[int] = ..., overcommit: _Optional[float] = ..., pools: _Optional[_Iterable[_Union[ResourceProviderInfo.Cpu.Pool, _Mapping]]] = ..., profiles: _Optional[_Union[ResourceProviderInfo.Cpu.Profiles, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_RESERVATIONS_FIELD_NUMBER: _ClassVar[int]
    STORAGE_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    id: ResourceProviderID
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    type: str
    name: str
    default_reservations: _containers.RepeatedCompositeFieldContainer[Resource.ReservationInfo]
    storage: ResourceProviderInfo.Storage
    cpu: ResourceProviderInfo.Cpu
    def __init__(self, id: _Optional[_Union[ResourceProviderID, _Mapping]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., type: _Optional[str] = ..., name: _Optional[str] = ..., default_reservations: _Optional[_Iterable[_Union[Resource.ReservationInfo, _Mapping]]] = ..., storage: _Optional[_Union[ResourceProviderInfo.Storage, _Mapping]] = ..., cpu: _Optional[_Union[ResourceProviderInfo.Cpu, _Mapping]] = ...) -> None: ...

class ResourceStatistics(_message.Message):
    __slots__ = ("timestamp", "cpus_user_time_secs", "cpus_system_time_secs", "cpus_limit", "mem_rss_bytes", "mem_limit_bytes", "cpus_nr_periods", "cpus_nr_throttled", "cpus_throttled_time_secs", "mem_file_bytes", "mem_anon_bytes", "mem_mapped_file_bytes", "perf", "net_rx_packets", "net_rx_bytes", "net_rx_errors", "net_rx_dropped", "net_tx_packets", "net_tx_bytes", "net_tx_errors", "net_tx_dropped", "net_tcp_rtt_microsecs_p50", "net_tcp_rtt_microsecs_p90", "net_tcp_rtt_microsecs_p95", "net_tcp_rtt_microsecs_p99", "disk_limit_bytes", "disk_used_bytes", "net_tcp_active_connections", "net_tcp_time_wait_connections", "processes", "threads", "mem_low_pressure_counter", "mem_medium_pressure_counter", "mem_critical_pressure_counter", "net_traffic_control_statistics", "mem_total_bytes", "mem_total_memsw_bytes", "mem_soft_limit_bytes", "mem_cache_bytes", "mem_swap_bytes", "mem_unevictable_bytes", "net_snmp_statistics", "disk_statistics", "blkio_statistics", "cpus_soft_limit", "net_tx_rate_limit", "net_tx_burst_rate_limit", "net_tx_burst_size", "net_rx_rate_limit", "net_rx_burst_rate_limit", "net_rx_burst_size", "mem_kmem_usage_bytes", "mem_kmem_tcp_usage_bytes", "net_rate_statistics", "net_ephemeral_ports")
    class RatePercentiles(_message.Message):
        __slots__ = ("min", "max", "p50", "p90", "p95", "p99", "p999", "p9999", "samples")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        P50_FIELD_NUMBER: _ClassVar[int]
        P90_FIELD_NUMBER: _ClassVar[int]
        P95_FIELD_NUMBER: _ClassVar[int]
        P99_FIELD_NUMBER: _ClassVar[int]
        P999_FIELD_NUMBER: _ClassVar[int]
        P9999_FIELD_NUMBER: _ClassVar[int]
        SAMPLES_FIELD_NUMBER: _ClassVar[int]
        min: int
        max: int
        p50: int
        p90: int
        p95: int
        p99: int
        p999: int
        p9999: int
        samples: int
        def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ..., p50: _Optional[int] = ..., p90: _Optional[int] = ..., p95: _Optional[int] = ..., p99: _Optional[int] = ..., p999: _Optional[int] = ..., p9999: _Optional[int] = ..., samples: _Optional[int] = ...) -> None: ...
    class RateStatistics(_message.Message):
        __slots__ = ("rx_rate", "rx_packet_rate", "rx_drop_rate", "rx_error_rate", "tx_rate", "tx_packet_rate", "tx_drop_rate", "tx_error_rate", "sampling_window_secs", "sampling_interval_secs")
        RX_RATE_FIELD_NUMBER: _ClassVar[int]
        RX_PACKET_RATE_FIELD_NUMBER: _ClassVar[int]
        RX_DROP_RATE_FIELD_NUMBER: _ClassVar[int]
        RX_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
        TX_RATE_FIELD_NUMBER: _ClassVar[int]
        TX_PACKET_RATE_FIELD_NUMBER: _ClassVar[int]
        TX_DROP_RATE_FIELD_NUMBER: _ClassVar[int]
        TX_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
        SAMPLING_WINDOW_SECS_FIELD_NUMBER: _ClassVar[int]
        SAMPLING_INTERVAL_SECS_FIELD_NUMBER: _ClassVar[int]
        rx_rate: ResourceStatistics.RatePercentiles
        rx_packet_rate: ResourceStatistics.RatePercentiles
        rx_drop_rate: ResourceStatistics.RatePercentiles
        rx_error_rate: ResourceStatistics.RatePercentiles
        tx_rate: ResourceStatistics.RatePercentiles
        tx_packet_rate: ResourceStatistics.RatePercentiles
        tx_drop_rate: ResourceStatistics.RatePercentiles
        tx_error_rate: ResourceStatistics.RatePercentiles
        sampling_window_secs: float
        sampling_interval_secs: float
        def __init__(self, rx_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., rx_packet_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., rx_drop_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., rx_error_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., tx_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., tx_packet_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., tx_drop_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., tx_error_rate: _Optional[_Union[ResourceStatistics.RatePercentiles, _Mapping]] = ..., sampling_window_secs: _Optional[float] = ..., sampling_interval_secs: _Optional[float] = ...) -> None: ...
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CPUS_USER_TIME_SECS_FIELD_NUMBER: _ClassVar[int]
    CPUS_SYSTEM_TIME_SECS_FIELD_NUMBER: _ClassVar[int]
    CPUS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    MEM_RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    CPUS_NR_PERIODS_FIELD_NUMBER: _ClassVar[int]
    CPUS_NR_THROTTLED_FIELD_NUMBER: _ClassVar[int]
    CPUS_THROTTLED_TIME_SECS_FIELD_NUMBER: _ClassVar[int]
    MEM_FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_ANON_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_MAPPED_FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PERF_FIELD_NUMBER: _ClassVar[int]
    NET_RX_PACKETS_FIELD_NUMBER: _ClassVar[int]
    NET_RX_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_RX_ERRORS_FIELD_NUMBER: _ClassVar[int]
    NET_RX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    NET_TX_PACKETS_FIELD_NUMBER: _ClassVar[int]
    NET_TX_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_TX_ERRORS_FIELD_NUMBER: _ClassVar[int]
    NET_TX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_RTT_MICROSECS_P50_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_RTT_MICROSECS_P90_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_RTT_MICROSECS_P95_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_RTT_MICROSECS_P99_FIELD_NUMBER: _ClassVar[int]
    DISK_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    DISK_USED_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_ACTIVE_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    NET_TCP_TIME_WAIT_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    MEM_LOW_PRESSURE_COUNTER_FIELD_NUMBER: _ClassVar[int]
    MEM_MEDIUM_PRESSURE_COUNTER_FIELD_NUMBER: _ClassVar[int]
    MEM_CRITICAL_PRESSURE_COUNTER_FIELD_NUMBER: _ClassVar[int]
    NET_TRAFFIC_CONTROL_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    MEM_TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_TOTAL_MEMSW_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_SOFT_LIMIT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_CACHE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_SWAP_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_UNEVICTABLE_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_SNMP_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    DISK_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    BLKIO_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    CPUS_SOFT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NET_TX_RATE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NET_TX_BURST_RATE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NET_TX_BURST_SIZE_FIELD_NUMBER: _ClassVar[int]
    NET_RX_RATE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NET_RX_BURST_RATE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NET_RX_BURST_SIZE_FIELD_NUMBER: _ClassVar[int]
    MEM_KMEM_USAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEM_KMEM_TCP_USAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    NET_RATE_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    NET_EPHEMERAL_PORTS_FIELD_NUMBER: _ClassVar[int]
    timestamp: float
    cpus_user_time_secs: float
    cpus_system_time_secs: float
    cpus_limit: float
    mem_rss_bytes: int
    mem_limit_bytes: int
    cpus_nr_periods: int
    cpus_nr_throttled: int
    cpus_throttled_time_secs: float
    mem_file_bytes: int
    mem_anon_bytes: int
    mem_mapped_file_bytes: int
    perf: PerfStatistics
    net_rx_packets: int
    net_rx_bytes: int
    net_rx_errors: int
    net_rx_dropped: int
    net_tx_packets: int
    net_tx_bytes: int
    net_tx_errors: int
    net_tx_dropped: int
    net_tcp_rtt_microsecs_p50: float
    net_tcp_rtt_microsecs_p90: float
    net_tcp_rtt_microsecs_p95: float
    net_tcp_rtt_microsecs_p99: float
    disk_limit_bytes: int
    disk_used_bytes: int
    net_tcp_active_connections: float
    net_tcp_time_wait_connections: float
    processes: int
    threads: int
    mem_low_pressure_counter: int
    mem_medium_pressure_counter: int
    mem_critical_pressure_counter: int
    net_traffic_control_statistics: _containers.RepeatedCompositeFieldContainer[TrafficControlStatistics]
    mem_total_bytes: int
    mem_total_memsw_bytes: int
    mem_soft_limit_bytes: int
    mem_cache_bytes: int
    mem_swap_bytes: int
    mem_unevictable_bytes: int
    net_snmp_statistics: SNMPStatistics
    disk_statistics: _containers.RepeatedCompositeFieldContainer[DiskStatistics]
    blkio_statistics: CgroupInfo.Blkio.Statistics
    cpus_soft_limit: float
    net_tx_rate_limit: int
    net_tx_burst_rate_limit: int
    net_tx_burst_size: int
    net_rx_rate_limit: int
    net_rx_burst_rate_limit: int
    net_rx_burst_size: int
    mem_kmem_usage_bytes: int
    mem_kmem_tcp_usage_bytes: int
    net_rate_statistics: ResourceStatistics.RateStatistics
    net_ephemeral_ports: Value.Range
    def __init__(self, timestamp: _Optional[float] = ..., cpus_user_time_secs: _Optional[float] = ..., cpus_system_time_secs: _Optional[float] = ..., cpus_limit: _Optional[float] = ..., mem_rss_bytes: _Optional[int] = ..., mem_limit_bytes: _Optional[int] = ..., cpus_nr_periods: _Optional[int] = ..., cpus_nr_throttled: _Optional[int] = ..., cpus_throttled_time_secs: _Optional[float] = ..., mem_file_bytes: _Optional[int] = ..., mem_anon_bytes: _Optional[int] = ..., mem_mapped_file_bytes: _Optional[int] = ..., perf: _Optional[_Union[PerfStatistics, _Mapping]] = ..., net_rx_packets: _Optional[int] = ..., net_rx_bytes: _Optional[int] = ..., net_rx_errors: _Optional[int] = ..., net_rx_dropped: _Optional[int] = ..., net_tx_packets: _Optional[int] = ..., net_tx_bytes: _Optional[int] = ..., net_tx_errors: _Optional[int] = ..., net_tx_dropped: _Optional[int] = ..., net_tcp_rtt_microsecs_p50: _Optional[float] = ..., net_tcp_rtt_microsecs_p90: _Optional[float] = ..., net_tcp_rtt_microsecs_p95: _Optional[float] = ..., net_tcp_rtt_microsecs_p99: _Optional[float] = ..., disk_limit_bytes: _Optional[int] = ..., disk_used_bytes: _Optional[int] = ..., net_tcp_active_connections: _Optional[float] = ..., net_tcp_time_wait_connections: _Optional[float] = ..., processes: _Optional[int] = ..., threads: _Optional[int] = ..., mem_low_pressure_counter: _Optional[int] = ..., mem_medium_pressure_counter: _Optional[int] = ..., mem_critical_pressure_counter: _Optional[int] = ..., net_traffic_control_statistics: _Optional[_Iterable[_Union[TrafficControlStatistics, _Mapping]]] = ..., mem_total_bytes: _Optional[int] = ..., mem_total_memsw_bytes: _Optional[int] = ..., mem_soft_limit_bytes: _Optional[int] = ..., mem_cache_bytes: _Optional[int] = ..., mem_swap_bytes: _Optional[int] = ..., mem_unevictable_bytes: _Optional[int] = ..., net_snmp_statistics: _Optional[_Union[SNMPStatistics, _Mapping]] = ..., disk_statistics: _Optional[_Iterable[_Union[DiskStatistics, _Mapping]]] = ..., blkio_statistics: _Optional[_Union[CgroupInfo.Blkio.Statistics, _Mapping]] = ..., cpus_soft_limit: _Optional[float] = ..., net_tx_rate_limit: _Optional[int] = ..., net_tx_burst_rate_limit: _Optional[int] = ..., net_tx_burst_size: _Optional[int] = ..., net_rx_rate_limit: _Optional[int] = ..., net_rx_burst_rate_limit: _Optional[int] = ..., net_rx_burst_size: _Optional[int] = ..., mem_kmem_usage_bytes: _Optional[int] = ..., mem_kmem_tcp_usage_bytes: _Optional[int] = ..., net_rate_statistics: _Optional[_Union[ResourceStatistics.RateStatistics, _Mapping]] = ..., net_ephemeral_ports: _Optional[_Union[Value.Range, _Mapping]] = ...) -> None: ...

class Role(_message.Message):
    __slots__ = ("name", "weight", "frameworks", "resources")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORKS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    name: str
    weight: float
    frameworks: _containers.RepeatedCompositeFieldContainer[FrameworkID]
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    def __init__(self, name: _Optional[str] = ..., weight: _Optional[float] = ..., frameworks: _Optional[_Iterable[_Union[FrameworkID, _Mapping]]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...

class SNMPStatistics(_message.Message):
    __slots__ = ("ip_stats", "icmp_stats", "tcp_stats", "udp_stats")
    IP_STATS_FIELD_NUMBER: _ClassVar[int]
    ICMP_STATS_FIELD_NUMBER: _ClassVar[int]
    TCP_STATS_FIELD_NUMBER: _ClassVar[int]
    UDP_STATS_FIELD_NUMBER: _ClassVar[int]
    ip_stats: IpStatistics
    icmp_stats: IcmpStatistics
    tcp_stats: TcpStatistics
    udp_stats: UdpStatistics
    def __init__(self, ip_stats: _Optional[_Union[IpStatistics, _Mapping]] = ..., icmp_stats: _Optional[_Union[IcmpStatistics, _Mapping]] = ..., tcp_stats: _Optional[_Union[TcpStatistics, _Mapping]] = ..., udp_stats: _Optional[_Union[UdpStatistics, _Mapping]] = ...) -> None: ...

class SeccompInfo(_message.Message):
    __slots__ = ("profile_name", "unconfined")
    PROFILE_NAME_FIELD_NUMBER: _ClassVar[int]
    UNCONFINED_FIELD_NUMBER: _ClassVar[int]
    profile_name: str
    unconfined: bool
    def __init__(self, profile_name: _Optional[str] = ..., unconfined: bool = ...) -> None: ...

class Secret(_message.Message):
    __slots__ = ("type", "reference", "value")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Secret.Type]
        REFERENCE: _ClassVar[Secret.Type]
        VALUE: _ClassVar[Secret.Type]
    UNKNOWN: Secret.Type
    REFERENCE: Secret.Type
    VALUE: Secret.Type
    class Reference(_message.Message):
        __slots__ = ("name", "key")
        NAME_FIELD_NUMBER: _ClassVar[int]
        KEY_FIELD_NUMBER: _ClassVar[int]
        name: str
        key: str
        def __init__(self, name: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...
    class Value(_message.Message):
        __slots__ = ("data",)
        DATA_FIELD_NUMBER: _ClassVar[int]
        data: bytes
        def __init__(self, data: _Optional[bytes] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    type: Secret.Type
    reference: Secret.Reference
    value: Secret.Value
    def __init__(self, type: _Optional[_Union[Secret.Type, str]] = ..., reference: _Optional[_Union[Secret.Reference, _Mapping]] = ..., value: _Optional[_Union[Secret.Value, _Mapping]] = ...) -> None: ...

class TTYInfo(_message.Message):
    __slots__ = ("window_size",)
    class WindowSize(_message.Message):
        __slots__ = ("rows", "columns")
        ROWS_FIELD_NUMBER: _ClassVar[int]
        COLUMNS_FIELD_NUMBER: _ClassVar[int]
        rows: int
        columns: int
        def __init__(self, rows: _Optional[int] = ..., columns: _Optional[int] = ...) -> None: ...
    WINDOW_SIZE_FIELD_NUMBER: _ClassVar[int]
    window_size: TTYInfo.WindowSize
    def __init__(self, window_size: _Optional[_Union[TTYInfo.WindowSize, _Mapping]] = ...) -> None: ...

class Task(_message.Message):
    __slots__ = ("name", "task_id", "framework_id", "executor_id", "agent_id", "state", "resources", "statuses", "status_update_state", "status_update_uuid", "labels", "discovery", "container", "user", "health_check", "kill_policy", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value.Scalar
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value.Scalar, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    STATUS_UPDATE_STATE_FIELD_NUMBER: _ClassVar[int]
    STATUS_UPDATE_UUID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    DISCOVERY_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    HEALTH_CHECK_FIELD_NUMBER: _ClassVar[int]
    KILL_POLICY_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    name: str
    task_id: TaskID
    framework_id: FrameworkID
    executor_id: ExecutorID
    agent_id: AgentID
    state: TaskState
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    statuses: _containers.RepeatedCompositeFieldContainer[TaskStatus]
    status_update_state: TaskState
    status_update_uuid: bytes
    labels: Labels
    discovery: DiscoveryInfo
    container: ContainerInfo
    user: str
    health_check: HealthCheck
    kill_policy: KillPolicy
    limits: _containers.MessageMap[str, Value.Scalar]
    def __init__(self, name: _Optional[str] = ..., task_id: _Optional[_Union[TaskID, _Mapping]] = ..., framework_id: _Optional[_Union[FrameworkID, _Mapping]] = ..., executor_id: _Optional[_Union[ExecutorID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., state: _Optional[_Union[TaskState, str]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., statuses: _Optional[_Iterable[_Union[TaskStatus, _Mapping]]] = ..., status_update_state: _Optional[_Union[TaskState, str]] = ..., status_update_uuid: _Optional[bytes] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., discovery: _Optional[_Union[DiscoveryInfo, _Mapping]] = ..., container: _Optional[_Union[ContainerInfo, _Mapping]] = ..., user: _Optional[str] = ..., health_check: _Optional[_Union[HealthCheck, _Mapping]] = ..., kill_policy: _Optional[_Union[KillPolicy, _Mapping]] = ..., limits: _Optional[_Mapping[str, Value.Scalar]] = ...) -> None: ...

class TaskGroupInfo(_message.Message):
    __slots__ = ("tasks",)
    TASKS_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[TaskInfo]
    def __init__(self, tasks: _Optional[_Iterable[_Union[TaskInfo, _Mapping]]] = ...) -> None: ...

class TaskID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: str
    def __init__(self, value: _Optional[str] = ...) -> None: ...

class TaskInfo(_message.Message):
    __slots__ = ("name", "task_id", "agent_id", "resources", "executor", "data", "command", "health_check", "container", "labels", "discovery", "kill_policy", "check", "max_completion_time", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value.Scalar
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value.Scalar, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    HEALTH_CHECK_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    DISCOVERY_FIELD_NUMBER: _ClassVar[int]
    KILL_POLICY_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    MAX_COMPLETION_TIME_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    name: str
    task_id: TaskID
    agent_id: AgentID
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    executor: ExecutorInfo
    data: bytes
    command: CommandInfo
    health_check: HealthCheck
    container: ContainerInfo
    labels: Labels
    discovery: DiscoveryInfo
    kill_policy: KillPolicy
    check: CheckInfo
    max_completion_time: DurationInfo
    limits: _containers.MessageMap[str, Value.Scalar]
    def __init__(self, name: _Optional[str] = ..., task_id: _Optional[_Union[TaskID, _Mapping]] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., executor: _Optional[_Union[ExecutorInfo, _Mapping]] = ..., data: _Optional[bytes] = ..., command: _Optional[_Union[CommandInfo, _Mapping]] = ..., health_check: _Optional[_Union[HealthCheck, _Mapping]] = ..., container: _Optional[_Union[ContainerInfo, _Mapping]] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., discovery: _Optional[_Union[DiscoveryInfo, _Mapping]] = ..., kill_policy: _Optional[_Union[KillPolicy, _Mapping]] = ..., check: _Optional[_Union[CheckInfo, _Mapping]] = ..., max_completion_time: _Optional[_Union[DurationInfo, _Mapping]] = ..., limits: _Optional[_Mapping[str, Value.Scalar]] = ...) -> None: ...

class TaskResourceLimitation(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    def __init__(self, resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ...) -> None: ...

class TaskStatus(_message.Message):
    __slots__ = ("task_id", "state", "data", "message", "agent_id", "timestamp", "executor_id", "healthy", "source", "reason", "uuid", "labels", "container_status", "unreachable_time", "check_status", "limitation")
    class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REASON_COMMAND_EXECUTOR_FAILED: _ClassVar[TaskStatus.Reason]
        REASON_EXECUTOR_TERMINATED: _ClassVar[TaskStatus.Reason]
        REASON_EXECUTOR_UNREGISTERED: _ClassVar[TaskStatus.Reason]
        REASON_FRAMEWORK_REMOVED: _ClassVar[TaskStatus.Reason]
        REASON_GC_ERROR: _ClassVar[TaskStatus.Reason]
        REASON_INVALID_FRAMEWORKID: _ClassVar[TaskStatus.Reason]
        REASON_INVALID_OFFERS: _ClassVar[TaskStatus.Reason]
        REASON_MASTER_DISCONNECTED: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_LIMITATION_MEMORY: _ClassVar[TaskStatus.Reason]
        REASON_RECONCILIATION: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_DISCONNECTED: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_REMOVED: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_RESTARTED: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_UNKNOWN: _ClassVar[TaskStatus.Reason]
        REASON_TASK_INVALID: _ClassVar[TaskStatus.Reason]
        REASON_TASK_UNAUTHORIZED: _ClassVar[TaskStatus.Reason]
        REASON_TASK_UNKNOWN: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_PREEMPTED: _ClassVar[TaskStatus.Reason]
        REASON_RESOURCES_UNKNOWN: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_LIMITATION: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_LIMITATION_DISK: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_LAUNCH_FAILED: _ClassVar[TaskStatus.Reason]
        REASON_CONTAINER_UPDATE_FAILED: _ClassVar[TaskStatus.Reason]
        REASON_EXECUTOR_REGISTRATION_TIMEOUT: _ClassVar[TaskStatus.Reason]
        REASON_EXECUTOR_REREGISTRATION_TIMEOUT: _ClassVar[TaskStatus.Reason]
        REASON_TASK_GROUP_INVALID: _ClassVar[TaskStatus.Reason]
        REASON_TASK_GROUP_UNAUTHORIZED: _ClassVar[TaskStatus.Reason]
        REASON_IO_SWITCHBOARD_EXITED: _ClassVar[TaskStatus.Reason]
        REASON_TASK_CHECK_STATUS_UPDATED: _ClassVar[TaskStatus.Reason]
        REASON_TASK_HEALTH_CHECK_STATUS_UPDATED: _ClassVar[TaskStatus.Reason]
        REASON_TASK_KILLED_DURING_LAUNCH: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_REMOVED_BY_OPERATOR: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_REREGISTERED: _ClassVar[TaskStatus.Reason]
        REASON_MAX_COMPLETION_TIME_REACHED: _ClassVar[TaskStatus.Reason]
        REASON_AGENT_DRAINING: _ClassVar[TaskStatus.Reason]
    REASON_COMMAND_EXECUTOR_FAILED: TaskStatus.Reason
    REASON_EXECUTOR_TERMINATED: TaskStatus.Reason
    REASON_EXECUTOR_UNREGISTERED: TaskStatus.Reason
    REASON_FRAMEWORK_REMOVED: TaskStatus.Reason
    REASON_GC_ERROR: TaskStatus.Reason
    REASON_INVALID_FRAMEWORKID: TaskStatus.Reason
    REASON_INVALID_OFFERS: TaskStatus.Reason
    REASON_MASTER_DISCONNECTED: TaskStatus.Reason
    REASON_CONTAINER_LIMITATION_MEMORY: TaskStatus.Reason
    REASON_RECONCILIATION: TaskStatus.Reason
    REASON_AGENT_DISCONNECTED: TaskStatus.Reason
    REASON_AGENT_REMOVED: TaskStatus.Reason
    REASON_AGENT_RESTARTED: TaskStatus.Reason
    REASON_AGENT_UNKNOWN: TaskStatus.Reason
    REASON_TASK_INVALID: TaskStatus.Reason
    REASON_TASK_UNAUTHORIZED: TaskStatus.Reason
    REASON_TASK_UNKNOWN: TaskStatus.Reason
    REASON_CONTAINER_PREEMPTED: TaskStatus.Reason
    REASON_RESOURCES_UNKNOWN: TaskStatus.Reason
    REASON_CONTAINER_LIMITATION: TaskStatus.Reason
    REASON_CONTAINER_LIMITATION_DISK: TaskStatus.Reason
    REASON_CONTAINER_LAUNCH_FAILED: TaskStatus.Reason
    REASON_CONTAINER_UPDATE_FAILED: TaskStatus.Reason
    REASON_EXECUTOR_REGISTRATION_TIMEOUT: TaskStatus.Reason
    REASON_EXECUTOR_REREGISTRATION_TIMEOUT: TaskStatus.Reason
    REASON_TASK_GROUP_INVALID: TaskStatus.Reason
    REASON_TASK_GROUP_UNAUTHORIZED: TaskStatus.Reason
    REASON_IO_SWITCHBOARD_EXITED: TaskStatus.Reason
    REASON_TASK_CHECK_STATUS_UPDATED: TaskStatus.Reason
    REASON_TASK_HEALTH_CHECK_STATUS_UPDATED: TaskStatus.Reason
    REASON_TASK_KILLED_DURING_LAUNCH: TaskStatus.Reason
    REASON_AGENT_REMOVED_BY_OPERATOR: TaskStatus.Reason
    REASON_AGENT_REREGISTERED: TaskStatus.Reason
    REASON_MAX_COMPLETION_TIME_REACHED: TaskStatus.Reason
    REASON_AGENT_DRAINING: TaskStatus.Reason
    class Source(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SOURCE_MASTER: _ClassVar[TaskStatus.Source]
        SOURCE_AGENT: _ClassVar[TaskStatus.Source]
        SOURCE_EXECUTOR: _ClassVar[TaskStatus.Source]
    SOURCE_MASTER: TaskStatus.Source
    SOURCE_AGENT: TaskStatus.Source
    SOURCE_EXECUTOR: TaskStatus.Source
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_STATUS_FIELD_NUMBER: _ClassVar[int]
    UNREACHABLE_TIME_FIELD_NUMBER: _ClassVar[int]
    CHECK_STATUS_FIELD_NUMBER: _ClassVar[int]
    LIMITATION_FIELD_NUMBER: _ClassVar[int]
    task_id: TaskID
    state: TaskState
    data: bytes
    message: str
    agent_id: AgentID
    timestamp: float
    executor_id: ExecutorID
    healthy: bool
    source: TaskStatus.Source
    reason: TaskStatus.Reason
    uuid: bytes
    labels: Labels
    container_status: ContainerStatus
    unreachable_time: TimeInfo
    check_status: CheckStatusInfo
    limitation: TaskResourceLimitation
    def __init__(self, task_id: _Optional[_Union[TaskID, _Mapping]] = ..., state: _Optional[_Union[TaskState, str]] = ..., data: _Optional[bytes] = ..., message: _Optional[str] = ..., agent_id: _Optional[_Union[AgentID, _Mapping]] = ..., timestamp: _Optional[float] = ..., executor_id: _Optional[_Union[ExecutorID, _Mapping]] = ..., healthy: bool = ..., source: _Optional[_Union[TaskStatus.Source, str]] = ..., reason: _Optional[_Union[TaskStatus.Reason, str]] = ..., uuid: _Optional[bytes] = ..., labels: _Optional[_Union[Labels, _Mapping]] = ..., container_status: _Optional[_Union[ContainerStatus, _Mapping]] = ..., unreachable_time: _Optional[_Union[TimeInfo, _Mapping]] = ..., check_status: _Optional[_Union[CheckStatusInfo, _Mapping]] = ..., limitation: _Optional[_Union[TaskResourceLimitation, _Mapping]] = ...) -> None: ...

class TcpStatistics(_message.Message):
    __slots__ = ("RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets", "CurrEstab", "InSegs", "OutSegs", "RetransSegs", "InErrs", "OutRsts", "InCsumErrors")
    RTOALGORITHM_FIELD_NUMBER: _ClassVar[int]
    RTOMIN_FIELD_NUMBER: _ClassVar[int]
    RTOMAX_FIELD_NUMBER: _ClassVar[int]
    MAXCONN_FIELD_NUMBER: _ClassVar[int]
    ACTIVEOPENS_FIELD_NUMBER: _ClassVar[int]
    PASSIVEOPENS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTFAILS_FIELD_NUMBER: _ClassVar[int]
    ESTABRESETS_FIELD_NUMBER: _ClassVar[int]
    CURRESTAB_FIELD_NUMBER: _ClassVar[int]
    INSEGS_FIELD_NUMBER: _ClassVar[int]
    OUTSEGS_FIELD_NUMBER: _ClassVar[int]
    RETRANSSEGS_FIELD_NUMBER: _ClassVar[int]
    INERRS_FIELD_NUMBER: _ClassVar[int]
    OUTRSTS_FIELD_NUMBER: _ClassVar[int]
    INCSUMERRORS_FIELD_NUMBER: _ClassVar[int]
    RtoAlgorithm: int
    RtoMin: int
    RtoMax: int
    MaxConn: int
    ActiveOpens: int
    PassiveOpens: int
    AttemptFails: int
    EstabResets: int
    CurrEstab: int
    InSegs: int
    OutSegs: int
    RetransSegs: int
    InErrs: int
    OutRsts: int
    InCsumErrors: int
    def __init__(self, RtoAlgorithm: _Optional[int] = ..., RtoMin: _Optional[int] = ..., RtoMax: _Optional[int] = ..., MaxConn: _Optional[int] = ..., ActiveOpens: _Optional[int] = ..., PassiveOpens: _Optional[int] = ..., AttemptFails: _Optional[int] = ..., EstabResets: _Optional[int] = ..., CurrEstab: _Optional[int] = ..., InSegs: _Optional[int] = ..., OutSegs: _Optional[int] = ..., RetransSegs: _Optional[int] = ..., InErrs: _Optional[int] = ..., OutRsts: _Optional[int] = ..., InCsumErrors: _Optional[int] = ...) -> None: ...

class TimeInfo(_message.Message):
    __slots__ = ("nanoseconds",)
    NANOSECONDS_FIELD_NUMBER: _ClassVar[int]
    nanoseconds: int
    def __init__(self, nanoseconds: _Optional[int] = ...) -> None: ...

class TrafficControlStatistics(_message.Message):
    __slots__ = ("id", "backlog", "bytes", "drops", "overlimits", "packets", "qlen", "ratebps", "ratepps", "requeues")
    ID_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    DROPS_FIELD_NUMBER: _ClassVar[int]
    OVERLIMITS_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    QLEN_FIELD_NUMBER: _ClassVar[int]
    RATEBPS_FIELD_NUMBER: _ClassVar[int]
    RATEPPS_FIELD_NUMBER: _ClassVar[int]
    REQUEUES_FIELD_NUMBER: _ClassVar[int]
    id: str
    backlog: int
    bytes: int
    drops: int
    overlimits: int
    packets: int
    qlen: int
    ratebps: int
    ratepps: int
    requeues: int
    def __init__(self, id: _Optional[str] = ..., backlog: _Optional[int] = ..., bytes: _Optional[int] = ..., drops: _Optional[int] = ..., overlimits: _Optional[int] = ..., packets: _Optional[int] = ..., qlen: _Optional[int] = ..., ratebps: _Optional[int] = ..., ratepps: _Optional[int] = ..., requeues: _Optional[int] = ...) -> None: ...

class URL(_message.Message):
    __slots__ = ("scheme", "address", "path", "query", "fragment")
    SCHEME_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_FIELD_NUMBER: _ClassVar[int]
    scheme: str
    address: Address
    path: str
    query: _containers.RepeatedCompositeFieldContainer[Parameter]
    fragment: str
    def __init__(self, scheme: _Optional[str] = ..., address: _Optional[_Union[Address, _Mapping]] = ..., path: _Optional[str] = ..., query: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., fragment: _Optional[str] = ...) -> None: ...

class UUID(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: bytes
    def __init__(self, value: _Optional[bytes] = ...) -> None: ...

class UdpStatistics(_message.Message):
    __slots__ = ("InDatagrams", "NoPorts", "InErrors", "OutDatagrams", "RcvbufErrors", "SndbufErrors", "InCsumErrors", "IgnoredMulti")
    INDATAGRAMS_FIELD_NUMBER: _ClassVar[int]
    NOPORTS_FIELD_NUMBER: _ClassVar[int]
    INERRORS_FIELD_NUMBER: _ClassVar[int]
    OUTDATAGRAMS_FIELD_NUMBER: _ClassVar[int]
    RCVBUFERRORS_FIELD_NUMBER: _ClassVar[int]
    SNDBUFERRORS_FIELD_NUMBER: _ClassVar[int]
    INCSUMERRORS_FIELD_NUMBER: _ClassVar[int]
    IGNOREDMULTI_FIELD_NUMBER: _ClassVar[int]
    InDatagrams: int
    NoPorts: int
    InErrors: int
    OutDatagrams: int
    RcvbufErrors: int
    SndbufErrors: int
    InCsumErrors: int
    IgnoredMulti: int
    def __init__(self, InDatagrams: _Optional[int] = ..., NoPorts: _Optional[int] = ..., InErrors: _Optional[int] = ..., OutDatagrams: _Optional[int] = ..., RcvbufErrors: _Optional[int] = ..., SndbufErrors: _Optional[int] = ..., InCsumErrors: _Optional[int] = ..., IgnoredMulti: _Optional[int] = ...) -> None: ...

class Unavailability(_message.Message):
    __slots__ = ("start", "duration")
    START_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    start: TimeInfo
    duration: DurationInfo
    def __init__(self, start: _Optional[_Union[TimeInfo, _Mapping]] = ..., duration: _Optional[_Union[DurationInfo, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("type", "scalar", "ranges", "set", "text")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SCALAR: _ClassVar[Value.Type]
        RANGES: _ClassVar[Value.Type]
        SET: _ClassVar[Value.Type]
        TEXT: _ClassVar[Value.Type]
    SCALAR: Value.Type
    RANGES: Value.Type
    SET: Value.Type
    TEXT: Value.Type
    class Range(_message.Message):
        __slots__ = ("begin", "end")
        BEGIN_FIELD_NUMBER: _ClassVar[int]
        END_FIELD_NUMBER: _ClassVar[int]
        begin: int
        end: int
        def __init__(self, begin: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...
    class Ranges(_message.Message):
        __slots__ = ("range",)
        RANGE_FIELD_NUMBER: _ClassVar[int]
        range: _containers.RepeatedCompositeFieldContainer[Value.Range]
        def __init__(self, range: _Optional[_Iterable[_Union[Value.Range, _Mapping]]] = ...) -> None: ...
    class Scalar(_message.Message):
        __slots__ = ("value",)
        VALUE_FIELD_NUMBER: _ClassVar[int]
        value: float
        def __init__(self, value: _Optional[float] = ...) -> None: ...
    class Set(_message.Message):
        __slots__ = ("item",)
        ITEM_FIELD_NUMBER: _ClassVar[int]
        item: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, item: _Optional[_Iterable[str]] = ...) -> None: ...
    class Text(_message.Message):
        __slots__ = ("value",)
        VALUE_FIELD_NUMBER: _ClassVar[int]
        value: str
        def __init__(self, value: _Optional[str] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    type: Value.Type
    scalar: Value.Scalar
    ranges: Value.Ranges
    set: Value.Set
    text: Value.Text
    def __init__(self, type: _Optional[_Union[Value.Type, str]] = ..., scalar: _Optional[_Union[Value.Scalar, _Mapping]] = ..., ranges: _Optional[_Union[Value.Ranges, _Mapping]] = ..., set: _Optional[_Union[Value.Set, _Mapping]] = ..., text: _Optional[_Union[Value.Text, _Mapping]] = ...) -> None: ...

class VersionInfo(_message.Message):
    __slots__ = ("version", "build_date", "build_time", "build_user", "git_sha", "git_branch", "git_tag")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BUILD_DATE_FIELD_NUMBER: _ClassVar[int]
    BUILD_TIME_FIELD_NUMBER: _ClassVar[int]
    BUILD_USER_FIELD_NUMBER: _ClassVar[int]
    GIT_SHA_FIELD_NUMBER: _ClassVar[int]
    GIT_BRANCH_FIELD_NUMBER: _ClassVar[int]
    GIT_TAG_FIELD_NUMBER: _ClassVar[int]
    version: str
    build_date: str
    build_time: float
    build_user: str
    git_sha: str
    git_branch: str
    git_tag: str
    def __init__(self, version: _Optional[str] = ..., build_date: _Optional[str] = ..., build_time: _Optional[float] = ..., build_user: _Optional[str] = ..., git_sha: _Optional[str] = ..., git_branch: _Optional[str] = ..., git_tag: _Optional[str] = ...) -> None: ...

class Volume(_message.Message):
    __slots__ = ("container_path", "host_path", "mode", "image", "source")
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        RW: _ClassVar[Volume.Mode]
        RO: _ClassVar[Volume.Mode]
    RW: Volume.Mode
    RO: Volume.Mode
    class Source(_message.Message):
        __slots__ = ("type", "docker_volume", "sandbox_path", "secret", "host_path", "csi_volume")
        class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[Volume.Source.Type]
            DOCKER_VOLUME: _ClassVar[Volume.Source.Type]
            SANDBOX_PATH: _ClassVar[Volume.Source.Type]
            SECRET: _ClassVar[Volume.Source.Type]
            HOST_PATH: _ClassVar[Volume.Source.Type]
            CSI_VOLUME: _ClassVar[Volume.Source.Type]
        UNKNOWN: Volume.Source.Type
        DOCKER_VOLUME: Volume.Source.Type
        SANDBOX_PATH: Volume.Source.Type
        SECRET: Volume.Source.Type
        HOST_PATH: Volume.Source.Type
        CSI_VOLUME: Volume.Source.Type
        class CSIVolume(_message.Message):
            __slots__ = ("plugin_name", "static_provisioning")
            class StaticProvisioning(_message.Message):
                __slots__ = ("volume_id", "volume_capability", "node_stage_secrets", "node_publish_secrets", "volume_context")
                class NodeStageSecretsEntry(_message.Message):
                    __slots__ = ("key", "value")
                    KEY_FIELD_NUMBER: _ClassVar[int]
                    VALUE_FIELD_NUMBER: _ClassVar[int]
                    key: str
                    value: Secret
                    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...
                class NodePublishSecretsEntry(_message.Message):
                    __slots__ = ("key", "value")
                    KEY_FIELD_NUMBER: _ClassVar[int]
                    VALUE_FIELD_NUMBER: _ClassVar[int]
                    key: str
                    value: Secret
                    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...
                class VolumeContextEntry(_message.Message):
                    __slots__ = ("key", "value")
                    KEY_FIELD_NUMBER: _ClassVar[int]
                    VALUE_FIELD_NUMBER: _ClassVar[int]
                    key: str
                    value: str
                    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
                VOLUME_ID_FIELD_NUMBER: _ClassVar[int]
                VOLUME_CAPABILITY_FIELD_NUMBER: _ClassVar[int]
                NODE_STAGE_SECRETS_FIELD_NUMBER: _ClassVar[int]
                NODE_PUBLISH_SECRETS_FIELD_NUMBER: _ClassVar[int]
                VOLUME_CONTEXT_FIELD_NUMBER: _ClassVar[int]
                volume_id: str
                volume_capability: Volume.Source.CSIVolume.VolumeCapability
                node_stage_secrets: _containers.MessageMap[str, Secret]
                node_publish_secrets: _containers.MessageMap[str, Secret]
                volume_context: _containers.ScalarMap[str, str]
                def __init__(self, volume_id: _Optional[str] = ..., volume_capability: _Optional[_Union[Volume.Source.CSIVolume.VolumeCapability, _Mapping]] = ..., node_stage_secrets: _Optional[_Mapping[str, Secret]] = ..., node_publish_secrets: _Optional[_Mapping[str, Secret]] = ..., volume_context: _Optional[_Mapping[str, str]] = ...) -> None: ...
            class VolumeCapability(_message.Message):
                __slots__ = ("block", "mount", "access_mode")
                class AccessMode(_message.Message):
                    __slots__ = ("mode",)
                    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                        __slots__ = ()
                        UNKNOWN: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                        SINGLE_NODE_WRITER: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                        SINGLE_NODE_READER_ONLY: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                        MULTI_NODE_READER_ONLY: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                        MULTI_NODE_SINGLE_WRITER: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                        MULTI_NODE_MULTI_WRITER: _ClassVar[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode]
                    UNKNOWN: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    SINGLE_NODE_WRITER: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    SINGLE_NODE_READER_ONLY: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    MULTI_NODE_READER_ONLY: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    MULTI_NODE_SINGLE_WRITER: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    MULTI_NODE_MULTI_WRITER: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    MODE_FIELD_NUMBER: _ClassVar[int]
                    mode: Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode
                    def __init__(self, mode: _Optional[_Union[Volume.Source.CSIVolume.VolumeCapability.AccessMode.Mode, str]] = ...) -> None: ...
                class BlockVolume(_message.Message):
                    __slots__ = ()
                    def __init__(self) -> None: ...
                class MountVolume(_message.Message):
                    __slots__ = ("fs_type", "mount_flags")
                    FS_TYPE_FIELD_NUMBER: _ClassVar[int]
                    MOUNT_FLAGS_FIELD_NUMBER: _ClassVar[int]
                    fs_type: str
                    mount_flags: _containers.RepeatedScalarFieldContainer[str]
                    def __init__(self, fs_type: _Optional[str] = ..., mount_flags: _Optional[_Iterable[str]] = ...) -> None: ...
                BLOCK_FIELD_NUMBER: _ClassVar[int]
                MOUNT_FIELD_NUMBER: _ClassVar[int]
                ACCESS_MODE_FIELD_NUMBER: _ClassVar[int]
                block: Volume.Source.CSIVolume.VolumeCapability.BlockVolume
                mount: Volume.Source.CSIVolume.VolumeCapability.MountVolume
                access_mode: Volume.Source.CSIVolume.VolumeCapability.AccessMode
                def __init__(self, block: _Optional[_Union[Volume.Source.CSIVolume.VolumeCapability.BlockVolume, _Mapping]] = ..., mount: _Optional[_Union[Volume.Source.CSIVolume.VolumeCapability.MountVolume, _Mapping]] = ..., access_mode: _Optional[_Union[Volume.Source.CSIVolume.VolumeCapability.AccessMode, _Mapping]] = ...) -> None: ...
            PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
            STATIC_PROVISIONING_FIELD_NUMBER: _ClassVar[int]
            plugin_name: str
            static_provisioning: Volume.Source.CSIVolume.StaticProvisioning
            def __init__(self, plugin_name: _Optional[str] = ..., static_provisioning: _Optional[_Union[Volume.Source.CSIVolume.StaticProvisioning, _Mapping]] = ...) -> None: ...
        class DockerVolume(_message.Message):
            __slots__ = ("driver", "name", "driver_options")
            DRIVER_FIELD_NUMBER: _ClassVar[int]
            NAME_FIELD_NUMBER: _ClassVar[int]
            DRIVER_OPTIONS_FIELD_NUMBER: _ClassVar[int]
            driver: str
            name: str
            driver_options: Parameters
            def __init__(self, driver: _Optional[str] = ..., name: _Optional[str] = ..., driver_options: _Optional[_Union[Parameters, _Mapping]] = ...) -> None: ...
        class HostPath(_message.Message):
            __slots__ = ("path", "mount_propagation")
            PATH_FIELD_NUMBER: _ClassVar[int]
            MOUNT_PROPAGATION_FIELD_NUMBER: _ClassVar[int]
            path: str
            mount_propagation: MountPropagation
            def __init__(self, path: _Optional[str] = ..., mount_propagation: _Optional[_Union[MountPropagation, _Mapping]] = ...) -> None: ...
        class SandboxPath(_message.Message):
            __slots__ = ("type", "path")
            class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                UNKNOWN: _ClassVar[Volume.Source.SandboxPath.Type]
                SELF: _ClassVar[Volume.Source.SandboxPath.Type]
                PARENT: _ClassVar[Volume.Source.SandboxPath.Type]
            UNKNOWN: Volume.Source.SandboxPath.Type
            SELF: Volume.Source.SandboxPath.Type
            PARENT: Volume.Source.SandboxPath.Type
            TYPE_FIELD_NUMBER: _ClassVar[int]
            PATH_FIELD_NUMBER: _ClassVar[int]
            type: Volume.Source.SandboxPath.Type
            path: str
            def __init__(self, type: _Optional[_Union[Volume.Source.SandboxPath.Type, str]] = ..., path: _Optional[str] = ...) -> None: ...
        TYPE_FIELD_NUMBER: _ClassVar[int]
        DOCKER_VOLUME_FIELD_NUMBER: _ClassVar[int]
        SANDBOX_PATH_FIELD_NUMBER: _ClassVar[int]
        SECRET_FIELD_NUMBER: _ClassVar[int]
        HOST_PATH_FIELD_NUMBER: _ClassVar[int]
        CSI_VOLUME_FIELD_NUMBER: _ClassVar[int]
        type: Volume.Source.Type
        docker_volume: Volume.Source.DockerVolume
        sandbox_path: Volume.Source.SandboxPath
        secret: Secret
        host_path: Volume.Source.HostPath
        csi_volume: Volume.Source.CSIVolume
        def __init__(self, type: _Optional[_Union[Volume.Source.Type, str]] = ..., docker_volume: _Optional[_Union[Volume.Source.DockerVolume, _Mapping]] = ..., sandbox_path: _Optional[_Union[Volume.Source.SandboxPath, _Mapping]] = ..., secret: _Optional[_Union[Secret, _Mapping]] = ..., host_path: _Optional[_Union[Volume.Source.HostPath, _Mapping]] = ..., csi_volume: _Optional[_Union[Volume.Source.CSIVolume, _Mapping]] = ...) -> None: ...
    CONTAINER_PATH_FIELD_NUMBER: _ClassVar[int]
    HOST_PATH_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    container_path: str
    host_path: str
    mode: Volume.Mode
    image: Image
    source: Volume.Source
    def __init__(self, container_path: _Optional[str] = ..., host_path: _Optional[str] = ..., mode: _Optional[_Union[Volume.Mode, str]] = ..., image: _Optional[_Union[Image, _Mapping]] = ..., source: _Optional[_Union[Volume.Source, _Mapping]] = ...) -> None: ...

class WeightInfo(_message.Message):
    __slots__ = ("weight", "role")
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    weight: float
    role: str
    def __init__(self, weight: _Optional[float] = ..., role: _Optional[str] = ...) -> None: ...
