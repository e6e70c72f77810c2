import { interceptStore, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { copy } from "./copy.js";
import { takeBack } from "./live/take-back.js";
import { workspacesOf } from "./passes/source.js";
import { readState, replaceState } from "./state.js";
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

/** A source with one of everything. */
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

/** Announces leases, as a process does that may lease. */
async function announceLeases(store: KeyStore): Promise<void> {
  for (const id of await workspacesOf(store)) {
    const before = await readState(store, id);
    await replaceState(store, id, before, before.state, () => ({ grant: 10, wait: 10 }));
  }
}

/** A copy that stands still after some number of writes; null if it has completed by then. */
async function copyUntilPause(from: KeyStore, to: KeyStore, live: boolean, writes: number) {
  const pause = new Pause(writes);
  const outcome = copy(pause.store(from), pause.store(to), { live }).then(
    () => "completed",
    ({ code }) => code as string,
  );
  await Promise.race([pause.begun, outcome]);
  if (!pause.hasBegun) return null;
  const resume = () => {
    pause.resume();
    return outcome;
  };
  return { resume };
}

describe.each([{ live: false }, { live: true }])(
  "a copy (live: $live) that stands still",
  ({ live }) => {
    test("changes nothing more once another one has opened the target", async () => {
      const outcomes = new Set<string>();
      for (let writes = 1; ; writes += 1) {
        const { store, filled } = await aSource();
        const to = memoryStore();
        const paused = await copyUntilPause(store, to, live, writes);
        if (paused === null) break;
        // Refused if the first copy stands still after its last write.
        await copy(store, to, { live }).catch(({ code }) =>
          expect(code).toBe("PRECONDITION_FAILED"),
        );
        const latchkey = latchkeyOn(to);
        await latchkey.verifyKey({ key: filled.counted });
        await latchkey.verifyKey({ key: filled.limited });
        await latchkey.close();
        const before = await digestOf(to);
        outcomes.add(await paused.resume());
        expect(await digestOf(to), `after ${writes} writes`).toBe(before);
      }
      outcomes.delete("CONFLICT");
      expect([...outcomes].sort()).toEqual(["PRECONDITION_FAILED", "completed"]);
    });
  },
);

test.each([{ leases: false }, { leases: true }])(
  "a live copy that stands still and was taken back closes no source, and opens no target (leases: $leases)",
  async ({ leases }) => {
    // The first write is only the name of the source: the copy has not begun.
    for (let writes = 2; ; writes += 1) {
      const { store, filled } = await aSource();
      if (leases) await announceLeases(store);
      const to = memoryStore();
      const paused = await copyUntilPause(store, to, true, writes);
      if (paused === null) break;
      await takeBack(store, to, { force: true });
      if (leases) await announceLeases(store);
      await paused.resume();
      const answers = [store, to].map((each) =>
        latchkeyOn(each)
          .verifyKey({ key: filled.plain })
          .then(
            ({ code }) => code,
            ({ reason }) => reason,
          ),
      );
      expect(await Promise.all(answers), `after ${writes} writes`).toEqual(["VALID", "incomplete"]);
    }
  },
);

test("a live copy that stands still closes no source once its target was given to another one", async () => {
  const another = await aSource();
  const answers = new Set<string>();
  for (let writes = 2; ; writes += 1) {
    const { store, filled } = await aSource();
    const answer = () =>
      latchkeyOn(store)
        .verifyKey({ key: filled.plain })
        .then(
          ({ code }) => code,
          ({ reason }) => reason as string,
        );
    const to = memoryStore();
    const paused = await copyUntilPause(store, to, true, writes);
    if (paused === null) break;
    const before = await answer();
    // Refused if the first copy has opened the target.
    const isTaken = await copy(another.store, to, { startOver: true }).then(
      () => true,
      () => false,
    );
    await paused.resume();
    if (isTaken) expect(await answer(), `after ${writes} writes`).toBe(before);
    if (isTaken) answers.add(before);
  }
  expect([...answers].sort()).toEqual(["VALID", "moved"]);
});
