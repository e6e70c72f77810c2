import { createLatchkey } from "@latchkey/core";
import { describeWithServers } from "@latchkey/postgres/testing";
import { describe, expect, test } from "vitest";
import { liveLife } from "./erasing.js";
import { found, openPostgres, openRedis, openSqlite, type Site } from "./store-files.js";

const [GONE, KEPT] = ["ws_harbour_7f3a9c21", "ws_tides_2b84d7e0"];

const deleting = (stores: readonly (readonly [title: string, open: () => Promise<Site>])[]) =>
  test.each(stores)(
    "D1: no file of %s holds an id or a text of a workspace that was deleted, in five encodings",
    async (_, openSite) => {
      const { store, files } = await openSite();
      const latchkey = createLatchkey({ store });
      const texts = new Map<string, string[]>();
      for (const id of [GONE, KEPT]) {
        const inside = latchkey.workspace(id);
        await inside.updateWorkspace({ name: `name of ${id}` });
        await liveLife(inside);
        const { rootKeyId } = await inside.createRootKey({ permissions: ["*"], name: `key ${id}` });
        await inside.limit({ identifier: `window.${id}`, limit: 5, duration: 60_000 });
        const known = [id, rootKeyId, `window.${id}`];
        for await (const event of inside.auditEvents()) known.push(event.id, event.resourceId);
        texts.set(id, known);
      }
      await latchkey.deleteWorkspace({ workspaceId: GONE, confirm: GONE });
      await latchkey.close();
      const left = await files();
      // The texts of the other workspace are found, so these are the right files.
      expect(found(left, texts.get(KEPT) ?? [])).not.toEqual([]);
      expect(found(left, texts.get(GONE) ?? [])).toEqual([]);
    },
  );

describe("deleting a workspace", () => {
  deleting([
    ["SQLite, after close,", openSqlite],
    ["Redis, after its rewrite,", openRedis],
  ]);
  describeWithServers("with a server of its own", () => {
    deleting([["PostgreSQL, after VACUUM (FULL),", openPostgres]]);
  });
});
