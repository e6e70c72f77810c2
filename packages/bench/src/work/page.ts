import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { GUARDED } from "../questions.js";
import { openRaw } from "../raw/raw.js";
import { recordingStore, rowsOf } from "../raw/rows.js";
import type { Work } from "./work.js";

const PAGE = 100;

/** A page of 100 keys against reading the same rows by hand and parsing them. */
export function readPages(kind: StoreKind): Work {
  return async ({ place, scale }) => {
    const raw = await openRaw(kind, place);
    const writes: Promise<void>[] = [];
    const store = recordingStore(await openStore(kind, place, "latchkey"), (change) =>
      writes.push(raw.write(rowsOf(change))),
    );
    const latchkey = createLatchkey({ store, auditLog: false });
    const issuer = new KeyIssuer(latchkey, GUARDED.keys);
    const rows = await issuer.issue(await mintSecrets(scale.keys));
    await Promise.all(writes);
    const apiId = issuer.api;
    const assertPage = (ids: readonly string[], first: number) => {
      const isRight = ids.length === PAGE && ids[0] === rows[first]?.keyId;
      if (!isRight) throw new Error(`a page of ${ids.length} keys begins with ${ids[0]}`);
    };
    let after = "";
    let rawFirst = 0;
    let cursor: string | undefined;
    let first = 0;
    const sides = await interleave(
      [
        {
          name: "raw",
          run: async (calls) => {
            for (let call = 0; call < calls; call += 1) {
              const found = await raw.page(`keys:${apiId}`, after, PAGE);
              assertPage(found.map(({ id }) => id), rawFirst);
              rawFirst = (rawFirst + PAGE) % rows.length;
              after = rawFirst === 0 ? "" : (found.at(-1)?.id ?? "");
            }
          },
        },
        {
          name: "latchkey",
          run: async (calls) => {
            for (let call = 0; call < calls; call += 1) {
              const at = cursor === undefined ? {} : { cursor };
              const list = await latchkey.listKeys({ apiId, limit: PAGE, ...at });
              assertPage(list.keys.map(({ id }) => id), first);
              first = (first + PAGE) % rows.length;
              cursor = list.cursor;
            }
          },
        },
      ],
      scale.pace,
    );
    await latchkey.close();
    return [{ id: `page/${kind}`, title: "page of 100 keys", unit: "µs", sides }];
  };
}
