import type { SpanMs } from "@latchkey/core";

/** A wait that can be ended early. */
export class Alarm {
  #isRung = false;
  #end: (() => void) | null = null;

  /** Ends the current wait, or the next one. */
  ring(): void {
    this.#isRung = true;
    this.#end?.();
  }

  /** Resolves after `ms` of the machine's time, or when it rings. */
  async wait(ms: SpanMs): Promise<void> {
    if (!this.#isRung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#end = null;
    this.#isRung = false;
  }
}
