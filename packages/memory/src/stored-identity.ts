import type { IdentityRecord, LoadedIdentity, Usage } from "@latchkey/core";
import { Counters } from "./counters.js";
import { frozenCopy } from "./frozen.js";

/** An identity with the counters that all of its keys share. */
export class StoredIdentity extends Counters {
  record: IdentityRecord;
  /** Its keys are not told when it is deleted: each of them finds it dead, and is linked to none. */
  isLive = true;

  constructor(record: IdentityRecord, usage: Usage) {
    super(usage);
    this.record = frozenCopy(record);
  }

  get id(): string {
    return this.record.id;
  }

  load(): LoadedIdentity {
    return { identity: this.record, usage: this.usage };
  }
}
