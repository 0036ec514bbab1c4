from agent_api.wire import mesos_pb2 as _mesos_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class QuotaConfig(_message.Message):
    __slots__ = ("role", "guarantees", "limits")
    class GuaranteesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _mesos_pb2.Value.Scalar
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_mesos_pb2.Value.Scalar, _Mapping]] = ...) -> None: ...
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _mesos_pb2.Value.Scalar
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_mesos_pb2.Value.Scalar, _Mapping]] = ...) -> None: ...
    ROLE_FIELD_NUMBER: _ClassVar[int]
    GUARANTEES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    role: str
    guarantees: _containers.MessageMap[str, _mesos_pb2.Value.Scalar]
    limits: _containers.MessageMap[str, _mesos_pb2.Value.Scalar]
    def __init__(self, role: _Optional[str] = ..., guarantees: _Optional[_Mapping[str, _mesos_pb2.Value.Scalar]] = ..., limits: _Optional[_Mapping[str, _mesos_pb2.Value.Scalar]] = ...) -> None: ...

class QuotaInfo(_message.Message):
    __slots__ = ("role", "principal", "guarantee")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    GUARANTEE_FIELD_NUMBER: _ClassVar[int]
    role: str
    principal: str
    guarantee: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
    def __init__(self, role: _Optional[str] = ..., principal: _Optional[str] = ..., guarantee: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...

class QuotaRequest(_message.Message):
    __slots__ = ("force", "role", "guarantee")
    FORCE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    GUARANTEE_FIELD_NUMBER: _ClassVar[int]
    force: bool
    role: str
    guarantee: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Resource]
    def __init__(self, force: bool = ..., role: _Optional[str] = ..., guarantee: _Optional[_Iterable[_Union[_mesos_pb2.Resource, _Mapping]]] = ...) -> None: ...

class QuotaStatus(_message.Message):
    __slots__ = ("infos", "configs")
    INFOS_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    infos: _containers.RepeatedCompositeFieldContainer[QuotaInfo]
    configs: _containers.RepeatedCompositeFieldContainer[QuotaConfig]
    def __init__(self, infos: _Optional[_Iterable[_Union[QuotaInfo, _Mapping]]] = ..., configs: _Optional[_Iterable[_Union[QuotaConfig, _Mapping]]] = ...) -> None: ...
