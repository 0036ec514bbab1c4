from agent_api.wire import mesos_pb2 as _mesos_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InverseOfferStatus(_message.Message):
    __slots__ = ("status", "framework_id", "timestamp")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[InverseOfferStatus.Status]
        ACCEPT: _ClassVar[InverseOfferStatus.Status]
        DECLINE: _ClassVar[InverseOfferStatus.Status]
    UNKNOWN: InverseOfferStatus.Status
    ACCEPT: InverseOfferStatus.Status
    DECLINE: InverseOfferStatus.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    status: InverseOfferStatus.Status
    framework_id: _mesos_pb2.FrameworkID
    timestamp: _mesos_pb2.TimeInfo
    def __init__(self, status: _Optional[_Union[InverseOfferStatus.Status, str]] = ..., framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., timestamp: _Optional[_Union[_mesos_pb2.TimeInfo, _Mapping]] = ...) -> None: ...
