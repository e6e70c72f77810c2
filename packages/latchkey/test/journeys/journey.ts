import type { RunsOf } from "../every-store.js";
import type { TestContext } from "../test-context.js";

/** The operations of one resource, in one run: each with its main outcome, and with its main refusal. */
export interface Journey {
  readonly resource: string;
  /** What the run promises. */
  readonly title: string;
  /**
   * Runs on an empty store. What `context.another()` answers is what another process sees. A journey of many cases tries as many of
   * them as `runs` says, each time others.
   */
  readonly run: (context: TestContext, runs: RunsOf) => Promise<void>;
}
