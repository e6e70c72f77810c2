import { LatchkeyError } from "@latchkey/core";
import { ChangeLogs } from "./change-log.js";
import { Charges } from "./charges.js";
import { Namespaces } from "./namespaces.js";
import { RootKeys } from "./root-keys.js";
import { StoredKeys } from "./stored-keys.js";
import { Workspaces } from "./workspaces.js";

/** All that one store holds. */
export class MemoryState {
  #isClosed = false;
  readonly keys = new StoredKeys();
  readonly workspaces = new Workspaces(this.keys);
  readonly rootKeys = new RootKeys();
  readonly charges = new Charges();
  readonly namespaces = new Namespaces();
  readonly changes = new ChangeLogs();

  /**
   * Itself, for one call.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE` after {@link close}.
   */
  get opened(): this {
    if (this.#isClosed) {
      throw new LatchkeyError("STORE_UNAVAILABLE", "the store was closed", {
        outcome: "not-applied",
      });
    }
    return this;
  }

  close(): void {
    this.#isClosed = true;
    this.keys.clear();
    this.workspaces.clear();
    this.rootKeys.clear();
    this.charges.clear();
    this.namespaces.clear();
    this.changes.clear();
  }
}
