import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { describeOnMemory } from "./test-context.js";

const NAMES = ["tide tables", "harbour gates"];

/** A call in one process; `at` is the place of an existing API. */
type Call =
  | { readonly kind: "ensure"; readonly name: string }
  | { readonly kind: "create"; readonly name: string }
  | { readonly kind: "delete"; readonly at: number }
  | { readonly kind: "rename"; readonly at: number; readonly name: string };

function drawCall({ below, pick }: Chance): Call {
  const name = pick(NAMES);
  const draw = below(10);
  if (draw < 5) return { kind: "ensure", name };
  if (draw < 7) return { kind: "create", name };
  return draw < 8
    ? { kind: "delete", at: below(5) }
    : { kind: "rename", at: below(5), name: pick([...NAMES, "wharf"]) };
}

/** The id that ensureApi returns; null for other calls, even if their API is already gone. */
async function run(
  latchkey: Latchkey,
  call: Call,
  ids: readonly string[],
): Promise<{ readonly apiId: string; readonly created: boolean } | null> {
  if (call.kind === "ensure") return latchkey.ensureApi({ name: call.name });
  if (call.kind === "create") await latchkey.createApi({ name: call.name });
  else {
    const apiId = ids[call.at];
    if (apiId === undefined) return null;
    const change =
      call.kind === "delete"
        ? latchkey.deleteApi({ apiId })
        : latchkey.updateApi({ apiId, name: call.name });
    await change.catch((error) => {
      if (error.code !== "NOT_FOUND") throw error;
    });
  }
  return null;
}

describeOnEveryStore("ensureApi", (open, runs) => {
  test("of calls at the same moment, from several processes, one creates, and all answer the same API", async () => {
    const context = open();
    const processes = [context.latchkey, context.another(), context.another()];
    for (const name of [...NAMES, "wharf"]) {
      const answers = await Promise.all(
        [...processes, ...processes].map((latchkey) => latchkey.ensureApi({ name })),
      );
      expect(new Set(answers.map(({ apiId }) => apiId)).size).toBe(1);
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
    }
    expect((await context.latchkey.listApis()).total).toBe(3);
  });

  test("whatever happens to APIs at the same moment, all calls agree on one that has the name", async () => {
    const context = open();
    const processes = [context.latchkey, context.another(), context.another()];
    for (let seed = 1; seed <= runs(25); seed += 1) {
      const chance = chanceOf(seed);
      const [one, two, three] = processes.map((latchkey) => latchkey.workspace(`ws_${seed}`)) as [
        Latchkey,
        Latchkey,
        Latchkey,
      ];
      for (let round = 0; round < 3; round += 1) {
        const ids = (await one.listApis()).apis.map(({ id }) => id);
        const calls = Array.from({ length: 2 + chance.below(6) }, () => drawCall(chance));
        const answers = await Promise.all(
          calls.map((call) => run(chance.pick([one, two, three]), call, ids)),
        );
        if (calls.some(({ kind }) => kind === "delete" || kind === "rename")) continue;
        for (const name of NAMES) {
          const ensured = answers.filter((_, index) => {
            const call = calls[index];
            return call?.kind === "ensure" && call.name === name;
          });
          expect(new Set(ensured.map((answer) => answer?.apiId)).size, `${seed}`).toBeLessThan(2);
          expect(ensured.filter((answer) => answer?.created).length, `${seed}`).toBeLessThan(2);
        }
      }
      for (const name of NAMES) {
        const answers = await Promise.all([one, two].map((each) => each.ensureApi({ name })));
        const [{ apiId = "" } = {}, other] = answers;
        expect(other?.apiId, `${seed}`).toBe(apiId);
        expect((await three.getApi({ apiId })).name).toBe(name);
        await one.createApi({ name });
        expect(await two.ensureApi({ name }), `${seed}`).toEqual({ apiId, created: false });
      }
    }
  });
});

describeOnMemory("ensureApi", (open) => {
  test("returns the oldest of several APIs that createApi made, and keeps returning that one", async () => {
    const { latchkey, advance } = open();
    const oldest = await latchkey.createApi({ name: "tide tables" });
    advance(1);
    await latchkey.createApi({ name: "tide tables" });
    for (let call = 0; call < 2; call += 1)
      expect(await latchkey.ensureApi({ name: "tide tables" })).toEqual({
        ...oldest,
        created: false,
      });
    expect((await latchkey.listApis()).total).toBe(2);
  });

  test("finds an API beyond the first page", async () => {
    const { latchkey } = open();
    const made = [];
    for (let number = 0; number <= 500; number += 1)
      made.push(await latchkey.createApi({ name: `API ${number}` }));
    expect(await latchkey.ensureApi({ name: "API 500" })).toEqual({ ...made[500], created: false });
  });

  test("creates another API after the first is deleted or renamed, and keeps returning it if the first gets its name back", async () => {
    const { latchkey } = open();
    const name = "tide tables";
    const first = await latchkey.ensureApi({ name });
    await latchkey.deleteApi({ apiId: first.apiId });
    const second = await latchkey.ensureApi({ name });
    expect(second).toMatchObject({ created: true });
    await latchkey.updateApi({ apiId: second.apiId, name: "wharf" });
    const third = await latchkey.ensureApi({ name });
    expect(third).toMatchObject({ created: true });
    await latchkey.updateApi({ apiId: second.apiId, name });
    expect(await latchkey.ensureApi({ name })).toEqual({ ...third, created: false });
    expect(await latchkey.ensureApi({ name: "wharf" })).toMatchObject({ created: true });
  });

  test("works within its workspace only, and writes one entry to the audit log", async () => {
    const { latchkey } = open();
    const name = "tide tables";
    const { apiId } = await latchkey.ensureApi({ name });
    const other = latchkey.workspace("ws_other");
    expect((await other.ensureApi({ name })).created).toBe(true);
    await latchkey.ensureApi({ name });
    expect((await latchkey.listAuditEvents()).events).toMatchObject([
      { type: "api.created", resourceId: apiId, changes: [{ field: "name", after: name }] },
    ]);
  });

  test("refuses an impossible name with the bound", async () => {
    const { latchkey } = open();
    for (const name of ["ab", "x".repeat(257), undefined])
      await expect(latchkey.ensureApi({ name: name as string })).rejects.toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "name" }],
      });
  });
});
