import { createRequire } from "node:module";
import { loadDriver } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

const require = createRequire(import.meta.url);

/** ioredis, loaded when a URL opens the first store; a client that is passed in does not need it. `load` is for tests. */
export const loadIoredis = (load: () => Driver = () => require("ioredis")): Driver =>
  loadDriver("ioredis", load);
