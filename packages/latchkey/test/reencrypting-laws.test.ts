import { interceptStore, type KeyStore, type Latchkey, unavailable } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { issue, type TestContext, VAULT_KEYS, workspacesOf } from "./test-context.js";
import { unclosed, wrapped } from "./wrapped-store.js";

const [EARLIER, NEXT] = VAULT_KEYS;
const RING = { earlier: EARLIER, next: NEXT };

/** The rings of a rotation, in the order of its steps: a key is added, put in front, and the earlier one is removed. */
const RINGS = [
  { vault: { current: "earlier", keys: RING } },
  { vault: { current: "next", keys: RING } },
  { vault: { current: "next", keys: { next: NEXT } } },
] as const;

/** Encrypts all secrets of an API again, page by page, and repeats a page that fails. @returns How many were. */
async function reencryptAll(latchkey: Latchkey, apiId: string, limit: number): Promise<number> {
  let total = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await latchkey.reencryptKeys({ apiId, limit, cursor }).catch(() => null);
    if (page === null) continue;
    expect(page).not.toHaveProperty("unopened");
    total += page.reencrypted;
    cursor = page.cursor;
    if (cursor === undefined) return total;
  }
}

/** A store that fails at some calls, before or after they are executed. */
function failing(store: KeyStore, { below }: ReturnType<typeof chanceOf>): KeyStore {
  return interceptStore(unclosed(store), async (_, call) => {
    const kind = below(12);
    if (kind === 0) throw unavailable("the store is away");
    const answer = await call();
    if (kind === 1) throw unavailable("the answer was lost", "unknown");
    return answer;
  });
}

type Found = Awaited<ReturnType<KeyStore["read"]>>["found"][number];

/** A record as it is when its secret is encrypted with the next key. */
function reencrypted(found: Found): Found {
  if (found === null) return null;
  const body = JSON.parse(JSON.stringify(found.record.body).replace("earlier", "next"));
  return { ...found, record: { ...found.record, version: found.record.version + 1, body } };
}

/** A store that fails over before a commit, and thereby loses that another call encrypted secrets again, which it showed until then. */
function failingOver(store: KeyStore): KeyStore {
  let hasFailedOver = false;
  const shown = <Answer extends Pick<Awaited<ReturnType<KeyStore["read"]>>, "found">>(
    answer: Answer,
  ): Answer => (hasFailedOver ? answer : { ...answer, found: answer.found.map(reencrypted) });
  return wrapped(store, {
    read: async (...given) => shown(await store.read(...given)),
    page: async (...given) => shown((await store.page(...given)) as never),
    commit: (...given) => {
      hasFailedOver = true;
      return store.commit(...given);
    },
  });
}

describeOnEveryStore("reencryptKeys", (open, runs) => {
  test("leaves no secret that needs the earlier key, whatever else happens meanwhile", async () => {
    const nextWorkspace = workspacesOf(open());
    for (const seed of seedsOf(runs(60))) {
      const chance = chanceOf(seed);
      const context: TestContext = nextWorkspace();
      const { apiId } = await context.another(RINGS[0]).createApi({ name: "tides" });
      const secrets = new Map<string, string | undefined>();
      const create = async (latchkey: Latchkey) => {
        const recoverable = chance.below(4) > 0;
        const { keyId, key } = await latchkey.createKey({ apiId, recoverable });
        secrets.set(keyId, recoverable ? key : undefined);
      };
      for (let key = 0; key < 6; key += 1) await create(context.another(RINGS[0]));
      // From here on, no process has the earlier key in front.
      const processes = [0, 1].map(() => context.another(RINGS[1]));
      const [sure] = processes as [Latchkey];
      const unsure = context.another({ store: failing(context.store, chance), ...RINGS[1] });
      const change = async () => {
        const latchkey = chance.pick(processes);
        const keyId = chance.pick([...secrets.keys()]);
        const kind = chance.below(6);
        if (kind === 0) return create(latchkey);
        if (kind === 1) {
          secrets.delete(keyId);
          return latchkey.deleteKey({ keyId });
        }
        if (kind === 2) return latchkey.getKey({ keyId, decrypt: true });
        if (kind === 3) return latchkey.updateKey({ keyId, name: `n${chance.below(9)}` });
        if (kind === 4) {
          const made = await latchkey.rotateKey({ keyId, graceMs: "1d" }).catch(() => null);
          if (made !== null)
            secrets.set(made.keyId, secrets.get(keyId) === undefined ? undefined : made.key);
          return;
        }
        return latchkey.verifyKey({ key: secrets.get(keyId) ?? "unknown" });
      };
      const changing = (async () => {
        for (let step = 0; step < 4; step += 1) await change();
      })();
      await Promise.all([reencryptAll(unsure, apiId, 1 + chance.below(4)), changing]);
      const reader = context.another(RINGS[2]);
      for (const [keyId, secret] of secrets) {
        const { plaintext } = await reader.getKey({ keyId, decrypt: true });
        expect(plaintext, `seed ${seed}`).toBe(secret);
      }
      expect(await reencryptAll(sure, apiId, 3)).toBe(0);
    }
  });

  test("does not rely on what a failover has undone meanwhile", async () => {
    const context = open(RINGS[0]);
    const { apiId, keyId, key } = await issue(context, { recoverable: true });
    const failedOver = context.another({ store: failingOver(context.store), ...RINGS[1] });
    expect(await failedOver.reencryptKeys({ apiId })).toEqual({ reencrypted: 1 });
    const reader = context.another(RINGS[2]);
    expect(await reader.getKey({ keyId, decrypt: true })).toMatchObject({ plaintext: key });
  });

  test("finds nothing to do in an API without keys, and in one whose keys are all encrypted with the current key", async () => {
    const { latchkey } = open(RINGS[1]);
    const { apiId } = await latchkey.createApi({ name: "tides" });
    expect(await latchkey.reencryptKeys({ apiId })).toEqual({ reencrypted: 0 });
    for (let key = 0; key < 100; key += 1)
      await latchkey.createKey({ apiId, recoverable: key % 2 === 0 });
    expect(await latchkey.reencryptKeys({ apiId })).toEqual({ reencrypted: 0 });
  });
});
