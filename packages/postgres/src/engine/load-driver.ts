import { createRequire } from "node:module";
import { loadDriver } from "@latchkey/core";
import type { PostgresPool } from "./database.js";

/** What is used of node-postgres. */
export interface Driver {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PostgresPool;
}

/** Called by way of `Reflect`: a bundler that sees the name would refuse to build a program where the driver is not installed. */
const requireHere = createRequire(import.meta.url);
const required = (name: string): unknown => Reflect.apply(requireHere, undefined, [name]);

/** node-postgres, loaded when a URL opens the first store; a pool or PGlite that is passed in does not need it. `load` is for tests. */
export const loadPostgres = (load: () => Driver = () => required("pg") as Driver): Driver =>
  loadDriver("pg", load);
