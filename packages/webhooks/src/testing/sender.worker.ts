import { createLatchkey } from "@latchkey/core";
import { redisStore } from "@latchkey/redis";
import { sqliteStore } from "@latchkey/sqlite";
import { createWebhooks, type WebhookOptions } from "../index.js";

/** A process of its own that sends until it is killed: says `ready` when it has begun, and what it reports. */
const [place = "", keyPrefix = "", settings = "{}"] = process.argv.slice(2);

/** Nobody who sends is to fail since the machine stands still for a while. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
const store = place.startsWith("redis:")
  ? redisStore(place, { ...TIMEOUTS, keyPrefix })
  : sqliteStore(place, { deadlineMs: 60_000 });
const latchkey = createLatchkey({ store, onError: (error) => console.log(`error ${error}`) });
await createWebhooks(latchkey, JSON.parse(settings) as WebhookOptions).start();
console.log("ready");
