"""How a request to the agent's operator API is read.

Decides its refusals. In Mesos this one API also has calls that are, or answer with, a stream of messages (those of
nested containers), so its words differ from those of the others. Pinfold serves none of these calls.
"""

from __future__ import annotations

from agent_api.errors import ApiError, BadRequest, NotImplemented_
from agent_api.web.protocol import JSON, PROTOBUF, ApiRequest, accepts, content_type, header, media_wanted, read_body
from agent_api.wire import agent_pb2, codec

__all__ = ["read_call"]

RECORDIO = "application/recordio"
_THREE = f"{JSON} or {PROTOBUF} or {RECORDIO}"


def read_call(request: ApiRequest) -> tuple[agent_pb2.Call, str]:
    """The call, whose `type` is set, and the media type to answer in. Raises ApiError."""
    media = content_type(request)
    if media == RECORDIO:
        if header(request, "Message-Content-Type") is None:
            raise BadRequest("Expecting 'Message-Content-Type' to be set for streaming requests")
        raise NotImplemented_("Agent calls that are a stream (ATTACH_CONTAINER_INPUT) are not served by Pinfold")
    if media not in (JSON, PROTOBUF):
        raise ApiError(415, f"Expecting 'Content-Type' of {_THREE}")
    if header(request, "Message-Content-Type") is not None:
        raise ApiError(415, "Expecting 'Message-Content-Type' to be not set for non-streaming requests")
    plain = accepts(request, JSON) or accepts(request, PROTOBUF)
    if not plain and not accepts(request, RECORDIO):
        raise ApiError(406, f"Expecting 'Accept' to allow {_THREE}")
    if plain and header(request, "Message-Accept") is not None:
        raise ApiError(406, "Expecting 'Message-Accept' to be not set for non-streaming responses")
    call = _decode(read_body(request), media)
    if not call.HasField("type"):
        raise BadRequest("Failed to validate agent::Call: Expecting 'type' to be present")
    if not plain:
        kind = agent_pb2.Call.Type.Name(call.type)
        raise ApiError(406, f"Streaming response is not supported for {kind} call")
    return call, media_wanted(request)


def _decode(data: bytes, media: str) -> agent_pb2.Call:
    try:
        return codec.decode(agent_pb2.Call, data, media)
    except codec.CodecError as error:
        text = str(error)
        if media == PROTOBUF:
            text = text.replace("into Call protobuf", "into a protobuf object", 1)
        elif text.startswith("Failed to convert JSON"):
            text = error.detail
        raise BadRequest(text) from None
