// @dcos/mesos-client as an operator in a page of the master's origin: MASTER_URL. One JSON line for each record.
//
// The client is written for browsers and takes XMLHttpRequest from its surroundings; jsdom's is a browser's.
"use strict";

const { createRequire } = require("module");
const load = createRequire(process.env.CLIENT_MODULES + "/");
const { JSDOM } = load("jsdom");
const master = process.argv[2];
global.XMLHttpRequest = new JSDOM("", { url: master }).window.XMLHttpRequest;
const { request, stream } = load("@dcos/mesos-client");

function tell(event, more) {
    console.log(JSON.stringify({ event, ...more }));
}

function failed(error) {
    tell("error", { code: error.code, message: error.message, response: error.response });
    process.exit(1);
}

const events = stream({ type: "SUBSCRIBE" }, "/api/v1").subscribe((record) => {
    const event = JSON.parse(record);
    tell("record", { record: event });
    if (event.type === "FRAMEWORK_REMOVED") {
        events.unsubscribe();
        process.exit(0);
    }
}, failed);

for (const type of ["GET_FLAGS", "GET_STATE", "GET_AGENTS", "GET_FRAMEWORKS", "GET_TASKS"]) {
    request({ type }, "/api/v1").subscribe((answer) => tell("answer", { answer: JSON.parse(answer) }), failed);
}
setTimeout(() => process.exit(3), 40000).unref();
