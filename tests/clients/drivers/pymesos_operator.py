"""pymesos as an operator: MASTER AGENT AGENT_ID PROVIDER_CONFIG|null. Every reading call, and another scheduler's task.

Prints one JSON line for each call's answer, then one for each event until a framework has come and gone.
"""

import json
import sys
import threading

from pymesos import MesosOperatorAgentDriver, MesosOperatorMasterDriver, OperatorMaster

MASTER, AGENT, AGENT_ID, PROVIDER = sys.argv[1:]


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Watcher(OperatorMaster):
    """Tells what happens, until a framework that came has gone again."""

    def __init__(self):
        self.removed = threading.Event()
        self.task = None

    def taskAdded(self, task_info):  # noqa: N802 (the client's name)
        self.task = task_info
        tell("task_added", task=task_info)

    def taskUpdated(self, task_info):  # noqa: N802
        tell("task_updated", task=task_info)

    def frameworkAdded(self, framework_info):  # noqa: N802
        tell("framework_added", framework=framework_info)

    def frameworkUpdated(self, framework_info):  # noqa: N802
        tell("framework_updated", framework=framework_info)

    def frameworkRemoved(self, framework_info):  # noqa: N802
        tell("framework_removed", framework=framework_info)
        self.removed.set()

    def agentAdded(self, agent_info):  # noqa: N802
        tell("agent_added", agent=agent_info)


def main():
    watcher = Watcher()
    master = MesosOperatorMasterDriver(MASTER, watcher)
    master.start()
    for name in (
        *("getHealth", "getFlags", "getVersion", "getLoggingLevel", "getState", "getFrameworks", "getExecutors"),
        *("getTasks", "getAgents", "getRoles", "getWeights", "getMaster", "getQuota"),
        *("getMaintenanceStatus", "getMaintenanceSchedule"),
    ):
        tell("master", call=name, answer=getattr(master, name)())
    tell("master", call="getMetrics", answer=master.getMetrics(10**9))
    agent = MesosOperatorAgentDriver(AGENT)
    for name in (
        *("getHealth", "getFlags", "getVersion", "getLoggingLevel", "getState", "getFrameworks", "getExecutors"),
        *("getTasks", "getContainers"),
    ):
        tell("agent", call=name, answer=getattr(agent, name)())
    tell("agent", call="getMetrics", answer=agent.getMetrics(10**9))
    agent.setLoggingLevel(1, 10**9)
    tell("done", kind="level")
    part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 0.1}}
    reserved = {**part, "reservations": [{"type": "DYNAMIC", "role": "operators"}]}
    master.reserveResources(AGENT_ID, [reserved])
    tell("done", kind="reserved")
    master.unreserveResources(AGENT_ID, [reserved])
    tell("done", kind="unreserved")
    if json.loads(PROVIDER):
        agent.addResourceProviderConfig(json.loads(PROVIDER))
        agent.updateResourceProviderConfig(json.loads(PROVIDER))
        tell("done", kind="config")
    tell("watching")
    ended = watcher.removed.wait(40)
    sandbox = f"{watcher.task['framework_id']['value']}/{watcher.task['task_id']['value']}"
    tell(
        "files",
        files=agent.listFiles(sandbox)["list_files"],
        stdout=agent.readFile(f"{sandbox}/stdout", 100, 0)["read_file"],
    )
    master.stop()
    master.join()
    tell("stopped", ended=ended)


main()
