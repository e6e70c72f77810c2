import { aChange, at, NOW, usesOf, WORKSPACE } from "@latchkey/conformance";
import { labelsOf } from "@latchkey/core";
import { beforeAll, describe, expect, test } from "vitest";
import type { Source } from "../engine/open.js";
import { postgresStore } from "../index.js";
import type { RunSql } from "./contract.js";

const SCHEMA = "seen";

const KEY = {
  apiId: "api_1",
  start: "pay_live_ab",
  name: "billing",
  hash: "the hash",
  sealedSecret: "the sealed secret",
  meta: { plan: "pro" },
  createdAt: NOW,
  expires: NOW + 1,
  usesFrom: "key",
  roles: ["role_1"],
  tags: ["eu", "beta"],
  ipWhitelist: ["10.0.0.0/8"],
  startsAt: NOW - 1,
  expiresWhenUnused: 86_400_000,
};

/** Runs the tests of the views on a database. */
export function describeViews(name: string, source: () => Source, run: RunSql): void {
  describe(`the views of ${name}`, () => {
    beforeAll(async () => {
      const shared = { version: 1, link: null };
      const identity = { externalId: "user-1", meta: { tier: 1 }, createdAt: NOW };
      const entry = {
        type: "key.created",
        at: NOW,
        actor: "root_1",
        keyId: at("key").id,
        after: { name: "billing" },
      };
      const puts = [
        {
          record: { ...at("key", 1), version: 7, link: "id_1", body: KEY },
          counters: { usage: usesOf(12) },
        },
        { record: { ...at("key", 2), ...shared, body: { disabled: true, createdAt: "never" } } },
        { record: { ...at("identity"), ...shared, body: identity } },
        { record: { ...at("auditEntry"), ...shared, body: entry } },
      ];
      const store = postgresStore(source(), { schema: SCHEMA });
      await store.commit(WORKSPACE, aChange({ puts }));
      const uses = [{ ...at("key"), usedAt: NOW + 5 }];
      await store.addStatistics(WORKSPACE, { counts: [], uses });
      await store.close?.();
    });

    // As JSON, because the drivers read a bigint differently.
    const rowsOf = async (view: string) => {
      const answer = await run(
        `SELECT to_jsonb(shown) AS row FROM ${SCHEMA}.${view} AS shown ORDER BY id`,
      );
      return (answer as { rows: { row: Record<string, unknown> }[] }).rows.map(({ row }) => row);
    };

    test("keys shows each key in columns, null for fields that it lacks, and neither hash nor sealed secret", async () => {
      const [first, second] = await rowsOf("keys");
      expect(first).toEqual({
        workspaceid: WORKSPACE,
        id: at("key").id,
        version: 7,
        apiid: "api_1",
        start: "pay_live_ab",
        ...labelsOf(() => null),
        name: "billing",
        identityid: "id_1",
        meta: { plan: "pro" },
        createdat: NOW,
        updatedat: null,
        expires: NOW + 1,
        switchedon: true,
        refill: null,
        ratelimits: null,
        usesfrom: "key",
        rotatedfrom: null,
        rotatedto: null,
        roles: ["role_1"],
        permissions: null,
        remaining: 12,
        usedat: NOW + 5,
        tags: ["eu", "beta"],
        ipwhitelist: ["10.0.0.0/8"],
        startsat: NOW - 1,
        expireswhenunused: 86_400_000,
      });
      expect(second).toMatchObject({
        switchedon: false,
        name: null,
        remaining: null,
        createdat: null,
      });
      expect(JSON.stringify([first, second])).not.toContain("the ");
    });

    test("identities and audit show theirs", async () => {
      expect(await rowsOf("identities")).toMatchObject([
        { externalid: "user-1", meta: { tier: 1 }, remaining: null },
      ]);
      expect(await rowsOf("audit")).toMatchObject([
        { type: "key.created", at: NOW, resourceid: at("key").id, after: { name: "billing" } },
      ]);
    });

    test("views of an earlier schema get the columns that were added later", async () => {
      await run(`DROP VIEW ${SCHEMA}.keys`);
      await run(`UPDATE ${SCHEMA}.schema_version SET version = 8`);
      const store = postgresStore(source(), { schema: SCHEMA });
      await store.read(WORKSPACE, []);
      await store.close?.();
      expect((await rowsOf("keys"))[0]).toMatchObject({ tags: ["eu", "beta"] });
    });

    test("a damaged body shows no fields, and hides no other row", async () => {
      await run(`UPDATE ${SCHEMA}.record SET body = '{"name"' WHERE id = $1`, [at("key", 2).id]);
      expect(await rowsOf("keys")).toMatchObject([
        { name: "billing" },
        { id: at("key", 2).id, switchedon: null },
      ]);
    });
  });
}
