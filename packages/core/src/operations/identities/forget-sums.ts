import type { StatisticsSubject } from "../../store/statistics.js";
import type { OperationContext } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";

/** Subjects of one step. */
const SUBJECTS_AT_ONCE = 200;

/** Behind all statistics, at the start of a day. */
const END_OF_TIME = Date.UTC(9_999, 0, 1);

/** Forgets how often keys and identities were verified, many of them in each step. */
export class SumsToForget {
  readonly #context: OperationContext;
  #waiting = new Map<string, StatisticsSubject>();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  async add(subject: StatisticsSubject): Promise<void> {
    this.#waiting.set(subject.id, subject);
    if (this.#waiting.size >= SUBJECTS_AT_ONCE) await this.end();
  }

  /** Forgets those that wait. */
  async end(): Promise<void> {
    const of = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (of.length === 0) return;
    const { store, workspaceId, recorder } = this.#context;
    // What this process has counted and not written yet.
    await recorder?.flush();
    await deleteInBatches(this.#context, DELETED_AT_ONCE, (_, limit) =>
      store.deleteStatistics(workspaceId, END_OF_TIME, limit, of),
    );
  }
}
