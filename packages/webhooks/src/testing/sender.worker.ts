import { createLatchkey } from "@latchkey/core";
import { redisStore } from "@latchkey/redis";
import { sqliteStore } from "@latchkey/sqlite";
import { createWebhooks, type WebhookOptions } from "../index.js";

/** A process of its own that sends until it is killed: says `ready` when it has begun, and what it reports. */
const [place = "", keyPrefix = "", settings = "{}"] = process.argv.slice(2);

const store = place.startsWith("redis:") ? redisStore(place, { keyPrefix }) : sqliteStore(place);
const latchkey = createLatchkey({ store, onError: (error) => console.log(`error ${error}`) });
await createWebhooks(latchkey, JSON.parse(settings) as WebhookOptions).start();
console.log("ready");
