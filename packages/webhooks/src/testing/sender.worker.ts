import { createLatchkey, type KeyStore } from "@latchkey/core";
import { postgresStore } from "@latchkey/postgres";
import { redisStore } from "@latchkey/redis";
import { sqliteStore } from "@latchkey/sqlite";
import { createWebhooks, type WebhookOptions } from "../index.js";

/** A separate process that sends until it is killed. It prints `ready` when it has started, and every error that it reports. */
const [place = "", keyPrefix = "", settings = "{}"] = process.argv.slice(2);
const [kind] = place.split(":");

/** Long, so that a machine that stalls for a while does not fail the worker. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
const OPENED: Readonly<Record<string, () => KeyStore>> = {
  redis: () => redisStore(place, { ...TIMEOUTS, keyPrefix }),
  postgres: () =>
    postgresStore(place, { chargeTimeoutMs: 60_000, timeoutMs: 60_000, schema: keyPrefix }),
};
const open = OPENED[kind ?? ""] ?? (() => sqliteStore(place, { deadlineMs: 60_000 }));
const store = open();
const latchkey = createLatchkey({ store, onError: (error) => console.log(`error ${error}`) });
await createWebhooks(latchkey, JSON.parse(settings) as WebhookOptions).start();
console.log("ready");
