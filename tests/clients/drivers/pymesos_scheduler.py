"""pymesos as a scheduler: MASTER ROLE plain|cpuset|calls|failover. One JSON line for each thing that happens."""

import json
import sys
import threading

from pymesos import MesosSchedulerDriver, Scheduler

MASTER, ROLE, WHAT = sys.argv[1:]
COMMAND = "env | grep PINFOLD_; grep Cpus_allowed_list /proc/self/status"


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


def is_raw(resource):
    return resource.get("cpu", {}).get("source", {}).get("type") == "RAW"


def is_plain(resource, name):
    return resource["name"] == name and "provider_id" not in resource


def part(resource, amount):
    return {**resource, "scalar": {"value": amount}}


class Player(Scheduler):
    """Runs one task; with `cpuset` it makes an exclusive set first and runs it in there.

    With `calls` the task would run for long, and every call that there is follows before it is killed.
    """

    def __init__(self):
        self.registrations = threading.Event()
        self.ended = threading.Event()
        self.created = None
        self.asked = self.launched = False
        self.failed = None

    def registered(self, driver, framework_id, master_info):
        tell("registered", framework_id=framework_id["value"], master=master_info)
        self.registrations.set()

    def reregistered(self, driver, master_info):
        tell("reregistered", master=master_info)

    def processHeartBeat(self, driver):  # noqa: N802 (the client's name)
        tell("heartbeat")

    def resourceOffers(self, driver, offers):  # noqa: N802
        for offer in offers:
            if not self.use(driver, offer):
                driver.declineOffer(offer["id"], filters={"refuse_seconds": 0.2})

    def use(self, driver, offer):
        memory = [r for r in offer["resources"] if is_plain(r, "mem")]
        if WHAT != "cpuset":
            plain = [r for r in offer["resources"] if is_plain(r, "cpus")]
            if self.launched or not plain or not memory:
                return False
            self.launch(driver, offer, [part(plain[0], 0.1), part(memory[0], 32)])
            return True
        if self.created is None:
            raw = [r for r in offer["resources"] if is_raw(r)]
            if self.asked or not raw:
                return False
            self.asked = True
            create = {"source": [part(raw[0], 1)], "target_profile": "latency"}
            operation = {"type": "CREATE_CPUSET", "id": {"value": "make"}, "create_cpuset": create}
            driver.acceptOffers(offer["id"], [operation], filters={"refuse_seconds": 0.2})
            return True
        offered = [r for r in offer["resources"] if r.get("cpu", {}).get("source", {}).get("type") == "EXCLUSIVE"]
        if self.launched or not offered or not memory:
            return False
        self.launch(driver, offer, [offered[0], part(memory[0], 32)])
        return True

    def launch(self, driver, offer, resources):
        self.launched = True
        task = {
            "name": "hello",
            "task_id": {"value": f"pymesos-{WHAT}"},
            "agent_id": offer["agent_id"],
            "command": {"value": "sleep 600" if WHAT == "calls" else COMMAND},
            "resources": resources,
        }
        driver.launchTasks(offer["id"], [task])

    def operationStatusUpdate(self, driver, status):  # noqa: N802
        tell("operation", status=status)
        # By itself the client would send the whole status back, whose uuid is a message where the call wants bytes.
        acknowledged = {key: status[key] for key in ("operation_id", "agent_id", "resource_provider_id")}
        driver.acknowledgeOperationStatusUpdate({**acknowledged, "uuid": status["uuid"]["value"]})
        if status["state"] == "OPERATION_FINISHED":
            self.created = status["converted_resources"]
        else:
            self.failed = status
            self.ended.set()

    def statusUpdate(self, driver, update):  # noqa: N802
        tell(
            "update",
            state=update["state"],
            task_id=update["task_id"]["value"],
            message=update.get("message"),
            reason=update.get("reason"),
            uuid=update.get("uuid"),
        )
        if WHAT == "calls" and update["state"] == "TASK_RUNNING":
            if "uuid" in update:
                self.call(driver, update)
            else:
                driver.killTask(update["task_id"])
        if not driver.implicit_acknowledgements:
            driver.acknowledgeStatusUpdate(update)
        if update["state"] not in ("TASK_STAGING", "TASK_STARTING", "TASK_RUNNING"):
            self.ended.set()

    def call(self, driver, update):
        """Calls that raise an exception in the client where the master refuses them."""
        driver.suppressOffers()
        driver.suppressOffers([ROLE])
        driver.reviveOffers([ROLE])
        driver.reviveOffers()
        driver.requestResources([{"resources": []}])
        driver.reconcileOperations([])
        executor = update.get("executor_id") or update["task_id"]
        try:
            driver.sendFrameworkMessage(executor, update["agent_id"], "aGVsbG8=")
        except Exception as error:  # of no particular kind in this client
            tell("refused", message=str(error))
        driver.reconcileTasks([{"task_id": update["task_id"]}])

    def error(self, driver, message):
        tell("error", message=message)
        self.ended.set()


def main():
    player = Player()
    capability = [{"type": "MULTI_ROLE"}]
    framework = {"user": "root", "name": "pymesos", "roles": [ROLE], "capabilities": capability, "hostname": "here"}
    if WHAT == "failover":
        framework["failover_timeout"] = 60
        first = MesosSchedulerDriver(player, framework, MASTER)
        player.resourceOffers, use = lambda driver, offers: None, player.resourceOffers
        first.start()
        player.registrations.wait(20)
        first.stop(failover=True)
        first.join()
        player.resourceOffers = use
    # Credentials nobody asked for are no harm.
    options = {"principal": "somebody", "secret": "hidden"} if WHAT == "calls" else {}
    driver = MesosSchedulerDriver(player, framework, MASTER, implicit_acknowledgements=WHAT != "cpuset", **options)
    driver.start()
    ended = player.ended.wait(40)
    driver.stop()
    driver.join()
    tell("stopped", ended=ended)


main()
