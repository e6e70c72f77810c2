import { hash as digest, randomBytes } from "node:crypto";
import { type Change, createLatchkey, type Latchkey } from "@latchkey/core";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { GUARDED } from "../questions.js";
import { openRaw } from "../raw/raw.js";
import { type RawRows, recordingStore, rowsOf } from "../raw/rows.js";
import type { Work } from "./work.js";

/** Measures createKey against drawing random bytes, hashing them, and writing the same rows by hand. */
export function createKeys(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const changes: Change[] = [];
    const store = recordingStore(await openStore(kind, location, "latchkey"), (change) =>
      changes.push(change),
    );
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "benchmark" });
    for (const name of GUARDED.keys.permissions) await latchkey.createPermission({ name });
    await create(latchkey, apiId);
    const template = rowsOf(changes.at(-1) as Change);
    const raw = await openRaw(kind, location);
    const total = async () => (await latchkey.listKeys({ apiId, limit: 1 })).total;
    const before = await total();
    let created = 0;
    let written = 0;
    const sides = await interleave(
      [
        {
          name: "raw",
          maxCalls: scale.created,
          run: async (calls) => {
            for (let call = 0; call < calls; call += 1) {
              written += 1;
              await raw.write(newRows(template, written));
            }
          },
        },
        {
          name: "latchkey",
          maxCalls: scale.created,
          run: async (calls) => {
            changes.length = 0;
            for (let call = 0; call < calls; call += 1) await create(latchkey, apiId);
            created += calls;
          },
        },
      ],
      scale.slowPace,
    );
    if ((await total()) - before !== created) throw new Error("not every key was created");
    const pages = await raw.page(template.entries[0]?.list ?? "", "", written);
    if (pages.length !== written) throw new Error("not every row was written");
    await latchkey.close();
    return [{ id: `create/${kind}`, title: "createKey", unit: "µs", sides }];
  };
}

function create(latchkey: Latchkey, apiId: string) {
  const { permissions, remaining, limits } = GUARDED.keys;
  return latchkey.createKey({
    apiId,
    permissions: [...permissions],
    ...(remaining !== null && { remaining }),
    ratelimits: [...limits],
  });
}

/** The rows of a template with a new secret and new ids, which ascend like latchkey's. */
function newRows(template: RawRows, count: number): RawRows {
  const secret = randomBytes(16).toString("base64url");
  const hash = digest("sha256", secret, "base64url");
  const suffix = `_${String(count).padStart(24, "0")}`;
  const keyId = `key${suffix}`;
  const entryId = `evt${suffix}`;
  const now = Date.now();
  const [key, ...log] = template.records;
  if (key === undefined) throw new Error("createKey wrote no record");
  return {
    records: [
      { ...key, id: keyId, body: { ...key.body, hash, createdAt: now } },
      ...log.map((entry) => ({
        ...entry,
        id: entryId,
        body: { ...entry.body, at: now, resourceId: keyId },
      })),
    ],
    claims: template.claims.map(() => ({ name: `key:hash:${hash}`, id: keyId })),
    entries: template.entries.map(({ list }, index) => ({
      // The third list is the log of this key.
      list: index === 2 ? `audit:k:${keyId}` : list,
      id: index === 0 ? keyId : entryId,
    })),
  };
}
