import { createRequire } from "node:module";
import { driverError } from "@latchkey/core";
import type { PostgresPool } from "./database.js";

/** What is used of node-postgres. */
export interface Driver {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool;
}

const require = createRequire(import.meta.url);

/** node-postgres, for the first store that a URL opens: whoever hands in a pool or PGlite needs none. `load` is for tests. */
export function loadPostgres(load: () => Driver = () => require("pg") as Driver): Driver {
  try {
    return load();
  } catch (error) {
    throw driverError("pg", error);
  }
}
