import { createGuard } from "@latchkey/guard/fetch";
import { createLatchkey, openStore } from "latchkey";

const kept = /** @type {typeof globalThis & { latchkey?: import("latchkey").Latchkey }} */ (
  globalThis
);

// lib/guard.js of an app. Opened once for all routes, also where a development server loads this module anew after a change.
const { STORE_URL = "memory:" } = process.env;
kept.latchkey ??= createLatchkey({ store: openStore(STORE_URL) });
export const { latchkey } = kept;
export const guard = createGuard(latchkey, { trustProxy: 1 });
