import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { onTestFinished } from "vitest";
import { createDecision } from "../decide.js";
import type { GuardOptions } from "../options.js";
import type { PresentedRequest } from "../presented-request.js";
import type { GuardQuestion } from "../question.js";
import type { Decision, Refused } from "../refusal.js";

/** Tuesday, 2026-03-10, 12:00:10 UTC: 50 seconds before the next minute. */
export const START: number = Date.UTC(2026, 2, 10, 12, 0, 10);

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The request that functions of questions and options get in these tests. */
export interface TestRequest {
  readonly tiles: number;
}

/** A latchkey with one API, and a clock that the test moves. */
export interface TestContext {
  readonly latchkey: Latchkey;
  readonly apiId: string;
  advance(ms: number): void;
  /** Issues a key of the API. */
  issue(fields?: Partial<Parameters<Latchkey["createKey"]>[0]>): Promise<string>;
}

/** Opens a store that is closed when the test is over, with one API. */
export async function open(store: KeyStore = memoryStore()): Promise<TestContext> {
  onTestFinished(() => store.close());
  let instant = START;
  const latchkey = createLatchkey({ store, clock: () => instant });
  const { apiId } = await latchkey.createApi({ name: "map tiles" });
  for (const name of ["tiles.read", "tiles.write"]) await latchkey.createPermission({ name });
  return {
    latchkey,
    apiId,
    advance: (ms) => {
      instant += ms;
    },
    issue: async (fields) => (await latchkey.createKey({ apiId, ...fields })).key,
  };
}

/** A request that presents a key as a bearer token, or no key. */
export function bearing(key?: string, more: Partial<PresentedRequest> = {}): PresentedRequest {
  return {
    authorization: key === undefined ? [] : [`Bearer ${key}`],
    apiKey: [],
    forwardedFor: [],
    remoteAddress: "192.0.2.7",
    ...more,
  };
}

/** Decides on requests to one route. */
export function deciding(
  { latchkey }: Pick<TestContext, "latchkey">,
  question: GuardQuestion<TestRequest> = {},
  options: GuardOptions<TestRequest> = {},
): (presented: PresentedRequest, request?: TestRequest) => Promise<Decision> {
  const decide = createDecision(latchkey, options)(question);
  return (presented, request = { tiles: 1 }) => decide(presented, request);
}

/** The decision as a refusal, with its body parsed. */
export function refused(decision: Decision): Omit<Refused, "body"> & {
  readonly body: Readonly<Record<string, unknown>>;
} {
  if (decision.admitted) throw new Error("expected a refusal, and the request was admitted");
  return { ...decision, body: JSON.parse(decision.body) as Readonly<Record<string, unknown>> };
}
