import { interceptStore, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { copy } from "./copy.js";
import { fill, latchkeyOn } from "./testing/fixture.js";

/** A process that stands still after some number of writes, such as one whose machine sleeps, until it is resumed. */
class Pause {
  /** Resolves once the process stands still. */
  readonly begun: Promise<void>;
  hasBegun = false;
  resume: () => void = () => undefined;
  #left: number;
  #begin: () => void = () => undefined;
  readonly #resumed: Promise<void>;

  constructor(after: number) {
    this.#left = after;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#resumed = new Promise((resolve) => {
      this.resume = resolve;
    });
  }

  /** The store as the process uses it. */
  store(store: KeyStore): KeyStore {
    return interceptStore(store, async ({ isRead }, run) => {
      const answer = await run();
      if (isRead) return answer;
      this.#left -= 1;
      if (this.#left === 0) {
        this.hasBegun = true;
        this.#begin();
      }
      if (this.hasBegun) await this.#resumed;
      return answer;
    });
  }
}

/** The digest of everything in a store. */
async function digestOf(store: KeyStore): Promise<string | null> {
  return (await copy(store, memoryStore())).digest;
}

async function aSource() {
  const store = memoryStore();
  const filled = await fill(store);
  const latchkey = latchkeyOn(store);
  await latchkey.reserve({ key: filled.counted, remaining: { cost: 1 } });
  await latchkey.createKey({ apiId: filled.apiId });
  await latchkey.deleteKey({ keyId: filled.recoverableId });
  await latchkey.close();
  return { store, filled };
}

test("a copy that stands still changes nothing more once another one has opened the target", async () => {
  const outcomes = new Set<string>();
  for (let writes = 1, isDone = false; !isDone; writes += 1) {
    const { store, filled } = await aSource();
    const to = memoryStore();
    const pause = new Pause(writes);
    const first = copy(store, pause.store(to)).then(
      () => "completed",
      ({ code }) => code,
    );
    await Promise.race([pause.begun, first]);
    isDone = !pause.hasBegun;
    if (isDone) continue;
    // Refused if the first copy stands still after its last write.
    await copy(store, to).catch(({ code }) => expect(code).toBe("PRECONDITION_FAILED"));
    const latchkey = latchkeyOn(to);
    await latchkey.verifyKey({ key: filled.counted });
    await latchkey.verifyKey({ key: filled.limited });
    await latchkey.close();
    const before = await digestOf(to);
    pause.resume();
    outcomes.add(await first);
    expect(await digestOf(to), `after ${writes} writes`).toBe(before);
  }
  expect([...outcomes].sort()).toEqual(["PRECONDITION_FAILED", "completed"]);
});
