import type { ChangeLog } from "@latchkey/core";
import type { Changes } from "./change-log.js";
import { OnDemand } from "./on-demand.js";
import type { Transactions } from "./transactions.js";

/** What a write answers where it happened. Every other word is a refusal, and nothing was written. */
const HAPPENED: ReadonlySet<unknown> = new Set(["inserted", "updated", "deleted", "rotated"]);

/** Changes of configuration, each with what the audit log is to hold of it, in one step. */
export class LoggedChanges {
  readonly #steps: Transactions;
  readonly #changes: Changes;

  constructor(steps: Transactions, changes: Changes) {
    this.#steps = steps;
    this.#changes = changes;
  }

  /** @param work - May be called again, where another connection was in the way. */
  make<Result>(log: ChangeLog, work: (onDemand: OnDemand) => Result): Promise<Result> {
    return this.#steps.configure(() => {
      const onDemand = new OnDemand();
      const answer = work(onDemand);
      if (log.length > 0 && hasHappened(answer)) this.#changes.write(log, onDemand);
      return answer;
    });
  }
}

/** A write that cannot be refused answers nothing; one that can, a word, or an object with the word as its kind. */
function hasHappened(answer: unknown): boolean {
  const isObject = typeof answer === "object" && answer !== null && "kind" in answer;
  return answer === undefined || HAPPENED.has(isObject ? answer.kind : answer);
}
