import { type KeyStore, LatchkeyError } from "@latchkey/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERY_CALL, type StoreCallSample } from "./fixtures/every-call.js";

/** Far beyond every deadline of a store under test: a call that has not settled by then never will. */
const NEVER_MS = 40_000;

/** The server of a store, which a test can disturb. */
export interface UnreliablePeer {
  /** Opens a store on it whose calls have at most about a second. */
  readonly open: () => KeyStore;
  /** From now on, it accepts everything and replies to nothing. */
  readonly stall: () => void;
  /** Ends {@link stall}. */
  readonly heal: () => void;
  /** Breaks its connections. */
  readonly cut?: () => void;
  readonly remove: () => Promise<void>;
}

/** How a store differs from one behind a network. */
export interface DeadlineOptions {
  /** The outcome of each kind of call while the peer stalls, for a store that was in use before; null if it succeeds. */
  readonly stalled?: {
    readonly write: "unknown" | "not-applied" | null;
    readonly read: "not-applied" | null;
  };
  /** Whether a store can be opened while the peer stalls. Default: true. */
  readonly opensSilent?: boolean;
}

/** Defines tests that no call of a store outlives its deadline, whatever the peer does, and that no call keeps the process alive. */
export function describeDeadlines(
  name: string,
  start: () => Promise<UnreliablePeer>,
  { stalled = { write: "unknown", read: "not-applied" }, opensSilent = true }: DeadlineOptions = {},
): void {
  describe(`the deadlines of ${name}`, () => {
    let peer: UnreliablePeer;
    beforeAll(async () => {
      peer = await start();
    });
    afterAll(() => peer.remove());

    if (opensSilent)
      test(
        "every call to a peer that has never said anything is refused, and nothing of it is left",
        async () => {
          peer.heal();
          const before = handles();
          peer.stall();
          const store = peer.open();
          const calls = EVERY_CALL.map(({ run }) => outcomeOf(() => run(store)));
          for (const outcome of await settled(calls)) expect(outcome).toBe("not-applied");
          await settled([store.close()]);
          peer.heal();
          peer.cut?.();
          await expect.poll(handles, { timeout: 60_000 }).toBeLessThanOrEqual(before);
        },
        NEVER_MS,
      );

    test.each(EVERY_CALL)(
      "$name, while the peer has stopped answering, is refused with its outcome",
      async ({ isWrite, run }) => {
        const store = peer.open();
        await whenWell(peer, store);
        peer.stall();
        const [outcome] = await settled([outcomeOf(() => run(store))]);
        peer.heal();
        const expected: (typeof outcome)[] = [isWrite === true ? stalled.write : stalled.read];
        if (isWrite === "later") expected.push(stalled.write);
        expect(expected).toContain(outcome);
        await settled([store.close()]);
      },
      NEVER_MS,
    );

    test(
      "any calls of one turn settle, in whatever order, and whatever happens to the peer between turns",
      async () => {
        const events = ["nothing", "stall", "heal", "cut"] as const;
        const turn = fc.record({
          calls: fc.array(fc.constantFrom(...EVERY_CALL), { maxLength: 8 }),
          event: fc.constantFrom(...events),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(turn, { maxLength: 6 }), async (turns) => {
            const store = peer.open();
            const calls: Promise<unknown>[] = [];
            await whenWell(peer, store);
            for (const { calls: samples, event } of turns) {
              for (const { run } of samples) calls.push(outcomeOf(() => run(store)));
              await new Promise((resolve) => setImmediate(resolve));
              if (event !== "nothing") peer[event]?.();
            }
            await settled(calls);
            peer.heal();
            await settled([store.close()]);
          }),
          { numRuns: 8 },
        );
      },
      4 * NEVER_MS,
    );
  });
}

/** Waits until a store works, and contains what the calls need. */
async function whenWell(peer: UnreliablePeer, store: KeyStore): Promise<void> {
  peer.heal();
  const [make] = EVERY_CALL as readonly [StoreCallSample];
  while ((await outcomeOf(() => make.run(store))) !== null);
}

/**
 * The outcome that the error of a call states; null if the call succeeds.
 *
 * @throws Any error other than that the store is unavailable.
 */
async function outcomeOf(call: () => unknown): Promise<LatchkeyError["outcome"] | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE") return error.outcome;
    throw error;
  }
}

async function settled<Answer>(calls: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("a call has not settled")), NEVER_MS / 2);
  });
  try {
    return await Promise.race([Promise.all(calls), never]);
  } finally {
    clearTimeout(timer);
  }
}

/** The number of timers and sockets that keep this process alive. */
function handles(): number {
  const kept = process.getActiveResourcesInfo();
  return kept.filter((kind) => /^(Timeout|TCPSocketWrap|PipeWrap)$/.test(kind)).length;
}
