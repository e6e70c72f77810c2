import { createLatchkey, type KeyStore, type Latchkey, type LeakPolicy } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { copy } from "@latchkey/transfer";
import { expect, test } from "vitest";

const URL = "https://code.example/diff/1";

/** A store that fails over in its first commit: everything that `report` did is lost. */
async function beforeFailover(report: (latchkey: Latchkey) => Promise<unknown>, kept: KeyStore) {
  const lost = memoryStore();
  await copy(kept, lost);
  await report(createLatchkey({ store: lost }));
  let current: KeyStore = lost;
  return new Proxy(kept, {
    get: (_, name) => {
      if (name === "commit") current = kept;
      const member = Reflect.get(current, name) as unknown;
      return typeof member === "function" ? member.bind(current) : member;
    },
  });
}

test.each<[LeakPolicy, string]>([
  ["disable", "DISABLED"],
  ["delete", "NOT_FOUND"],
])(
  "policy %s: a report that was handled before, and is lost by the time of the commit, is handled",
  async (policy, code) => {
    const store = memoryStore();
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key } = await latchkey.createKey({ apiId });
    const root = await latchkey.createRootKey({ permissions: ["*"] });
    for (const leaked of [key, root.key]) {
      const report = { leaks: [{ key: leaked, url: URL }], policy };
      const early = createLatchkey({
        store: await beforeFailover((first) => first.reportLeaks(report), store),
      });
      expect((await early.reportLeaks(report)).leaks).toHaveLength(1);
    }
    expect((await latchkey.verifyKey({ key })).code).toBe(code);
    expect(await latchkey.authenticateRootKey(root.key)).toMatchObject({ kind: "refused" });
  },
);
