import type { RunsOf } from "../every-store.js";
import type { TestContext } from "../test-context.js";

/** A run of all operations of one resource, each with its main outcome and its main refusal. */
export interface Journey {
  readonly resource: string;
  /** What the run promises. */
  readonly title: string;
  /**
   * Runs on an empty store. `context.another()` shows what another process sees. A journey of many cases tries as many as `runs` allows,
   * each time different ones.
   */
  readonly run: (context: TestContext, runs: RunsOf) => Promise<void>;
}
