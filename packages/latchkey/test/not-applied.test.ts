import {
  type Change,
  createLatchkey,
  type HoldResult,
  interceptStore,
  isRepeatable,
  type Latchkey,
  LatchkeyError,
  OPERATIONS,
  type OperationName,
  type PortalSession,
  unavailable,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { type ChangeFixture, makeChangeFixture, WITH_VAULT } from "./change-cases/fixture.js";
import { CHANGE_CASES } from "./changes.js";
import { illsOf } from "./journeys/doctor.js";
import { REPEAT_CASES } from "./repeats/cases.js";
import { openContext, type TestContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

/** Calls to make on a prepared store. */
interface Calls {
  readonly title: string;
  readonly prepare?: (context: TestContext, fixture: ChangeFixture) => Promise<unknown>;
  readonly run: (latchkey: Latchkey, fixture: ChangeFixture) => Promise<unknown>;
}

/** Secrets of keys with one use each. */
const USED_UP = Array.from({ length: 60 }, (_, index) => `used_up_${index}_9c2a7d51`);

/** Changes that are no configuration, or that take several calls. */
const MORE: readonly Calls[] = [
  {
    title: "a portal session",
    run: async (latchkey, { apiId }) => {
      const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true };
      const { secret } = await latchkey.createPortalSession({ externalId: "pier-7", allow });
      const session = (await latchkey.openPortalSession(secret)) as PortalSession;
      const { keyId } = await session.createMyKey({ name: "south" });
      const made = await session.rotateMyKey({ keyId, graceMs: 1_000 });
      await session.revokeMyKey({ keyId: made.keyId });
      await latchkey.revokePortalSession({ externalId: "pier-7" });
    },
  },
  {
    title: "a reservation",
    run: async (latchkey, { key }) => {
      const { reservationId } = (await latchkey.reserve({ key })) as { reservationId: string };
      await latchkey.renew({ reservationId });
      await latchkey.settle({ reservationId, remaining: { cost: 0 } });
    },
  },
  {
    title: "a leaked root key",
    run: async (latchkey) => {
      const { key } = await latchkey.createRootKey({ permissions: ["*"] });
      await latchkey.reportLeaks({ leaks: [{ key }] });
      await latchkey.reportLeaks({
        leaks: [{ key, url: "https://example.com" }],
        policy: "delete",
      });
    },
  },
  {
    title: "uses and an expiry to notice",
    prepare: ({ latchkey, now }, { apiId }) => latchkey.createKey({ apiId, expires: now() + 1 }),
    run: async (latchkey, { key }) => {
      await latchkey.verifyKey({ key, remaining: { cost: 10 } });
      await latchkey.notice();
    },
  },
  {
    title: "more uses to notice than one commit writes",
    prepare: ({ latchkey }, { apiId }) =>
      latchkey.createKeys(
        USED_UP.map((plaintext) => ({ apiId, plaintext, remaining: 1, externalId: "pier-8" })),
      ),
    run: async (latchkey) => {
      for (const key of USED_UP) await latchkey.verifyKey({ key });
      await latchkey.notice();
    },
  },
  {
    title: "a pruned log",
    run: (latchkey) => latchkey.pruneAuditEvents({ before: latchkey.now() }),
  },
];

/** Records that do no harm if nothing follows: a pointer that leads nowhere, and what a repeat of the call will use. */
const HARMLESS: ReadonlySet<string> = new Set(["rootKeyPointer", "rememberedAnswer"]);

/** Whether a commit changes more than harmless records. */
function isChange({ expects: _, puts, claims, enters, ...others }: Change): boolean {
  const written = puts.filter(({ record }) => !HARMLESS.has(record.kind));
  return [written, ...Object.values(others)].some((part) => Array.isArray(part) && part.length > 0);
}

/** How the store fails: from a call on, or at that call only. */
type Failure = "for good" | "once";

/** Runs calls on a store that fails at a call. @returns Whether they ended before, and what was wrong. */
async function runUntil(
  { prepare, run }: Calls,
  calls: number,
  failure: Failure,
  hasKeys: boolean,
) {
  const context = openContext(() => memoryStore(), WITH_VAULT);
  const fixture = await makeChangeFixture(context);
  await prepare?.(context, fixture);
  context.advance(1);
  const { store } = context;
  let left = calls;
  let hasWritten = false;
  const noting = wrapped(store, {
    commit: async (workspaceId, change) => {
      const result = await store.commit(workspaceId, change);
      hasWritten ||= result.kind === "committed" && isChange(change);
      return result;
    },
    settle: async (...args) => {
      const result: HoldResult = await store.settle(...args);
      hasWritten ||= result.kind === "ended" || result.kind === "renewed";
      return result;
    },
    charge: (plan, moment) => {
      const result = store.charge(plan, moment);
      hasWritten ||= "kind" in result && result.kind === "charged" && plan.mode === "commit";
      return result;
    },
  });
  const failing = interceptStore(noting, (_, call) => {
    left -= 1;
    const fails = failure === "once" ? left === -1 : left < 0;
    return fails ? Promise.reject(unavailable("the store is down")) : call();
  });
  const clock = () => context.latchkey.now();
  const latchkey = createLatchkey({ store: failing, clock, ...WITH_VAULT });
  const wrong: string[] = [];
  const watched = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          hasWritten = false;
          try {
            const answer: unknown = await member.apply(target, args);
            return Object.hasOwn(Object(answer), "revokeMyKey") ? watched(Object(answer)) : answer;
          } catch (error) {
            if (hasWritten && error instanceof LatchkeyError && error.outcome === "not-applied")
              wrong.push(`${String(name)} wrote, and said not-applied after ${calls} calls`);
            throw error;
          }
        };
      },
    });
  let keys = 0;
  const repeatable = new Proxy(latchkey, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (!(name in OPERATIONS && isRepeatable(name as OperationName))) return member;
      return (input: object, ...others: unknown[]) => {
        keys += 1;
        const given = Array.isArray(input) ? input : { ...input, idempotencyKey: `call ${keys}` };
        return (member as (...args: unknown[]) => unknown).call(target, given, ...others);
      };
    },
  });
  const failed: unknown = await run(watched(hasKeys ? repeatable : latchkey), fixture).then(
    () => null,
    (error: unknown) => error,
  );
  if (failed !== null && !(failed instanceof LatchkeyError)) throw failed;
  // A disabled workspace is an ill as well, and so is a vault whose keys the doctor does not have.
  const ills = await illsOf(context, false);
  const broken = ills.filter(({ check }) => check !== "store" && check !== "vault");
  wrong.push(...broken.map(({ check, found }) => `${check}: ${found}, after ${calls} calls`));
  return { hasEnded: left >= 0, wrong };
}

describe.each<[Failure, boolean]>([
  ["for good", false],
  ["once", true],
])("if the store fails %s, with idempotency keys: %s", (failure, hasKeys) => {
  test.each([...CHANGE_CASES, ...REPEAT_CASES, ...MORE])(
    "$title is not reported as not applied once something is written",
    async (what) => {
      const found: string[] = [];
      // All of the first calls, then fewer and fewer of a long row.
      for (let calls = 0; calls < 1_000; calls += 1 + Math.floor(calls / 20)) {
        const { hasEnded, wrong } = await runUntil(what, calls, failure, hasKeys);
        found.push(...wrong);
        if (hasEnded) break;
      }
      expect(found).toEqual([]);
    },
  );
});
