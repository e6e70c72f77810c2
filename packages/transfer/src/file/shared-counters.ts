import { configuredWindow, type LimitState, type Usage } from "@latchkey/core";
import type { Part } from "../passes/source.js";
import type { CopiedRecord } from "../records/copied-record.js";

/** Counters that keys of a rotation share. */
interface Shared {
  usage: Usage | null;
  readonly windows: Record<string, LimitState>;
}

/**
 * Gives all keys that share counters the same value. If the store was in use during the backup, the counters may have changed
 * between one key and the next, and a key may have been rotated after its line was written, so that the line does not mention the
 * sharing yet.
 */
export class FileCounters {
  readonly #shared = new Map<string, Shared>();

  /** The last one read counts; of each window, the most advanced state. */
  learn(part: Part): void {
    if (part.kind !== "records") return;
    for (const { layout, usage, windows } of part.records) {
      if (layout.sharedCountersId === null) continue;
      const shared = this.#shared.get(layout.sharedCountersId) ?? { usage, windows: {} };
      this.#shared.set(layout.sharedCountersId, shared);
      shared.usage = usage;
      for (const [name, window] of Object.entries(windows)) {
        const known = shared.windows[name];
        const isFurther =
          known === undefined ||
          window.at > known.at ||
          (window.at === known.at && window.used > known.used);
        if (isFurther) shared.windows[name] = window;
      }
    }
  }

  resolve(part: Part): Part {
    if (part.kind !== "records" || part.of.kind !== "key") return part;
    return { ...part, records: part.records.map((record) => this.#resolved(record)) };
  }

  #resolved(copied: CopiedRecord): CopiedRecord {
    const name = copied.layout.sharedCountersId ?? copied.record.id;
    const shared = this.#shared.get(name);
    if (shared === undefined) return copied;
    const own = copied.layout.limits.map(configuredWindow);
    const windows = Object.entries(shared.windows).filter(([window]) => own.includes(window));
    return {
      ...copied,
      layout: { ...copied.layout, sharedCountersId: name },
      usage: shared.usage,
      windows: Object.fromEntries(windows),
    };
  }
}
