import type { Connection } from "./connection.js";
import type { Names } from "./names.js";

/** A workspace in Redis: what its keys are called there, and the connection to them. */
export interface Workspace {
  readonly names: Names;
  readonly connection: Connection;
}
