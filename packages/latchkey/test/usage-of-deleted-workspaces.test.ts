import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { HOUR_MS, NOON } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const GONE = "ws_harbour";
const INPUT = { workspaceId: GONE, confirm: GONE };

/** A new workspace with a verified key, whose uses become low. Its name gives it a revision, as most workspaces have. */
async function useAnew(latchkey: Latchkey) {
  await latchkey.updateWorkspace({ name: "Harbour" });
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { key } = await latchkey.createKey({ apiId, remaining: 5 });
  expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  return { apiId, key };
}

async function countsIn(latchkey: Latchkey) {
  const counts: (readonly [string | undefined, object])[] = [];
  const question = { start: NOON, end: NOON + HOUR_MS, granularity: "hour", by: "api" } as const;
  const { rows } = await latchkey.exportUsage(question);
  for (const { apiId, outcomes } of rows) counts.push([apiId, outcomes]);
  return counts;
}

describeOnEveryStore("usage of a workspace that was deleted", (open) => {
  test("what its process had not written yet is in no row of a new workspace with its id", async () => {
    const context = open({ usage: { flushMs: "1h" }, notice: { usesBelow: 5 } });
    const { store } = context;
    const old: { key?: string } = {};
    const latchkey: Latchkey = context.another({
      store: wrapped(store, {
        // Counted while the workspace is being deleted.
        forget: async (...given: Parameters<KeyStore["forget"]>) => {
          const { key = "" } = old;
          expect((await latchkey.workspace(GONE).verifyKey({ key })).code).toBe("FORBIDDEN");
          return store.forget(...given);
        },
      }),
    });
    const own = latchkey.workspace(GONE);
    Object.assign(old, await useAnew(own));
    await latchkey.deleteWorkspace(INPUT);
    expect((await latchkey.listWorkspaces()).workspaces).toEqual([]);
    const { key = "" } = old;
    expect(await own.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    const { apiId } = await useAnew(own);
    expect(await countsIn(own)).toEqual([]);
    context.advance(HOUR_MS + 120_000);
    expect(await countsIn(own)).toEqual([[apiId, { VALID: 1 }]]);
    const types = (await own.readEvents()).events.map(({ type }) => type);
    expect(types.filter((type) => type === "uses.low")).toHaveLength(1);
  });
});
