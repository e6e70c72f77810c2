import type { ChargePlan, ChargeResult } from "@latchkey/core";
import type { Charging } from "./charge.js";
import type { Connection } from "./connection.js";
import { isBusy, sqliteCode, unavailable } from "./errors.js";
import { SYNCHRONOUS } from "./pragmas.js";
import type { RetryQueue } from "./retry-queue.js";

interface Queued {
  readonly plan: ChargePlan;
  readonly resolve: (result: ChargeResult) => void;
  readonly reject: (error: unknown) => void;
}

/** So that one commit stays short. */
const MAX_BATCH = 256;

/**
 * Charges that are written through to the disk: all that are asked for in one turn of the event loop share one
 * transaction and one flush. Each is decided on what those before it left behind, and answered after the commit.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #charging: Charging;
  readonly #queue: RetryQueue;
  #queued: Queued[] = [];
  #scheduled: NodeJS.Immediate | undefined;

  constructor(connection: Connection, charging: Charging, queue: RetryQueue) {
    this.#connection = connection;
    this.#charging = charging;
    this.#queue = queue;
  }

  charge(plan: ChargePlan): Promise<ChargeResult> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ plan, resolve, reject });
      this.#scheduled ??= setImmediate(() => this.#flush());
    });
  }

  /** Rejects what was not begun. */
  close(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    for (const { reject } of this.#queued.splice(0)) reject(unavailable("the store was closed"));
  }

  #flush(): void {
    const batch = this.#queued.splice(0, MAX_BATCH);
    this.#scheduled = this.#queued.length > 0 ? setImmediate(() => this.#flush()) : undefined;
    this.#queue
      .run(() => this.#commit(batch))
      .then(
        (answers) => {
          for (const answer of answers) answer();
        },
        (error) => {
          for (const { reject } of batch) reject(error);
        },
      );
  }

  #commit(batch: readonly Queued[]): readonly (() => void)[] {
    return this.#connection.write(SYNCHRONOUS.FULL, () => {
      this.#connection.memo.confirm();
      return batch.map((queued) => this.#answer(queued));
    });
  }

  /** A record that is damaged is its own charge's trouble, not that of the others: nothing was written yet. */
  #answer({ plan, resolve, reject }: Queued): () => void {
    try {
      const result = this.#charging.take(plan);
      return () => resolve(result);
    } catch (error) {
      if (isBusy(error) || sqliteCode(error) !== null) throw error;
      return () => reject(error);
    }
  }
}
