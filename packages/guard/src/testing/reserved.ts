import { createLatchkey, type Latchkey, unavailable } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { vi } from "vitest";
import { createDecision } from "../decide.js";
import type { GuardOptions } from "../options.js";
import type { GuardQuestion } from "../question.js";
import type { ReservedKey } from "../reservation.js";
import { bearing, open, type TestRequest } from "./open.js";

export const TTL_MS = 60_000;

/** A key with 100 uses, a decision that reserves 40 of them for a minute, and a store on which settle, release and renew can fail. */
export async function reserved(
  question: GuardQuestion<TestRequest> = { reserve: { cost: 40, ttl: TTL_MS } },
  options: GuardOptions<TestRequest> = {},
) {
  const store = memoryStore();
  const opened = await open(store);
  // Without usage statistics, whose timer is not the guard's.
  const latchkey = createLatchkey({ store, clock: opened.latchkey.now, usage: false });
  const context = { ...opened, latchkey };
  const key = await context.issue({
    remaining: 100,
    ratelimits: [
      { name: "parallel", limit: 2, duration: "30s", algorithm: "concurrent" },
      { name: "tokens", limit: 50, duration: "1d" },
    ],
  });
  const { id: keyId } = await latchkey.whoami({ key });
  let [isAway, answersAreLost] = [false, false];
  const calls: string[] = [];
  const through =
    (name: "settle" | "release" | "renew") =>
    async (...input: readonly unknown[]) => {
      calls.push(name);
      if (isAway) throw unavailable("the store is away");
      const answer = await (latchkey[name] as (...input: readonly unknown[]) => unknown)(...input);
      if (answersAreLost) throw unavailable("the answer is lost", "unknown");
      return answer;
    };
  const watched = {
    ...latchkey,
    settle: through("settle"),
    release: through("release"),
    renew: through("renew"),
  } as Latchkey;
  const onError = vi.fn();
  const decide = createDecision(watched, { onError, ...options })(question);
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) {
      context.advance(Math.min(10, left));
      await vi.advanceTimersByTimeAsync(Math.min(10, left));
    }
  };
  return {
    context,
    calls,
    onError,
    pass,
    decide: () => decide(bearing(key), { tiles: 1 }),
    admit: async () => {
      const decision = await decide(bearing(key), { tiles: 1 });
      if (!decision.admitted) throw new Error(`refused: ${decision.code}`);
      return { apiKey: decision.apiKey as ReservedKey, end: decision.end ?? (() => undefined) };
    },
    storeIsAway: (away: boolean) => {
      isAway = away;
    },
    loseAnswers: (lost: boolean) => {
      answersAreLost = lost;
    },
    remaining: async () => (await latchkey.getKey({ keyId })).remaining,
    openCount: async () => (await latchkey.listReservations({ keyId })).reservations.length,
    messages: () => onError.mock.calls.map(([{ message }]) => message),
    codes: () => onError.mock.calls.map(([{ reason, code }]) => reason ?? code),
  };
}

/** Waits a turn: a hold is ended one turn after its response. */
export const aTurn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1);
