import { createGuard } from "@latchkey/guard/fetch";
import { createLatchkey, openStore } from "latchkey";

// Opened once for all routes: lib/guard.js of an app.
const { STORE_URL = "memory:" } = process.env;
export const latchkey = createLatchkey({ store: openStore(STORE_URL) });
export const guard = createGuard(latchkey, { trustProxy: 1 });
