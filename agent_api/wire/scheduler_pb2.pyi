from agent_api.wire import mesos_pb2 as _mesos_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AttributeConstraint(_message.Message):
    __slots__ = ("selector", "predicate")
    class Predicate(_message.Message):
        __slots__ = ("exists", "not_exists", "text_equals", "text_not_equals", "text_matches", "text_not_matches")
        class Exists(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class NotExists(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class TextEquals(_message.Message):
            __slots__ = ("value",)
            VALUE_FIELD_NUMBER: _ClassVar[int]
            value: str
            def __init__(self, value: _Optional[str] = ...) -> None: ...
        class TextMatches(_message.Message):
            __slots__ = ("regex",)
            REGEX_FIELD_NUMBER: _ClassVar[int]
            regex: str
            def __init__(self, regex: _Optional[str] = ...) -> None: ...
        class TextNotEquals(_message.Message):
            __slots__ = ("value",)
            VALUE_FIELD_NUMBER: _ClassVar[int]
            value: str
            def __init__(self, value: _Optional[str] = ...) -> None: ...
        class TextNotMatches(_message.Message):
            __slots__ = ("regex",)
            REGEX_FIELD_NUMBER: _ClassVar[int]
            regex: str
            def __init__(self, regex: _Optional[str] = ...) -> None: ...
        EXISTS_FIELD_NUMBER: _ClassVar[int]
        NOT_EXISTS_FIELD_NUMBER: _ClassVar[int]
        TEXT_EQUALS_FIELD_NUMBER: _ClassVar[int]
        TEXT_NOT_EQUALS_FIELD_NUMBER: _ClassVar[int]
        TEXT_MATCHES_FIELD_NUMBER: _ClassVar[int]
        TEXT_NOT_MATCHES_FIELD_NUMBER: _ClassVar[int]
        exists: AttributeConstraint.Predicate.Exists
        not_exists: AttributeConstraint.Predicate.NotExists
        text_equals: AttributeConstraint.Predicate.TextEquals
        text_not_equals: AttributeConstraint.Predicate.TextNotEquals
        text_matches: AttributeConstraint.Predicate.TextMatches
        text_not_matches: AttributeConstraint.Predicate.TextNotMatches
        def __init__(self, exists: _Optional[_Union[AttributeConstraint.Predicate.Exists, _Mapping]] = ..., not_exists: _Optional[_Union[AttributeConstraint.Predicate.NotExists, _Mapping]] = ..., text_equals: _Optional[_Union[AttributeConstraint.Predicate.TextEquals, _Mapping]] = ..., text_not_equals: _Optional[_Union[AttributeConstraint.Predicate.TextNotEquals, _Mapping]] = ..., text_matches: _Optional[_Union[AttributeConstraint.Predicate.TextMatches, _Mapping]] = ..., text_not_matches: _Optional[_Union[AttributeConstraint.Predicate.TextNotMatches, _Mapping]] = ...) -> None: ...
    class Selector(_message.Message):
        __slots__ = ("pseudoattribute_type", "attribute_name")
        class PseudoattributeType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[AttributeConstraint.Selector.PseudoattributeType]
            HOSTNAME: _ClassVar[AttributeConstraint.Selector.PseudoattributeType]
            REGION: _ClassVar[AttributeConstraint.Selector.PseudoattributeType]
            ZONE: _ClassVar[AttributeConstraint.Selector.PseudoattributeType]
        UNKNOWN: AttributeConstraint.Selector.PseudoattributeType
        HOSTNAME: AttributeConstraint.Selector.PseudoattributeType
        REGION: AttributeConstraint.Selector.PseudoattributeType
        ZONE: AttributeConstraint.Selector.PseudoattributeType
        PSEUDOATTRIBUTE_TYPE_FIELD_NUMBER: _ClassVar[int]
        ATTRIBUTE_NAME_FIELD_NUMBER: _ClassVar[int]
        pseudoattribute_type: AttributeConstraint.Selector.PseudoattributeType
        attribute_name: str
        def __init__(self, pseudoattribute_type: _Optional[_Union[AttributeConstraint.Selector.PseudoattributeType, str]] = ..., attribute_name: _Optional[str] = ...) -> None: ...
    SELECTOR_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    selector: AttributeConstraint.Selector
    predicate: AttributeConstraint.Predicate
    def __init__(self, selector: _Optional[_Union[AttributeConstraint.Selector, _Mapping]] = ..., predicate: _Optional[_Union[AttributeConstraint.Predicate, _Mapping]] = ...) -> None: ...

class Call(_message.Message):
    __slots__ = ("framework_id", "type", "subscribe", "accept", "decline", "kill", "shutdown", "acknowledge", "reconcile", "message", "request", "accept_inverse_offers", "decline_inverse_offers", "revive", "suppress", "acknowledge_operation_status", "reconcile_operations", "update_framework")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Call.Type]
        SUBSCRIBE: _ClassVar[Call.Type]
        TEARDOWN: _ClassVar[Call.Type]
        ACCEPT: _ClassVar[Call.Type]
        DECLINE: _ClassVar[Call.Type]
        REVIVE: _ClassVar[Call.Type]
        KILL: _ClassVar[Call.Type]
        SHUTDOWN: _ClassVar[Call.Type]
        ACKNOWLEDGE: _ClassVar[Call.Type]
        RECONCILE: _ClassVar[Call.Type]
        MESSAGE: _ClassVar[Call.Type]
        REQUEST: _ClassVar[Call.Type]
        SUPPRESS: _ClassVar[Call.Type]
        ACCEPT_INVERSE_OFFERS: _ClassVar[Call.Type]
        DECLINE_INVERSE_OFFERS: _ClassVar[Call.Type]
        ACKNOWLEDGE_OPERATION_STATUS: _ClassVar[Call.Type]
        RECONCILE_OPERATIONS: _ClassVar[Call.Type]
        UPDATE_FRAMEWORK: _ClassVar[Call.Type]
    UNKNOWN: Call.Type
    SUBSCRIBE: Call.Type
    TEARDOWN: Call.Type
    ACCEPT: Call.Type
    DECLINE: Call.Type
    REVIVE: Call.Type
    KILL: Call.Type
    SHUTDOWN: Call.Type
    ACKNOWLEDGE: Call.Type
    RECONCILE: Call.Type
    MESSAGE: Call.Type
    REQUEST: Call.Type
    SUPPRESS: Call.Type
    ACCEPT_INVERSE_OFFERS: Call.Type
    DECLINE_INVERSE_OFFERS: Call.Type
    ACKNOWLEDGE_OPERATION_STATUS: Call.Type
    RECONCILE_OPERATIONS: Call.Type
    UPDATE_FRAMEWORK: Call.Type
    class Accept(_message.Message):
        __slots__ = ("offer_ids", "operations", "filters")
        OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
        OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        FILTERS_FIELD_NUMBER: _ClassVar[int]
        offer_ids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.OfferID]
        operations: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Offer.Operation]
        filters: _mesos_pb2.Filters
        def __init__(self, offer_ids: _Optional[_Iterable[_Union[_mesos_pb2.OfferID, _Mapping]]] = ..., operations: _Optional[_Iterable[_Union[_mesos_pb2.Offer.Operation, _Mapping]]] = ..., filters: _Optional[_Union[_mesos_pb2.Filters, _Mapping]] = ...) -> None: ...
    class AcceptInverseOffers(_message.Message):
        __slots__ = ("inverse_offer_ids", "filters")
        INVERSE_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
        FILTERS_FIELD_NUMBER: _ClassVar[int]
        inverse_offer_ids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.OfferID]
        filters: _mesos_pb2.Filters
        def __init__(self, inverse_offer_ids: _Optional[_Iterable[_Union[_mesos_pb2.OfferID, _Mapping]]] = ..., filters: _Optional[_Union[_mesos_pb2.Filters, _Mapping]] = ...) -> None: ...
    class Acknowledge(_message.Message):
        __slots__ = ("agent_id", "task_id", "uuid")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        TASK_ID_FIELD_NUMBER: _ClassVar[int]
        UUID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        task_id: _mesos_pb2.TaskID
        uuid: bytes
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., task_id: _Optional[_Union[_mesos_pb2.TaskID, _Mapping]] = ..., uuid: _Optional[bytes] = ...) -> None: ...
    class AcknowledgeOperationStatus(_message.Message):
        __slots__ = ("agent_id", "resource_provider_id", "uuid", "operation_id")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        RESOURCE_PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
        UUID_FIELD_NUMBER: _ClassVar[int]
        OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        resource_provider_id: _mesos_pb2.ResourceProviderID
        uuid: bytes
        operation_id: _mesos_pb2.OperationID
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., resource_provider_id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ..., uuid: _Optional[bytes] = ..., operation_id: _Optional[_Union[_mesos_pb2.OperationID, _Mapping]] = ...) -> None: ...
    class Decline(_message.Message):
        __slots__ = ("offer_ids", "filters")
        OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
        FILTERS_FIELD_NUMBER: _ClassVar[int]
        offer_ids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.OfferID]
        filters: _mesos_pb2.Filters
        def __init__(self, offer_ids: _Optional[_Iterable[_Union[_mesos_pb2.OfferID, _Mapping]]] = ..., filters: _Optional[_Union[_mesos_pb2.Filters, _Mapping]] = ...) -> None: ...
    class DeclineInverseOffers(_message.Message):
        __slots__ = ("inverse_offer_ids", "filters")
        INVERSE_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
        FILTERS_FIELD_NUMBER: _ClassVar[int]
        inverse_offer_ids: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.OfferID]
        filters: _mesos_pb2.Filters
        def __init__(self, inverse_offer_ids: _Optional[_Iterable[_Union[_mesos_pb2.OfferID, _Mapping]]] = ..., filters: _Optional[_Union[_mesos_pb2.Filters, _Mapping]] = ...) -> None: ...
    class Kill(_message.Message):
        __slots__ = ("task_id", "agent_id", "kill_policy")
        TASK_ID_FIELD_NUMBER: _ClassVar[int]
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        KILL_POLICY_FIELD_NUMBER: _ClassVar[int]
        task_id: _mesos_pb2.TaskID
        agent_id: _mesos_pb2.AgentID
        kill_policy: _mesos_pb2.KillPolicy
        def __init__(self, task_id: _Optional[_Union[_mesos_pb2.TaskID, _Mapping]] = ..., agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., kill_policy: _Optional[_Union[_mesos_pb2.KillPolicy, _Mapping]] = ...) -> None: ...
    class Message(_message.Message):
        __slots__ = ("agent_id", "executor_id", "data")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
        DATA_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        executor_id: _mesos_pb2.ExecutorID
        data: bytes
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., executor_id: _Optional[_Union[_mesos_pb2.ExecutorID, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...
    class Reconcile(_message.Message):
        __slots__ = ("tasks",)
        class Task(_message.Message):
            __slots__ = ("task_id", "agent_id")
            TASK_ID_FIELD_NUMBER: _ClassVar[int]
            AGENT_ID_FIELD_NUMBER: _ClassVar[int]
            task_id: _mesos_pb2.TaskID
            agent_id: _mesos_pb2.AgentID
            def __init__(self, task_id: _Optional[_Union[_mesos_pb2.TaskID, _Mapping]] = ..., agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
        TASKS_FIELD_NUMBER: _ClassVar[int]
        tasks: _containers.RepeatedCompositeFieldContainer[Call.Reconcile.Task]
        def __init__(self, tasks: _Optional[_Iterable[_Union[Call.Reconcile.Task, _Mapping]]] = ...) -> None: ...
    class ReconcileOperations(_message.Message):
        __slots__ = ("operations",)
        class Operation(_message.Message):
            __slots__ = ("operation_id", "agent_id", "resource_provider_id")
            OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
            AGENT_ID_FIELD_NUMBER: _ClassVar[int]
            RESOURCE_PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
            operation_id: _mesos_pb2.OperationID
            agent_id: _mesos_pb2.AgentID
            resource_provider_id: _mesos_pb2.ResourceProviderID
            def __init__(self, operation_id: _Optional[_Union[_mesos_pb2.OperationID, _Mapping]] = ..., agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., resource_provider_id: _Optional[_Union[_mesos_pb2.ResourceProviderID, _Mapping]] = ...) -> None: ...
        OPERATIONS_FIELD_NUMBER: _ClassVar[int]
        operations: _containers.RepeatedCompositeFieldContainer[Call.ReconcileOperations.Operation]
        def __init__(self, operations: _Optional[_Iterable[_Union[Call.ReconcileOperations.Operation, _Mapping]]] = ...) -> None: ...
    class Request(_message.Message):
        __slots__ = ("requests",)
        REQUESTS_FIELD_NUMBER: _ClassVar[int]
        requests: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Request]
        def __init__(self, requests: _Optional[_Iterable[_Union[_mesos_pb2.Request, _Mapping]]] = ...) -> None: ...
    class Revive(_message.Message):
        __slots__ = ("roles",)
        ROLES_FIELD_NUMBER: _ClassVar[int]
        roles: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, roles: _Optional[_Iterable[str]] = ...) -> None: ...
    class Shutdown(_message.Message):
        __slots__ = ("executor_id", "agent_id")
        EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        executor_id: _mesos_pb2.ExecutorID
        agent_id: _mesos_pb2.AgentID
        def __init__(self, executor_id: _Optional[_Union[_mesos_pb2.ExecutorID, _Mapping]] = ..., agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ...) -> None: ...
    class Subscribe(_message.Message):
        __slots__ = ("framework_info", "suppressed_roles", "offer_constraints")
        FRAMEWORK_INFO_FIELD_NUMBER: _ClassVar[int]
        SUPPRESSED_ROLES_FIELD_NUMBER: _ClassVar[int]
        OFFER_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
        framework_info: _mesos_pb2.FrameworkInfo
        suppressed_roles: _containers.RepeatedScalarFieldContainer[str]
        offer_constraints: OfferConstraints
        def __init__(self, framework_info: _Optional[_Union[_mesos_pb2.FrameworkInfo, _Mapping]] = ..., suppressed_roles: _Optional[_Iterable[str]] = ..., offer_constraints: _Optional[_Union[OfferConstraints, _Mapping]] = ...) -> None: ...
    class Suppress(_message.Message):
        __slots__ = ("roles",)
        ROLES_FIELD_NUMBER: _ClassVar[int]
        roles: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, roles: _Optional[_Iterable[str]] = ...) -> None: ...
    class UpdateFramework(_message.Message):
        __slots__ = ("framework_info", "suppressed_roles", "offer_constraints")
        FRAMEWORK_INFO_FIELD_NUMBER: _ClassVar[int]
        SUPPRESSED_ROLES_FIELD_NUMBER: _ClassVar[int]
        OFFER_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
        framework_info: _mesos_pb2.FrameworkInfo
        suppressed_roles: _containers.RepeatedScalarFieldContainer[str]
        offer_constraints: OfferConstraints
        def __init__(self, framework_info: _Optional[_Union[_mesos_pb2.FrameworkInfo, _Mapping]] = ..., suppressed_roles: _Optional[_Iterable[str]] = ..., offer_constraints: _Optional[_Union[OfferConstraints, _Mapping]] = ...) -> None: ...
    FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_FIELD_NUMBER: _ClassVar[int]
    DECLINE_FIELD_NUMBER: _ClassVar[int]
    KILL_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGE_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_INVERSE_OFFERS_FIELD_NUMBER: _ClassVar[int]
    DECLINE_INVERSE_OFFERS_FIELD_NUMBER: _ClassVar[int]
    REVIVE_FIELD_NUMBER: _ClassVar[int]
    SUPPRESS_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGE_OPERATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
    framework_id: _mesos_pb2.FrameworkID
    type: Call.Type
    subscribe: Call.Subscribe
    accept: Call.Accept
    decline: Call.Decline
    kill: Call.Kill
    shutdown: Call.Shutdown
    acknowledge: Call.Acknowledge
    reconcile: Call.Reconcile
    message: Call.Message
    request: Call.Request
    accept_inverse_offers: Call.AcceptInverseOffers
    decline_inverse_offers: Call.DeclineInverseOffers
    revive: Call.Revive
    suppress: Call.Suppress
    acknowledge_operation_status: Call.AcknowledgeOperationStatus
    reconcile_operations: Call.ReconcileOperations
    update_framework: Call.UpdateFramework
    def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., type: _Optional[_Union[Call.Type, str]] = ..., subscribe: _Optional[_Union[Call.Subscribe, _Mapping]] = ..., accept: _Optional[_Union[Call.Accept, _Mapping]] = ..., decline: _Optional[_Union[Call.Decline, _Mapping]] = ..., kill: _Optional[_Union[Call.Kill, _Mapping]] = ..., shutdown: _Optional[_Union[Call.Shutdown, _Mapping]] = ..., acknowledge: _Optional[_Union[Call.Acknowledge, _Mapping]] = ..., reconcile: _Optional[_Union[Call.Reconcile, _Mapping]] = ..., message: _Optional[_Union[Call.Message, _Mapping]] = ..., request: _Optional[_Union[Call.Request, _Mapping]] = ..., accept_inverse_offers: _Optional[_Union[Call.AcceptInverseOffers, _Mapping]] = ..., decline_inverse_offers: _Optional[_Union[Call.DeclineInverseOffers, _Mapping]] = ..., revive: _Optional[_Union[Call.Revive, _Mapping]] = ..., suppress: _Optional[_Union[Call.Suppress, _Mapping]] = ..., acknowledge_operation_status: _Optional[_Union[Call.AcknowledgeOperationStatus, _Mapping]] = ..., reconcile_operations: _Optional[_Union[Call.ReconcileOperations, _Mapping]] = ..., update_framework: _Optional[_Union[Call.UpdateFramework, _Mapping]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("type", "subscribed", "offers", "rescind", "update", "message", "failure", "error", "inverse_offers", "rescind_inverse_offer", "update_operation_status")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Event.Type]
        SUBSCRIBED: _ClassVar[Event.Type]
        OFFERS: _ClassVar[Event.Type]
        RESCIND: _ClassVar[Event.Type]
        UPDATE: _ClassVar[Event.Type]
        MESSAGE: _ClassVar[Event.Type]
        FAILURE: _ClassVar[Event.Type]
        ERROR: _ClassVar[Event.Type]
        HEARTBEAT: _ClassVar[Event.Type]
        INVERSE_OFFERS: _ClassVar[Event.Type]
        RESCIND_INVERSE_OFFER: _ClassVar[Event.Type]
        UPDATE_OPERATION_STATUS: _ClassVar[Event.Type]
    UNKNOWN: Event.Type
    SUBSCRIBED: Event.Type
    OFFERS: Event.Type
    RESCIND: Event.Type
    UPDATE: Event.Type
    MESSAGE: Event.Type
    FAILURE: Event.Type
    ERROR: Event.Type
    HEARTBEAT: Event.Type
    INVERSE_OFFERS: Event.Type
    RESCIND_INVERSE_OFFER: Event.Type
    UPDATE_OPERATION_STATUS: Event.Type
    class Error(_message.Message):
        __slots__ = ("message",)
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        message: str
        def __init__(self, message: _Optional[str] = ...) -> None: ...
    class Failure(_message.Message):
        __slots__ = ("agent_id", "executor_id", "status")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
        STATUS_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        executor_id: _mesos_pb2.ExecutorID
        status: int
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., executor_id: _Optional[_Union[_mesos_pb2.ExecutorID, _Mapping]] = ..., status: _Optional[int] = ...) -> None: ...
    class InverseOffers(_message.Message):
        __slots__ = ("inverse_offers",)
        INVERSE_OFFERS_FIELD_NUMBER: _ClassVar[int]
        inverse_offers: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.InverseOffer]
        def __init__(self, inverse_offers: _Optional[_Iterable[_Union[_mesos_pb2.InverseOffer, _Mapping]]] = ...) -> None: ...
    class Message(_message.Message):
        __slots__ = ("agent_id", "executor_id", "data")
        AGENT_ID_FIELD_NUMBER: _ClassVar[int]
        EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
        DATA_FIELD_NUMBER: _ClassVar[int]
        agent_id: _mesos_pb2.AgentID
        executor_id: _mesos_pb2.ExecutorID
        data: bytes
        def __init__(self, agent_id: _Optional[_Union[_mesos_pb2.AgentID, _Mapping]] = ..., executor_id: _Optional[_Union[_mesos_pb2.ExecutorID, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...
    class Offers(_message.Message):
        __slots__ = ("offers",)
        OFFERS_FIELD_NUMBER: _ClassVar[int]
        offers: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.Offer]
        def __init__(self, offers: _Optional[_Iterable[_Union[_mesos_pb2.Offer, _Mapping]]] = ...) -> None: ...
    class Rescind(_message.Message):
        __slots__ = ("offer_id",)
        OFFER_ID_FIELD_NUMBER: _ClassVar[int]
        offer_id: _mesos_pb2.OfferID
        def __init__(self, offer_id: _Optional[_Union[_mesos_pb2.OfferID, _Mapping]] = ...) -> None: ...
    class RescindInverseOffer(_message.Message):
        __slots__ = ("inverse_offer_id",)
        INVERSE_OFFER_ID_FIELD_NUMBER: _ClassVar[int]
        inverse_offer_id: _mesos_pb2.OfferID
        def __init__(self, inverse_offer_id: _Optional[_Union[_mesos_pb2.OfferID, _Mapping]] = ...) -> None: ...
    class Subscribed(_message.Message):
        __slots__ = ("framework_id", "heartbeat_interval_seconds", "master_info")
        FRAMEWORK_ID_FIELD_NUMBER: _ClassVar[int]
        HEARTBEAT_INTERVAL_SECONDS_FIELD_NUMBER: _ClassVar[int]
        MASTER_INFO_FIELD_NUMBER: _ClassVar[int]
        framework_id: _mesos_pb2.FrameworkID
        heartbeat_interval_seconds: float
        master_info: _mesos_pb2.MasterInfo
        def __init__(self, framework_id: _Optional[_Union[_mesos_pb2.FrameworkID, _Mapping]] = ..., heartbeat_interval_seconds: _Optional[float] = ..., master_info: _Optional[_Union[_mesos_pb2.MasterInfo, _Mapping]] = ...) -> None: ...
    class Update(_message.Message):
        __slots__ = ("status",)
        STATUS_FIELD_NUMBER: _ClassVar[int]
        status: _mesos_pb2.TaskStatus
        def __init__(self, status: _Optional[_Union[_mesos_pb2.TaskStatus, _Mapping]] = ...) -> None: ...
    class UpdateOperationStatus(_message.Message):
        __slots__ = ("status",)
        STATUS_FIELD_NUMBER: _ClassVar[int]
        status: _mesos_pb2.OperationStatus
        def __init__(self, status: _Optional[_Union[_mesos_pb2.OperationStatus, _Mapping]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBED_FIELD_NUMBER: _ClassVar[int]
    OFFERS_FIELD_NUMBER: _ClassVar[int]
    RESCIND_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    INVERSE_OFFERS_FIELD_NUMBER: _ClassVar[int]
    RESCIND_INVERSE_OFFER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_OPERATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    type: Event.Type
    subscribed: Event.Subscribed
    offers: Event.Offers
    rescind: Event.Rescind
    update: Event.Update
    message: Event.Message
    failure: Event.Failure
    error: Event.Error
    inverse_offers: Event.InverseOffers
    rescind_inverse_offer: Event.RescindInverseOffer
    update_operation_status: Event.UpdateOperationStatus
    def __init__(self, type: _Optional[_Union[Event.Type, str]] = ..., subscribed: _Optional[_Union[Event.Subscribed, _Mapping]] = ..., offers: _Optional[_Union[Event.Offers, _Mapping]] = ..., rescind: _Optional[_Union[Event.Rescind, _Mapping]] = ..., update: _Optional[_Union[Event.Update, _Mapping]] = ..., message: _Optional[_Union[Event.Message, _Mapping]] = ..., failure: _Optional[_Union[Event.Failure, _Mapping]] = ..., error: _Optional[_Union[Event.Error, _Mapping]] = ..., inverse_offers: _Optional[_Union[Event.InverseOffers, _Mapping]] = ..., rescind_inverse_offer: _Optional[_Union[Event.RescindInverseOffer, _Mapping]] = ..., update_operation_status: _Optional[_Union[Event.UpdateOperationStatus, _Mapping]] = ...) -> None: ...

class OfferConstraints(_message.Message):
    __slots__ = ("role_constraints",)
    class RoleConstraints(_message.Message):
        __slots__ = ("groups",)
        class Group(_message.Message):
            __slots__ = ("attribute_constraints",)
            ATTRIBUTE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
            attribute_constraints: _containers.RepeatedCompositeFieldContainer[AttributeConstraint]
            def __init__(self, attribute_constraints: _Optional[_Iterable[_Union[AttributeConstraint, _Mapping]]] = ...) -> None: ...
        GROUPS_FIELD_NUMBER: _ClassVar[int]
        groups: _containers.RepeatedCompositeFieldContainer[OfferConstraints.RoleConstraints.Group]
        def __init__(self, groups: _Optional[_Iterable[_Union[OfferConstraints.RoleConstraints.Group, _Mapping]]] = ...) -> None: ...
    class RoleConstraintsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: OfferConstraints.RoleConstraints
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[OfferConstraints.RoleConstraints, _Mapping]] = ...) -> None: ...
    ROLE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    role_constraints: _containers.MessageMap[str, OfferConstraints.RoleConstraints]
    def __init__(self, role_constraints: _Optional[_Mapping[str, OfferConstraints.RoleConstraints]] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ("type", "reconcile_operations")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Response.Type]
        RECONCILE_OPERATIONS: _ClassVar[Response.Type]
    UNKNOWN: Response.Type
    RECONCILE_OPERATIONS: Response.Type
    class ReconcileOperations(_message.Message):
        __slots__ = ("operation_statuses",)
        OPERATION_STATUSES_FIELD_NUMBER: _ClassVar[int]
        operation_statuses: _containers.RepeatedCompositeFieldContainer[_mesos_pb2.OperationStatus]
        def __init__(self, operation_statuses: _Optional[_Iterable[_Union[_mesos_pb2.OperationStatus, _Mapping]]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    type: Response.Type
    reconcile_operations: Response.ReconcileOperations
    def __init__(self, type: _Optional[_Union[Response.Type, str]] = ..., reconcile_operations: _Optional[_Union[Response.ReconcileOperations, _Mapping]] = ...) -> None: ...
