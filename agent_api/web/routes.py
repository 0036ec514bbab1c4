"""The two ports' paths: which call goes where, and how its result is answered.

Decides the shape of the HTTP interface only (methods, required parts of a call, status of an answer). What a call means
is decided in `agent_api.core.master`; config calls, files and the logging level are carried out by the shell.
"""

# mypy: allow-untyped-calls
# (most of twisted.web has no types)

from __future__ import annotations

import json
import re
import stat
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from twisted.internet.defer import Deferred

from agent_api.authentication import PROVIDER
from agent_api.core import authorization, figures, views
from agent_api.core.master import Master
from agent_api.errors import ApiError, BadRequest, Forbidden, NotFound, NotImplemented_
from agent_api.web import containers
from agent_api.web.agent_operator import read_call
from agent_api.web.files import Sandboxes
from agent_api.web.logging_level import LoggingLevel
from agent_api.web.metrics import Exposition
from agent_api.web.protocol import (
    JSON,
    ApiRequest,
    Route,
    answer,
    answer_message,
    decode_body,
    header,
    media_wanted,
)
from agent_api.web.streams import Stream
from agent_api.wire import agent_pb2, codec, master_pb2, mesos_pb2, resource_provider_pb2, scheduler_pb2

__all__ = ["Served", "agent_routes", "master_routes", "operator_heartbeat"]

R = TypeVar("R")

_PAGE = Path(__file__).with_name("page.html")
ANY_METHOD: tuple[str, ...] = ()
"""Mesos does not look at the method where there is only something to read: a probe may as well POST to /health."""

_CALLBACK = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,127}")


class Served(Protocol):
    """What these routes need of the agent; `agent_api.service.Agent` is one."""

    reactor: Any
    master: Master
    master_url: str
    settings: Any

    def turn(self, decide: Callable[[float], R], first: Callable[[R], None] | None = None) -> R: ...

    def open_stream(self, stream: Stream, subscribe: Callable[[float], None]) -> None: ...

    def open_operator_stream(self, stream: Stream) -> None: ...

    def framework_stream_lost(self, stream: Stream) -> None: ...

    def provider_stream_lost(self, stream: Stream) -> None: ...

    def operator_stream_lost(self, stream: Stream) -> None: ...

    def add_config(self, info: mesos_pb2.ResourceProviderInfo) -> Deferred[None]: ...

    def update_config(self, info: mesos_pb2.ResourceProviderInfo) -> Deferred[None]: ...

    def remove_config(self, type_: str, name: str) -> Deferred[None]: ...

    def compact(self, call: agent_pb2.Call.CompactCpusets) -> Deferred[Any]: ...


def agent_routes(agent: Served) -> dict[str, Route]:
    """What the agent port answers, by path."""
    shell = _Shell(agent)
    get = _Legacy(agent).route
    routes = {
        "/": Route(_page, ("GET",), exact=True),
        "/metrics": Route(lambda request: _metrics(agent, request), ("GET",), exact=True),
        "/metrics/snapshot": get(figures.metrics),
        "/version": get(_version, public=True),
    }
    files = _Files(agent, shell.sandboxes)
    routes |= {
        "/files/browse": Route(files.browse, ("GET",)),
        "/files/read": Route(files.read, ("GET",)),
        "/files/download": Route(files.download, ("GET",)),
    }
    for prefix in ("", "/slave(1)"):
        routes |= {
            f"{prefix}/api/v1": Route(shell.agent_call),
            f"{prefix}/api/v1/resource_provider": Route(shell.provider_call, of_provider=True),
            f"{prefix}/state": get(views.agent_state),
            f"{prefix}/flags": get(_flags),
            f"{prefix}/health": Route(_health, ANY_METHOD, public=True),
            f"{prefix}/containers": shell.of_containers(containers.containers),
            f"{prefix}/monitor/statistics": shell.of_containers(containers.statistics),
        }
    return routes


def master_routes(agent: Served) -> dict[str, Route]:
    """What the master port answers, by path."""
    shell = _Shell(agent)
    legacy = _Legacy(agent)
    get = legacy.route
    routes = {
        "/metrics": Route(lambda request: _metrics(agent, request), ("GET",), exact=True),
        "/metrics/snapshot": get(figures.metrics),
        "/version": get(_version, public=True),
    }
    for prefix in ("", "/master"):
        routes |= {
            f"{prefix}/api/v1": Route(shell.master_call),
            f"{prefix}/api/v1/scheduler": Route(shell.scheduler_call),
            f"{prefix}/state": get(views.master_state),
            f"{prefix}/state-summary": get(views.state_summary),
            f"{prefix}/slaves": get(views.slaves),
            f"{prefix}/tasks": Route(legacy.tasks, ANY_METHOD),
            f"{prefix}/frameworks": get(views.frameworks),
            f"{prefix}/roles": get(views.roles),
            f"{prefix}/quota": get(views.quota, ("GET",)),
            f"{prefix}/weights": get(views.weights, ("GET",)),
            f"{prefix}/maintenance/schedule": get(views.maintenance, ("GET",)),
            f"{prefix}/maintenance/status": get(views.maintenance, ("GET",)),
            f"{prefix}/flags": get(_flags),
            f"{prefix}/health": Route(_health, ANY_METHOD, public=True),
            f"{prefix}/redirect": Route(lambda request: _redirect(agent, request), ANY_METHOD, public=True),
        }
    return routes


def operator_heartbeat() -> master_pb2.Event:
    return master_pb2.Event(type=master_pb2.Event.HEARTBEAT)


# -- calls


def _need_type(call: Any, api: str) -> None:
    if not call.HasField("type"):
        raise BadRequest(f"Failed to validate {api}::Call: Expecting 'type' to be present")


def _need(call: Any, api: str, *fields: str) -> None:
    for field in fields:
        if not call.HasField(field):
            raise BadRequest(f"Failed to validate {api}::Call: Expecting '{field}' to be present")


def _no_stream_id(request: ApiRequest) -> None:
    if header(request, "Mesos-Stream-Id") is not None:
        raise BadRequest("Subscribe calls should not include the 'Mesos-Stream-Id' header")


class _Shell:
    """Both ports' POST calls."""

    def __init__(self, agent: Served) -> None:
        self.agent = agent
        self.logging_level = LoggingLevel(agent.reactor)
        self.sandboxes = Sandboxes(agent.settings.work_dir)

    def agent_call(self, request: ApiRequest) -> Deferred[None] | None:
        """POST /api/v1 on the agent port."""
        call, media = read_call(request)
        authorization.agent_call(self.agent.master.world, request.principal, call)
        kinds = agent_pb2.Call
        agent = self.agent
        match call.type:
            case kinds.UNKNOWN:
                raise NotImplemented_("501 Not Implemented.")
            case kinds.ADD_RESOURCE_PROVIDER_CONFIG:
                _need(call, "agent", "add_resource_provider_config")
                return _empty_after(request, agent.add_config(call.add_resource_provider_config.info))
            case kinds.UPDATE_RESOURCE_PROVIDER_CONFIG:
                _need(call, "agent", "update_resource_provider_config")
                return _empty_after(request, agent.update_config(call.update_resource_provider_config.info))
            case kinds.REMOVE_RESOURCE_PROVIDER_CONFIG:
                _need(call, "agent", "remove_resource_provider_config")
                removed = call.remove_resource_provider_config
                return _empty_after(request, agent.remove_config(removed.type, removed.name))
            case kinds.COMPACT_CPUSETS:
                _need(call, "agent", "compact_cpusets")
                moved = agent.compact(call.compact_cpusets)
                return moved.addCallback(lambda response: answer_message(request, response, media))
            case kinds.GET_LOGGING_LEVEL | kinds.SET_LOGGING_LEVEL | kinds.LIST_FILES | kinds.READ_FILE:
                self._own_call(request, call, agent_pb2, "agent", media)
            case _:
                response, now = agent.turn(lambda now: (agent.master.agent_call(call, now), now))
                containers.measure(response.get_containers.containers, now)
                # Calls that only do something are answered with an empty body, as Mesos does.
                answer_message(request, response if response.HasField("type") else None, media)
        return None

    def of_containers(self, view: Callable[[Iterable[containers.Container]], Any]) -> Route:
        """A legacy view of the tasks that run, with what they use."""
        call = agent_pb2.Call(type=agent_pb2.Call.GET_CONTAINERS)

        def handle(request: ApiRequest) -> None:
            response, now = self.agent.turn(lambda now: (self.agent.master.agent_call(call, now), now))
            containers.measure(response.get_containers.containers, now)
            _answer_json(request, view(response.get_containers.containers))

        return Route(handle, ANY_METHOD)

    def master_call(self, request: ApiRequest) -> None:
        """POST /api/v1 on the master port."""
        call = decode_body(request, master_pb2.Call)
        _need_type(call, "master")
        authorization.master_call(self.agent.master.world, request.principal, call)
        media = media_wanted(request)
        kinds = master_pb2.Call
        agent = self.agent
        match call.type:
            case kinds.UNKNOWN:
                raise NotImplemented_("501 Not Implemented.")
            case kinds.SUBSCRIBE:
                agent.open_operator_stream(Stream(request, media, None, agent.operator_stream_lost))
            case kinds.GET_LOGGING_LEVEL | kinds.SET_LOGGING_LEVEL | kinds.LIST_FILES | kinds.READ_FILE:
                self._own_call(request, call, master_pb2, "master", media)
            case kinds.RESERVE_RESOURCES | kinds.UNRESERVE_RESOURCES:
                agent.turn(lambda now: agent.master.master_call(call, now))
                answer(request, 202)
            case _:
                answer_message(request, agent.turn(lambda now: agent.master.master_call(call, now)), media)

    def scheduler_call(self, request: ApiRequest) -> None:
        """POST /api/v1/scheduler: a stream for SUBSCRIBE, an empty answer for all others."""
        call = decode_body(request, scheduler_pb2.Call)
        _need_type(call, "scheduler")
        media = media_wanted(request)
        agent = self.agent
        if call.type != scheduler_pb2.Call.SUBSCRIBE:
            stream_id = header(request, "Mesos-Stream-Id")
            status = agent.turn(lambda now: agent.master.scheduler_call(call, stream_id, now, request.principal))
            answer(request, status)
            return
        _need(call, "scheduler", "subscribe")
        _no_stream_id(request)
        new_id = str(uuid.uuid4())
        agent.open_stream(
            Stream(request, media, new_id, agent.framework_stream_lost),
            lambda now: agent.master.subscribe(call, new_id, request.principal, now),
        )

    def provider_call(self, request: ApiRequest) -> None:
        """POST /api/v1/resource_provider: a stream for SUBSCRIBE, an empty 202 for all others."""
        call = decode_body(request, resource_provider_pb2.Call)
        _need_type(call, "resource_provider")
        if request.principal != PROVIDER:
            authorization.provider_call(self.agent.master.world, request.principal)
        media = media_wanted(request)
        agent = self.agent
        if call.type != resource_provider_pb2.Call.SUBSCRIBE:
            stream_id = header(request, "Mesos-Stream-Id")
            agent.turn(lambda now: agent.master.provider_call(call, stream_id, now))
            answer(request, 202)
            return
        _need(call, "resource_provider", "subscribe")
        _no_stream_id(request)
        new_id = str(uuid.uuid4())
        agent.open_stream(
            Stream(request, media, new_id, agent.provider_stream_lost),
            lambda now: agent.master.provider_subscribe(call, new_id, now),
        )

    def _own_call(self, request: ApiRequest, call: Any, schema: Any, api: str, media: str) -> None:
        """The calls that agent and master share and that the core knows nothing of."""
        kinds = schema.Call
        response: Any = None
        if call.type == kinds.GET_LOGGING_LEVEL:
            response = schema.Response(type=schema.Response.GET_LOGGING_LEVEL)
            response.get_logging_level.level = self.logging_level.level
        elif call.type == kinds.SET_LOGGING_LEVEL:
            _need(call, api, "set_logging_level")
            wanted = call.set_logging_level
            self.logging_level.set(wanted.level, wanted.duration.nanoseconds / 1e9)
        elif call.type == kinds.LIST_FILES:
            _need(call, api, "list_files")
            response = schema.Response(type=schema.Response.LIST_FILES)
            response.list_files.file_infos.extend(self.sandboxes.list_files(call.list_files.path))
        else:
            _need(call, api, "read_file")
            wanted = call.read_file
            length = wanted.length if wanted.HasField("length") else None
            size, data = self.sandboxes.read_file(wanted.path, wanted.offset, length)
            response = schema.Response(type=schema.Response.READ_FILE)
            response.read_file.size = size
            response.read_file.data = data
        answer_message(request, response, media)


def _empty_after(request: ApiRequest, result: Deferred[None]) -> Deferred[None]:
    result.addCallback(lambda _: answer(request, 200))
    return result


# -- GET


class _Legacy:
    """The JSON endpoints that Mesos's own tools and web UI read."""

    def __init__(self, agent: Served) -> None:
        self.agent = agent

    def route(
        self, view: Callable[[Master, float], Any], methods: tuple[str, ...] = ANY_METHOD, public: bool = False
    ) -> Route:
        """One view of the whole, as JSON or JSONP."""

        def handle(request: ApiRequest) -> None:
            _answer_json(request, self.agent.turn(lambda now: view(self.agent.master, now)))

        return Route(handle, methods, public=public)

    def tasks(self, request: ApiRequest) -> None:
        """GET /tasks with `task_id`, `framework_id`, `order` (asc or des, by first status), `limit`, `offset`."""
        found: list[dict[str, Any]] = self.agent.turn(lambda now: views.tasks(self.agent.master, now))["tasks"]
        for key, field in (("task_id", "id"), ("framework_id", "framework_id")):
            wanted = _argument(request, key)
            if wanted is not None:
                found = [task for task in found if task[field] == wanted]
        limit, offset = _number(request, "limit", 100), _number(request, "offset", 0)

        def first_status(task: dict[str, Any]) -> float:
            return min((status["timestamp"] for status in task.get("statuses", [])), default=0.0)

        found = sorted(found, key=first_status, reverse=_argument(request, "order") != "asc")[max(0, offset) :]
        _answer_json(request, {"tasks": found if limit < 0 else found[:limit]})


class _Files:
    """The sandboxes as Mesos's web UI reads them."""

    def __init__(self, agent: Served, sandboxes: Sandboxes) -> None:
        self.agent = agent
        self.sandboxes = sandboxes

    def _allow(self, request: ApiRequest) -> None:
        authorization.sandbox(self.agent.master.world, request.principal)

    def browse(self, request: ApiRequest) -> None:
        """GET /files/browse?path=…"""
        self._allow(request)
        infos = self.sandboxes.list_files(_path(request))
        _answer_json(
            request,
            [
                {
                    "path": info.path,
                    "nlink": info.nlink,
                    "size": info.size,
                    "mtime": info.mtime.nanoseconds / 1e9,
                    "mode": stat.filemode(info.mode),
                    "uid": info.uid,
                    "gid": info.gid,
                }
                for info in infos
            ],
        )

    def read(self, request: ApiRequest) -> None:
        """GET /files/read?path=…[&offset=…][&length=…]; offset -1 asks for the size (as `offset`)."""
        self._allow(request)
        offset, length = _number(request, "offset", -1), _number(request, "length", -1)
        size, data = self.sandboxes.read_file(_path(request), max(0, offset), None if length < 0 else length)
        if offset < 0:
            _answer_json(request, {"data": "", "offset": size})
        else:
            _answer_json(request, {"data": data.decode("utf-8", "replace"), "offset": offset})

    def download(self, request: ApiRequest) -> None:
        """GET /files/download?path=…"""
        self._allow(request)
        data = self.sandboxes.read_whole(_path(request))
        request.setHeader(b"Content-Disposition", b"attachment")
        request.setHeader(b"X-Content-Type-Options", b"nosniff")
        answer(request, 200, data, "application/octet-stream")


def _path(request: ApiRequest) -> str:
    path = _argument(request, "path")
    if path is None:
        raise BadRequest("Expecting 'path=value' in query.")
    return path


def _argument(request: ApiRequest, name: str) -> str | None:
    values = request.args.get(name.encode("ascii"))
    return values[-1].decode("utf-8", "replace") if values else None


def _number(request: ApiRequest, name: str, default: int) -> int:
    text = _argument(request, name)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise BadRequest(f"Failed to parse query parameter '{name}': '{text}' is no whole number") from None


def _answer_json(request: ApiRequest, value: Any) -> None:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    callback = _argument(request, "jsonp")
    if callback is None:
        answer(request, 200, text.encode("ascii"), JSON)
        return
    if request.principal is not None and header(request, "Sec-Fetch-Site") == "cross-site":
        # A script of another site, read with the credentials that the browser has kept for this one.
        raise Forbidden("JSONP is not for other sites where credentials are needed")
    if not _CALLBACK.fullmatch(callback):
        raise BadRequest(f"Query parameter 'jsonp' is no name of a function: '{callback}'")
    answer(request, 200, f"{callback}({text})".encode("ascii"), "text/javascript")


def _version(master: Master, now: float) -> Any:
    response = master.agent_call(agent_pb2.Call(type=agent_pb2.Call.GET_VERSION), now)
    return codec.to_dict(response.get_version.version_info)


def _flags(master: Master, now: float) -> Any:
    response = master.agent_call(agent_pb2.Call(type=agent_pb2.Call.GET_FLAGS), now)
    return {"flags": {flag.name: flag.value for flag in response.get_flags.flags}}


def _health(request: ApiRequest) -> None:
    answer(request, 200)


def _redirect(agent: Served, request: ApiRequest) -> None:
    request.setHeader(b"Location", agent.master_url.partition(":")[2].encode("ascii"))
    answer(request, 307)


def _metrics(agent: Served, request: ApiRequest) -> None:
    counted = agent.turn(lambda now: figures.metrics(agent.master, now))
    text = Exposition(lambda: counted).text()
    answer(request, 200, text, "text/plain; version=0.0.4; charset=utf-8")


def _page(request: ApiRequest) -> None:
    if not _PAGE.exists():
        raise NotFound("404 Not Found.")
    # The page takes nothing from elsewhere, and writes what it reads as text only.
    request.setHeader(
        b"Content-Security-Policy",
        b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
    )
    request.setHeader(b"X-Content-Type-Options", b"nosniff")
    answer(request, 200, _PAGE.read_bytes(), "text/html; charset=utf-8")


_ = ApiError  # raised by what is called here
