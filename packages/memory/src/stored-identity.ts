import type { IdentityRecord } from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { NO_WINDOWS, type StoredWindows } from "./windows.js";

/** An identity with the counters of its limits, which all of its keys share. */
export class StoredIdentity {
  record: IdentityRecord;
  windows: StoredWindows = NO_WINDOWS;

  constructor(record: IdentityRecord) {
    this.record = frozenCopy(record);
  }

  get id(): string {
    return this.record.id;
  }
}
