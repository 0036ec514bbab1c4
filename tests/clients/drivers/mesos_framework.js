// mesos-framework as a scheduler: HOST PORT. One JSON line for each event.
"use strict";

const { createRequire } = require("module");
const load = createRequire(process.env.CLIENT_MODULES + "/");
const { Scheduler, Mesos } = load("mesos-framework");
const mesos = Mesos.getMesos();
const [host, port] = process.argv.slice(2);

function tell(event, more) {
    console.log(JSON.stringify({ event, ...more }));
}

const command = new mesos.CommandInfo(null, null, true, "echo hello $HOST", null, null);
const scheduler = new Scheduler({
    masterUrl: host,
    port,
    frameworkName: "mesos-framework",
    logging: { path: process.cwd(), fileName: "mesos-framework.log", level: "error" },
    tasks: { hello: { priority: 1, instances: 1, commandInfo: command, resources: { cpus: 0.1, mem: 32, ports: 0, disk: 0 } } },
    restartStates: [],
});

let offers = 0;
scheduler.on("subscribed", (about) => tell("subscribed", about));
scheduler.on("heartbeat", () => tell("heartbeat"));
scheduler.on("offers", (about) => {
    offers += about.offers.length;
    tell("offers", { hostname: about.offers[0].hostname, ip: about.offers[0].url.address.ip });
});
scheduler.on("error", (error) => {
    tell("error", { message: error.message || String(error) });
    process.exitCode = 1;
});
scheduler.on("update", (update) => {
    const { state, task_id, message } = update.status;
    tell("update", { state, task_id: task_id.value, message });
    if (!["TASK_STAGING", "TASK_STARTING", "TASK_RUNNING"].includes(state)) {
        // Its acknowledgement is under way; then nothing is left to do.
        setTimeout(() => scheduler.teardown(), 200);
    }
});
scheduler.on("sent_teardown", () => {
    tell("stopped", { offers });
    process.exit();
});
scheduler.on("ready", () => scheduler.subscribe());
setTimeout(() => process.exit(3), 40000).unref();
