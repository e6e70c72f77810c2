import { createLatchkey } from "@latchkey/core";
import { redisStore } from "@latchkey/redis";
import { sqliteStore } from "@latchkey/sqlite";
import { createWebhooks, type WebhookOptions } from "../index.js";

/** A separate process that sends until it is killed. It prints `ready` when it has started, and every error that it reports. */
const [place = "", keyPrefix = "", settings = "{}"] = process.argv.slice(2);

/** Long, so that a machine that stalls for a while does not fail the worker. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
const store = place.startsWith("redis:")
  ? redisStore(place, { ...TIMEOUTS, keyPrefix })
  : sqliteStore(place, { deadlineMs: 60_000 });
const latchkey = createLatchkey({ store, onError: (error) => console.log(`error ${error}`) });
await createWebhooks(latchkey, JSON.parse(settings) as WebhookOptions).start();
console.log("ready");
