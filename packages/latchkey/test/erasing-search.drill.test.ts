import { createLatchkey } from "@latchkey/core";
import { describeWithServers } from "@latchkey/postgres/testing";
import { describe, expect, test } from "vitest";
import { liveLife, OTHERS, sumsOf, THEIRS } from "./erasing.js";
import { found, openPostgres, openRedis, openSqlite, type Site } from "./store-files.js";

const erasing = (stores: readonly (readonly [title: string, open: () => Promise<Site>])[]) =>
  test.each(stores)(
    "B2: no file of %s holds a text of somebody who was erased, in five encodings",
    async (_, openSite) => {
      const { store, files } = await openSite();
      const latchkey = createLatchkey({ store });
      const life = await liveLife(latchkey);
      await latchkey.eraseIdentity({ externalId: THEIRS.externalId });
      expect(await sumsOf(store, life)).toBe(0);
      await latchkey.close();
      const left = await files();
      // All texts of the other owner are found, so these are the right files.
      expect(found(left, Object.values(OTHERS))).not.toEqual([]);
      expect(found(left, Object.values(THEIRS))).toEqual([]);
    },
  );

describe("erasing somebody", () => {
  erasing([
    ["SQLite, after close,", openSqlite],
    ["Redis, after its rewrite,", openRedis],
  ]);
  describeWithServers("with a server of its own", () => {
    erasing([["PostgreSQL, after VACUUM (FULL),", openPostgres]]);
  });
});
