import { isDeepStrictEqual } from "node:util";
import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { GUARDED } from "../questions.js";
import { openRaw } from "../raw/raw.js";
import { recordingStore, rowsOf } from "../raw/rows.js";
import { viewOf } from "../raw/view.js";
import type { Work } from "./work.js";

const PAGE = 100;

/** The parts of a page that are compared. */
type Page = readonly { readonly id?: string }[];

/** Measures a page of 100 keys against reading the same rows by hand, parsing them and showing the same fields. */
export function readPages(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const raw = await openRaw(kind, location);
    const writes: Promise<void>[] = [];
    const store = recordingStore(await openStore(kind, location, "latchkey"), (change) =>
      writes.push(raw.write(rowsOf(change))),
    );
    const latchkey = createLatchkey({ store, auditLog: false });
    const issuer = new KeyIssuer(latchkey, GUARDED.keys);
    const rows = await issuer.issue(await mintSecrets(scale.keys));
    await Promise.all(writes);
    const { api: apiId } = issuer;
    const permissions = await latchkey.listPermissions();
    const names = new Map(permissions.map(({ id, name }) => [id, name]));

    let after = "";
    const readRaw = async (): Promise<Page> => {
      const found = await raw.page(`keys:${apiId}`, after, PAGE);
      after = found.at(-1)?.id ?? "";
      return found.map((record) => viewOf(record, latchkey.workspaceId, names));
    };
    let cursor: string | undefined;
    const readOurs = async (): Promise<Page> => {
      const at = cursor === undefined ? {} : { cursor };
      const list = await latchkey.listKeys({ apiId, limit: PAGE, ...at });
      cursor = list.cursor;
      return list.keys;
    };
    const pages = rows.length / PAGE;
    const contender = (name: string, read: () => Promise<Page>, restart: () => void) => {
      let next = 1;
      const run = async (calls: number) => {
        for (let call = 0; call < calls; call += 1) {
          if (next === 0) restart();
          const page = await read();
          const isRight = page.length === PAGE && page[0]?.id === rows[next * PAGE]?.keyId;
          if (!isRight) throw new Error(`${name}: page ${next} begins with ${page[0]?.id}`);
          next = (next + 1) % pages;
        }
      };
      return { name, run };
    };
    const first = [await readRaw(), await readOurs()];
    if (!isDeepStrictEqual(...(first as [Page, Page])))
      throw new Error(`not the same page: ${first.map((page) => JSON.stringify(page[0]))}`);
    const restartRaw = () => {
      after = "";
    };
    const restartOurs = () => {
      cursor = undefined;
    };
    const sides = await interleave(
      [contender("raw", readRaw, restartRaw), contender("latchkey", readOurs, restartOurs)],
      scale.slowPace,
    );
    await latchkey.close();
    return [{ id: `page/${kind}`, title: "page of 100 keys", unit: "µs", sides }];
  };
}
