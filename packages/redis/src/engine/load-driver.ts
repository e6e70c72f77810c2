import { createRequire } from "node:module";
import { loadDriver } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

const require = createRequire(import.meta.url);

/** ioredis, for the first store that a URL opens: whoever hands in a client needs none. `load` is for tests. */
export const loadIoredis = (load: () => Driver = () => require("ioredis")): Driver =>
  loadDriver("ioredis", load);
