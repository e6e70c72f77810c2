import { createRequire } from "node:module";
import { driverError } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

const require = createRequire(import.meta.url);

/** ioredis, for the first store that a URL opens: whoever hands in a client needs none. `load` is for tests. */
export function loadIoredis(load: () => Driver = () => require("ioredis") as Driver): Driver {
  try {
    return load();
  } catch (error) {
    throw driverError("ioredis", error);
  }
}
