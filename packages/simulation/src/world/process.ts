import type { Latchkey } from "@latchkey/core";
import type { ProcessSender } from "../webhooks/sending.js";

/** A process: a whole latchkey with its own caches and clock. */
export interface Process {
  readonly latchkey: Latchkey;
  /** The latchkey bound to each workspace, by index. */
  readonly bound: Map<number, Latchkey>;
  /** Its sender of webhooks; null: it sends none. */
  sender: ProcessSender | null;
  isAlive: boolean;
  /** Its clock less the true time, in ms. */
  clockOffset: number;
  /** The latest instant that its clock has shown. */
  latest: number;
}
