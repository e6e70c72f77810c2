import { isRepeatable, type Latchkey, OPERATIONS, type OperationName } from "@latchkey/core";
import {
  type ChangeCase,
  type ChangeFixture,
  WITH_EARLIER_VAULT,
} from "../change-cases/fixture.js";
import { CHANGE_CASES } from "../changes.js";
import { DAY_MS, type TestContext } from "../test-context.js";

/** A way to call a write on a prepared store. */
export interface RepeatCase extends Pick<ChangeCase, "title" | "operation"> {
  /** It counts deletions only after their commit, so the answer after an interruption may be too low. */
  readonly countsBehind?: true;
  readonly prepare?: (context: TestContext, fixture: ChangeFixture) => Promise<unknown>;
  readonly run: (latchkey: Latchkey, fixture: ChangeFixture) => Promise<unknown>;
}

/** More keys than one step deletes. */
const MANY_KEYS = 45;

async function makeManyKeys({ latchkey }: TestContext, { apiId }: ChangeFixture): Promise<void> {
  await latchkey.createKeys(
    Array.from({ length: MANY_KEYS }, (_, index) => ({
      apiId,
      plaintext: `old_${index}_9c2a7d51`,
    })),
  );
}

/** Every write of the table, in at least one way. */
export const REPEAT_CASES: readonly RepeatCase[] = [
  ...CHANGE_CASES.filter(({ operation }) => isRepeatable(operation as OperationName)),
  {
    title: "deleteKeys, in several steps",
    operation: "deleteKeys",
    prepare: makeManyKeys,
    run: (latchkey, { apiId }) => latchkey.deleteKeys({ apiId }),
  },
  {
    title: "deleteApi, in several steps",
    operation: "deleteApi",
    prepare: makeManyKeys,
    run: (latchkey, { apiId }) => latchkey.deleteApi({ apiId }),
  },
  {
    title: "eraseIdentity, of two identities",
    operation: "eraseIdentity",
    prepare: async ({ latchkey }, { apiId, identityId }) => {
      await latchkey.deleteIdentity({ identityId });
      await latchkey.createKey({ apiId, externalId: "pier-7", tags: ["quay"] });
    },
    run: (latchkey) => latchkey.eraseIdentity({ externalId: "pier-7" }),
  },
  {
    title: "createKeys, of keys of which one is refused",
    operation: "createKeys",
    run: (latchkey, { apiId, key }) =>
      latchkey.createKeys(
        [
          { apiId, plaintext: key },
          { apiId, plaintext: "old_new_5e84b06", externalId: "pier-8" },
        ],
        { partial: true },
      ),
  },
  {
    title: "createKey, not recoverable",
    operation: "createKey",
    run: (latchkey, { apiId }) => latchkey.createKey({ apiId, externalId: "pier-8" }),
  },
  {
    title: "createKey, recoverable",
    operation: "createKey",
    run: (latchkey, { apiId }) => latchkey.createKey({ apiId, recoverable: true }),
  },
  {
    title: "reencryptKeys, of secrets that were encrypted with an earlier key",
    operation: "reencryptKeys",
    prepare: async ({ another, store }, { apiId }) => {
      const earlier = another({ store, ...WITH_EARLIER_VAULT });
      for (let key = 0; key < 3; key += 1) await earlier.createKey({ apiId, recoverable: true });
    },
    run: (latchkey, { apiId }) => latchkey.reencryptKeys({ apiId }),
  },
  {
    title: "updateIdentity that changes nothing",
    operation: "updateIdentity",
    run: (latchkey) => latchkey.updateIdentity({ externalId: "pier-7", meta: {} }),
  },
  {
    title: "notice",
    operation: "notice",
    prepare: async ({ latchkey, advance, now }, { apiId }) => {
      await latchkey.createKey({ apiId, expires: now() + 1 });
      await latchkey.createKey({ apiId, expires: now() + DAY_MS });
      advance(1);
    },
    run: (latchkey) => latchkey.notice(),
  },
  {
    title: "deleteWorkspace",
    operation: "deleteWorkspace",
    prepare: ({ latchkey }) => latchkey.workspace("ws_gone").createApi({ name: "gates" }),
    run: (latchkey) => latchkey.deleteWorkspace({ workspaceId: "ws_gone", confirm: "ws_gone" }),
  },
  {
    title: "pruneAuditEvents",
    operation: "pruneAuditEvents",
    prepare: async ({ advance }) => advance(DAY_MS),
    run: (latchkey) => latchkey.pruneAuditEvents({ before: latchkey.now() }),
  },
  {
    title: "pruneVerifications",
    operation: "pruneVerifications",
    countsBehind: true,
    prepare: async ({ latchkey, store, advance, now }, { keyId }) => {
      const subject = { kind: "key", id: keyId } as const;
      const counts = [{ subject, hourAt: now(), code: "VALID", count: 3 } as const];
      await store.addStatistics(latchkey.workspaceId, { counts, uses: [] });
      advance(DAY_MS);
    },
    run: (latchkey) => latchkey.pruneVerifications({ before: latchkey.now() }),
  },
];

/** A call of a write with an `idempotencyKey`. */
export interface RecordedCall {
  readonly operation: OperationName;
  readonly given: readonly unknown[];
  answer?: unknown;
}

/** One case for each way to remember a call: in one commit, in steps, in rounds, without a secret, and with one to decrypt again. */
export const REPRESENTATIVES: readonly RepeatCase[] = [
  "createPermission",
  "updateRemaining",
  "deleteKeys, in several steps",
  "createKey, not recoverable",
  "createKey, recoverable",
].map((title) => {
  const found = REPEAT_CASES.find((one) => one.title === title);
  if (found === undefined) throw new TypeError(`no case is called "${title}"`);
  return found;
});

type Call = (...given: readonly unknown[]) => Promise<unknown>;

/** Repeats a call. */
export function callAgain(
  latchkey: Latchkey,
  { operation, given }: RecordedCall,
): Promise<unknown> {
  return (latchkey[operation] as Call)(...given);
}

/** A latchkey that gives every write its own `idempotencyKey`, and records the call. */
export function withIdempotencyKeys(latchkey: Latchkey, calls: RecordedCall[]): Latchkey {
  return new Proxy(latchkey, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (!(name in OPERATIONS) || !isRepeatable(name as OperationName)) return member;
      return async (input: unknown, beside?: object) => {
        const idempotencyKey = `call-${calls.length}`;
        const isInInput =
          (typeof input === "object" && !Array.isArray(input)) || input === undefined;
        const given = isInInput
          ? [{ ...(input as object), idempotencyKey }, beside]
          : [input, { ...beside, idempotencyKey }];
        const call: RecordedCall = { operation: name as OperationName, given };
        calls.push(call);
        call.answer = await callAgain(target, call);
        return call.answer;
      };
    },
  });
}

/** The expected answer of a repetition: a secret is shown only once, unless it is recoverable. */
export function asRepeated(answer: unknown, repeated: unknown): unknown {
  const { secretShownBefore } = Object(repeated) as { readonly secretShownBefore?: true };
  if (secretShownBefore === undefined) return answer;
  const { key: _, ...others } = answer as { readonly key?: string };
  return { ...others, secretShownBefore };
}

/** The part of an answer that does not depend on ids and secrets of a run. */
export function withoutIds(answer: unknown): unknown {
  const { key: _, secretShownBefore: __, ...others } = Object(answer) as Record<string, unknown>;
  const text = JSON.stringify(others).replace(/\b(api|key|id|ws|role|perm|root)_\w{20,}/g, "$1_");
  return JSON.parse(text);
}
