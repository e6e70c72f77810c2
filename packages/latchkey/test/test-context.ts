import { createLatchkey, type KeyStore, type Latchkey, type LatchkeyOptions } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, onTestFinished } from "vitest";

/** A latchkey on an empty store, with a clock that the test moves. */
export interface TestContext {
  readonly latchkey: Latchkey;
  readonly store: KeyStore;
  /** Another latchkey with the same data and clock and an empty cache, like another process. */
  another(options?: Partial<LatchkeyOptions>): Latchkey;
  now(): number;
  setClock(now: number): void;
  advance(ms: number): void;
}

/** Tuesday, 2026-03-10, 12:00 UTC. */
export const NOON: number = Date.UTC(2026, 2, 10, 12);

export const HOUR_MS = 3_600_000;
export const DAY_MS: number = 24 * HOUR_MS;

/** Two vault keys that differ. */
export const VAULT_KEYS: readonly [Uint8Array, Uint8Array] = [
  Uint8Array.from({ length: 32 }, (_, index) => index + 1),
  Uint8Array.from({ length: 32 }, (_, index) => 200 - index),
];

/** Makes a context on an empty store for the running test. */
export type OpenContext = (options?: Partial<LatchkeyOptions>) => TestContext;

/** Defines tests of operations. They run on memory, because the suite of each store checks that all stores answer in the same way. */
export function describeOnMemory(title: string, define: (open: OpenContext) => void): void {
  describe(title, () =>
    define((options) => {
      const store = memoryStore();
      return openContext(() => store, options);
    }),
  );
}

/**
 * Makes a context for the running test. `openHandle` opens the same data with each call. Every handle is closed after the test.
 */
export function openContext(
  openHandle: () => KeyStore,
  options: Partial<LatchkeyOptions> = {},
): TestContext {
  const open = () => {
    const store = openHandle();
    onTestFinished(() => store.close());
    return store;
  };
  const clock = () => instant;
  let instant = NOON;
  const store = open();
  return {
    latchkey: createLatchkey({ store, clock, ...options }),
    store,
    another: (more = {}) =>
      createLatchkey({ store: more.store ?? open(), clock, ...options, ...more }),
    now: clock,
    setClock: (now) => {
      instant = now;
    },
    advance: (ms) => {
      instant += ms;
    },
  };
}

/** Contexts in new workspaces of one store, because a new store for each would take long. */
export function workspacesOf(context: TestContext): () => TestContext {
  let count = 0;
  return () => {
    count += 1;
    const id = `ws_${count}`;
    return {
      ...context,
      latchkey: context.latchkey.workspace(id),
      another: (options) => context.another({ store: context.store, ...options }).workspace(id),
    };
  };
}

/** Issues a key of a new API. */
export async function issue(
  context: TestContext,
  fields: Partial<Parameters<TestContext["latchkey"]["createKey"]>[0]> = {},
) {
  const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
  return { apiId, ...(await context.latchkey.createKey({ apiId, ...fields })) };
}

/** The error of a call. Fails if it resolves. */
export async function rejectionOf(
  call: Promise<unknown>,
): Promise<Error & { code?: string; issues?: unknown }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError("rejected with something that is not an Error");
  }
  throw new Error("expected a rejection, and the call resolved");
}

/**
 * Asserts that each call rejects with this code. They are awaited together, because a rejection while another call is awaited would be
 * unhandled.
 */
export async function expectRefused(
  code: string,
  calls: readonly Promise<unknown>[],
): Promise<void> {
  const errors = await Promise.all(calls.map(rejectionOf));
  expect(errors.map((error) => error.code)).toEqual(calls.map(() => code));
}
