import type { TestContext } from "../test-context.js";

/** The operations of one resource, in one run: each with its main outcome, and with its main refusal. */
export interface Journey {
  readonly resource: string;
  /** What the run promises. */
  readonly title: string;
  /** Runs on an empty store. What `context.another()` answers is what another process sees. */
  readonly run: (context: TestContext) => Promise<void>;
}
