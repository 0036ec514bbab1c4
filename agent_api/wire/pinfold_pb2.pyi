from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CpuReport(_message.Message):
    __slots__ = ("topology", "profiles", "cpusets", "profile_source", "floor_cpus")
    TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    CPUSETS_FIELD_NUMBER: _ClassVar[int]
    PROFILE_SOURCE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_CPUS_FIELD_NUMBER: _ClassVar[int]
    topology: Topology
    profiles: _containers.RepeatedCompositeFieldContainer[Profile]
    cpusets: _containers.RepeatedCompositeFieldContainer[Cpuset]
    profile_source: ProfileSource
    floor_cpus: int
    def __init__(self, topology: _Optional[_Union[Topology, _Mapping]] = ..., profiles: _Optional[_Iterable[_Union[Profile, _Mapping]]] = ..., cpusets: _Optional[_Iterable[_Union[Cpuset, _Mapping]]] = ..., profile_source: _Optional[_Union[ProfileSource, _Mapping]] = ..., floor_cpus: _Optional[int] = ...) -> None: ...

class Topology(_message.Message):
    __slots__ = ("cpus", "nodes", "offline", "isolated", "allowed", "reserved", "floor", "warnings", "enforcement")
    class Cpu(_message.Message):
        __slots__ = ("id", "core", "package", "die", "llc", "numa_node", "kind")
        ID_FIELD_NUMBER: _ClassVar[int]
        CORE_FIELD_NUMBER: _ClassVar[int]
        PACKAGE_FIELD_NUMBER: _ClassVar[int]
        DIE_FIELD_NUMBER: _ClassVar[int]
        LLC_FIELD_NUMBER: _ClassVar[int]
        NUMA_NODE_FIELD_NUMBER: _ClassVar[int]
        KIND_FIELD_NUMBER: _ClassVar[int]
        id: int
        core: int
        package: int
        die: int
        llc: int
        numa_node: int
        kind: str
        def __init__(self, id: _Optional[int] = ..., core: _Optional[int] = ..., package: _Optional[int] = ..., die: _Optional[int] = ..., llc: _Optional[int] = ..., numa_node: _Optional[int] = ..., kind: _Optional[str] = ...) -> None: ...
    class Node(_message.Message):
        __slots__ = ("id", "cpus", "memory_bytes", "distances")
        ID_FIELD_NUMBER: _ClassVar[int]
        CPUS_FIELD_NUMBER: _ClassVar[int]
        MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
        DISTANCES_FIELD_NUMBER: _ClassVar[int]
        id: int
        cpus: str
        memory_bytes: int
        distances: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, id: _Optional[int] = ..., cpus: _Optional[str] = ..., memory_bytes: _Optional[int] = ..., distances: _Optional[_Iterable[int]] = ...) -> None: ...
    CPUS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    OFFLINE_FIELD_NUMBER: _ClassVar[int]
    ISOLATED_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    cpus: _containers.RepeatedCompositeFieldContainer[Topology.Cpu]
    nodes: _containers.RepeatedCompositeFieldContainer[Topology.Node]
    offline: str
    isolated: str
    allowed: str
    reserved: str
    floor: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    enforcement: str
    def __init__(self, cpus: _Optional[_Iterable[_Union[Topology.Cpu, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[Topology.Node, _Mapping]]] = ..., offline: _Optional[str] = ..., isolated: _Optional[str] = ..., allowed: _Optional[str] = ..., reserved: _Optional[str] = ..., floor: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., enforcement: _Optional[str] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("name", "state", "reason", "since", "definition", "placeable")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Profile.State]
        ACTIVE: _ClassVar[Profile.State]
        INACTIVE: _ClassVar[Profile.State]
        CHANGE_REFUSED: _ClassVar[Profile.State]
    UNKNOWN: Profile.State
    ACTIVE: Profile.State
    INACTIVE: Profile.State
    CHANGE_REFUSED: Profile.State
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    PLACEABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    state: Profile.State
    reason: str
    since: float
    definition: str
    placeable: bool
    def __init__(self, name: _Optional[str] = ..., state: _Optional[_Union[Profile.State, str]] = ..., reason: _Optional[str] = ..., since: _Optional[float] = ..., definition: _Optional[str] = ..., placeable: bool = ...) -> None: ...

class ProfileSource(_message.Message):
    __slots__ = ("uri", "last_fetch", "ok", "outcome", "in_force_since")
    URI_FIELD_NUMBER: _ClassVar[int]
    LAST_FETCH_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    IN_FORCE_SINCE_FIELD_NUMBER: _ClassVar[int]
    uri: str
    last_fetch: float
    ok: bool
    outcome: str
    in_force_since: float
    def __init__(self, uri: _Optional[str] = ..., last_fetch: _Optional[float] = ..., ok: bool = ..., outcome: _Optional[str] = ..., in_force_since: _Optional[float] = ...) -> None: ...

class Cpuset(_message.Message):
    __slots__ = ("id", "type", "profile", "pool", "role", "framework_id", "cpus", "blocked", "mems", "cgroup", "enforcement", "state", "reason", "created", "charges", "burst", "lifetime", "growth", "revocable")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Cpuset.State]
        OK: _ClassVar[Cpuset.State]
        DEGRADED: _ClassVar[Cpuset.State]
        REVOKED: _ClassVar[Cpuset.State]
    UNKNOWN: Cpuset.State
    OK: Cpuset.State
    DEGRADED: Cpuset.State
    REVOKED: Cpuset.State
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN_TYPE: _ClassVar[Cpuset.Type]
        EXCLUSIVE: _ClassVar[Cpuset.Type]
        SHARED: _ClassVar[Cpuset.Type]
    UNKNOWN_TYPE: Cpuset.Type
    EXCLUSIVE: Cpuset.Type
    SHARED: Cpuset.Type
    class ZoneCharge(_message.Message):
        __slots__ = ("zone", "cpus")
        ZONE_FIELD_NUMBER: _ClassVar[int]
        CPUS_FIELD_NUMBER: _ClassVar[int]
        zone: str
        cpus: int
        def __init__(self, zone: _Optional[str] = ..., cpus: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    CPUS_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    MEMS_FIELD_NUMBER: _ClassVar[int]
    CGROUP_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    CHARGES_FIELD_NUMBER: _ClassVar[int]
    BURST_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    GROWTH_FIELD_NUMBER: _ClassVar[int]
    REVOCABLE_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: Cpuset.Type
    profile: str
    pool: str
    role: str
    framework_id: str
    cpus: str
    blocked: str
    mems: str
    cgroup: str
    enforcement: str
    state: Cpuset.State
    reason: str
    created: float
    charges: _containers.RepeatedCompositeFieldContainer[Cpuset.ZoneCharge]
    burst: float
    lifetime: str
    growth: int
    revocable: bool
    def __init__(self, id: _Optional[str] = ..., type: _Optional[_Union[Cpuset.Type, str]] = ..., profile: _Optional[str] = ..., pool: _Optional[str] = ..., role: _Optional[str] = ..., framework_id: _Optional[str] = ..., cpus: _Optional[str] = ..., blocked: _Optional[str] = ..., mems: _Optional[str] = ..., cgroup: _Optional[str] = ..., enforcement: _Optional[str] = ..., state: _Optional[_Union[Cpuset.State, str]] = ..., reason: _Optional[str] = ..., created: _Optional[float] = ..., charges: _Optional[_Iterable[_Union[Cpuset.ZoneCharge, _Mapping]]] = ..., burst: _Optional[float] = ..., lifetime: _Optional[str] = ..., growth: _Optional[int] = ..., revocable: bool = ...) -> None: ...

class CpusetMove(_message.Message):
    __slots__ = ("cpuset_id", "profile", "role", "from_cpus", "to_cpus", "from_mems", "to_mems", "gains", "done", "reason")
    class Gain(_message.Message):
        __slots__ = ("what", "before", "after")
        WHAT_FIELD_NUMBER: _ClassVar[int]
        BEFORE_FIELD_NUMBER: _ClassVar[int]
        AFTER_FIELD_NUMBER: _ClassVar[int]
        what: str
        before: int
        after: int
        def __init__(self, what: _Optional[str] = ..., before: _Optional[int] = ..., after: _Optional[int] = ...) -> None: ...
    CPUSET_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    FROM_CPUS_FIELD_NUMBER: _ClassVar[int]
    TO_CPUS_FIELD_NUMBER: _ClassVar[int]
    FROM_MEMS_FIELD_NUMBER: _ClassVar[int]
    TO_MEMS_FIELD_NUMBER: _ClassVar[int]
    GAINS_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    cpuset_id: str
    profile: str
    role: str
    from_cpus: str
    to_cpus: str
    from_mems: str
    to_mems: str
    gains: _containers.RepeatedCompositeFieldContainer[CpusetMove.Gain]
    done: bool
    reason: str
    def __init__(self, cpuset_id: _Optional[str] = ..., profile: _Optional[str] = ..., role: _Optional[str] = ..., from_cpus: _Optional[str] = ..., to_cpus: _Optional[str] = ..., from_mems: _Optional[str] = ..., to_mems: _Optional[str] = ..., gains: _Optional[_Iterable[_Union[CpusetMove.Gain, _Mapping]]] = ..., done: bool = ..., reason: _Optional[str] = ...) -> None: ...
