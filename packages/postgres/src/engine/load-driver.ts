import { loadDriver, requireFrom } from "@latchkey/core";
import type { PostgresPool } from "./database.js";

/** The part of node-postgres that is used here. */
export interface Driver {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool;
}

const required = (name: string): unknown => requireFrom(import.meta.url, name);

/** node-postgres, loaded when a URL opens the first store; a pool or PGlite that is passed in does not need it. `load` is for tests. */
export const loadPostgres = (load: () => Driver = () => required("pg") as Driver): Driver =>
  loadDriver("pg", load);
