"""avmesos or mesoshttp (the same interface) as a scheduler: MODULE MASTER_URL. One JSON line for each event."""

import importlib
import json
import sys
import threading

MODULE, MASTER = sys.argv[1:]
MesosClient = importlib.import_module(f"{MODULE}.client").MesosClient


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Player:
    def __init__(self):
        self.client = MesosClient(mesos_urls=[MASTER], frameworkName=MODULE, frameworkUser="root", max_reconnect=1)
        self.launched = False
        self.ended = threading.Event()
        for event, handler in (
            (MesosClient.SUBSCRIBED, self.subscribed),
            (MesosClient.OFFERS, self.offers),
            (MesosClient.UPDATE, self.update),
            (MesosClient.ERROR, self.error),
        ):
            self.client.on(event, handler)

    def subscribed(self, driver):
        self.driver = driver
        tell("subscribed", framework_id=driver.frameworkId, master=self.client.get_master_info())

    def offers(self, offers):
        for offer in offers:
            found = offer.get_offer()
            plain = {r["name"]: r for r in found["resources"] if "provider_id" not in r and r["type"] == "SCALAR"}
            if self.launched or not {"cpus", "mem"} <= plain.keys():
                offer.decline({"filters": {"refuse_seconds": 0.2}})
                continue
            self.launched = True
            task = {
                "name": "hello",
                "task_id": {"value": f"{MODULE}-task"},
                "agent_id": found["agent_id"],
                "resources": [
                    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 0.1}},
                    {"name": "mem", "type": "SCALAR", "scalar": {"value": 32}},
                ],
                "command": {"value": "echo hello"},
            }
            offer.accept([task])

    def update(self, update):
        status = update["status"]
        tell("update", state=status["state"], task_id=status["task_id"]["value"], message=status.get("message"))
        if status["state"] not in ("TASK_STAGING", "TASK_STARTING", "TASK_RUNNING"):
            self.ended.set()

    def error(self, message):
        tell("error", message=message)
        self.ended.set()


def main():
    player = Player()
    threading.Thread(target=player.client.register, daemon=True).start()
    ended = player.ended.wait(50)
    player.driver.tearDown()
    tell("stopped", ended=ended)


main()
