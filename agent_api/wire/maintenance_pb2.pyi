from agent_api.wire import allocator_pb2 as _allocator_pb2
from agent_api.wire import mesos_pb2 as _mesos_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClusterStatus(_message.Message):
    __slots__ = ("draining_machines", "down_machines")
    class DrainingMachine(_message.Message):
        __slots__ = ("id", "statuses")
        ID_FIELD_NUMBER: _ClassVar[int]
        STATUSES_FIELD_NUMBER: _ClassVar[int]
        id: _mesos_pb2.MachineID
        statuses: _containers.RepeatedCompositeFieldContainer[_allocator_pb2.InverseOfferStatus]
        def __init__(self, id: _Optional[_Union[_mesos_pb2.MachineID, _Mapping]] = ..., statuses: _Optional[_Iterable[_Union[_allocator_pb2.InverseOfferStatus, _Mapping]]] = ...) -> None: ...
    DRAINING_MACHINES_FIELD_NUMBER: _ClassVar[int]
    DOWN_MACHINES_FIELD_NUMBER: _ClassVar[int]
    draining_machines: _containers.RepeatedCompositeFieldContainer[ClusterStatus.DrainingMachine]
    down_machines: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.MachineID]
    def __init__(self, draining_machines: _Optional[_Iterable[_Union[ClusterStatus.DrainingMachine, _Mapping]]] = ..., down_machines: _Optional[_Iterable[_Union[_mesos_pb2.MachineID, _Mapping]]] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("windows",)
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    windows: _containers.RepeatedCompositeFieldContainer[Window]
    def __init__(self, windows: _Optional[_Iterable[_Union[Window, _Mapping]]] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ("machine_ids", "unavailability")
    MACHINE_IDS_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    machine_ids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.MachineID]
    unavailability: _mesos_pb2.Unavailability
    def __init__(self, machine_ids: _Optional[_Iterable[_Union[_mesos_pb2.MachineID, _Mapping]]] = ..., unavailability: _Optional[_Union[_mesos_pb2.Unavailability, _Mapping]] = ...) -> None: ...
