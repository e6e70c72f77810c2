import type { Connection } from "./connection.js";
import type { Names } from "./names.js";

/** What every call of a store needs. */
export interface StoreContext {
  readonly connection: Connection;
  readonly names: Names;
}
