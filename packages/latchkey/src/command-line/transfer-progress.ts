import type { ProgressListener } from "@latchkey/transfer";
import type { Host } from "./host.js";

/** How often a line is written. */
const EVERY_MS = 2_000;

/** Writes the progress of a transfer to stderr, every other second. */
export function transferProgress(host: Host): ProgressListener {
  let shownAt = performance.now();
  return ({ phase, workspaceId, done, total, perSecond, secondsLeft }) => {
    if (performance.now() - shownAt < EVERY_MS) return;
    shownAt = performance.now();
    const left = secondsLeft === null ? "" : `, ${secondsLeft} s left`;
    host.warn(`${phase} ${workspaceId}: ${done} of ${total} records, ${perSecond} a second${left}`);
  };
}
