import { createGuard } from "@latchkey/guard/fetch";
import { createLatchkey, type Latchkey, openStore } from "latchkey";

const kept = globalThis as { latchkey?: Latchkey };

// lib/guard.ts in an app. The store is opened once, even when a development server reloads this module after a change.
const { STORE_URL = "memory:" } = process.env;
kept.latchkey ??= createLatchkey({ store: openStore(STORE_URL) });
export const { latchkey } = kept;
export const guard = createGuard(latchkey, { trustProxy: 1 });
