import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, HOUR_MS } from "./test-context.js";
import { unclosed, wrapped } from "./wrapped-store.js";

/** Longer than the test runs: counts are written only when asked for. */
const NEVER = { flushMs: HOUR_MS } as const;

/** Creates keys in a workspace, each with one use, and takes it. */
async function useUp(latchkey: Latchkey, count: number): Promise<void> {
  const { apiId } = await latchkey.ensureApi({ name: "maps" });
  for (let made = 0; made < count; made += 1) {
    const { key } = await latchkey.createKey({ apiId, remaining: 1 });
    await latchkey.verifyKey({ key });
  }
}

async function countGone(latchkey: Latchkey): Promise<number> {
  return (await latchkey.readEvents({ types: ["uses.gone"] })).events.length;
}

describeOnMemory("notice in many workspaces", (open) => {
  test("a workspace in which nobody calls notice does not keep those of others from being noticed", async () => {
    const { latchkey } = open({ usage: NEVER });
    await useUp(latchkey.workspace("ws_unasked"), 10_000);
    const asked = latchkey.workspace("ws_asked");
    await useUp(asked, 5);
    expect(await asked.notice()).toEqual({ noticed: 5 });
  }, 30_000);

  test("a workspace that cannot be written to does not hold up the others", async () => {
    const context = open({ usage: NEVER });
    const failures: unknown[] = [];
    const broken = new Error("this workspace is broken");
    const store = wrapped(context.store, {
      commit: async (workspaceId, change) => {
        const isOfNotice = change.puts.some(({ record }) => record.kind === "noticed");
        if (workspaceId === "ws_0" && isOfNotice) throw broken;
        return context.store.commit(workspaceId, change);
      },
    });
    const onError = (error: unknown) => failures.push(error);
    const latchkey = context.another({ store: unclosed(store), notice: {}, onError });
    const workspaces = Array.from({ length: 12 }, (_, at) => latchkey.workspace(`ws_${at}`));
    for (const each of workspaces) await useUp(each, 1);
    await latchkey.close();
    const noticed = workspaces.map((each) =>
      countGone(context.another().workspace(each.workspaceId)),
    );
    expect(await Promise.all(noticed)).toEqual([0, ...Array.from({ length: 11 }, () => 1)]);
    expect(failures).toEqual([broken]);
  });
});
