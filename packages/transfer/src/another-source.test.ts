import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIRECTORY_ID, EMPTY_CHANGE, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { emptyParts, storeParts } from "./passes/source.js";
import { restore } from "./restore.js";
import { TransferTarget } from "./target.js";
import { Death, livesThrough } from "./testing/dying-store.js";
import { latchkeyOn } from "./testing/fixture.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-another-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

/** Keys by workspace. */
type Keys = Readonly<Record<string, readonly string[]>>;

/** A store with two keys in each of these workspaces. The keys have been used, so there are statistics. */
async function aSource(workspaceIds: readonly string[]): Promise<[KeyStore, Keys]> {
  const store = memoryStore();
  const latchkey = latchkeyOn(store);
  const keys: Record<string, string[]> = {};
  for (const id of workspaceIds) {
    const workspace = latchkey.workspace(id);
    const { apiId } = await workspace.createApi({ name: "tiles" });
    const made = [await workspace.createKey({ apiId }), await workspace.createKey({ apiId })];
    keys[id] = made.map(({ key }) => key);
    for (const { key } of made) await workspace.verifyKey({ key });
  }
  await latchkey.close();
  return [store, keys];
}

/** The outcome of verifying all keys of each workspace, such as `VALID`; different outcomes in one workspace are joined by "and". */
async function answers(store: KeyStore, keys: Keys): Promise<Readonly<Record<string, string>>> {
  const latchkey = latchkeyOn(store);
  const all: Record<string, string> = {};
  for (const [id, some] of Object.entries(keys)) {
    const each = some.map((key) =>
      latchkey
        .workspace(id)
        .verifyKey({ key })
        .then(
          ({ code }) => code as string,
          (error) => error.reason as string,
        ),
    );
    all[id] = [...new Set(await Promise.all(each))].join(" and ");
  }
  return all;
}

interface Options {
  readonly startOver?: boolean;
}

/** A function that transfers a source to a target. It can be called repeatedly. */
async function bringing(way: "copy" | "live" | "restore", source: KeyStore) {
  if (way !== "restore")
    return (to: KeyStore, options: Options = {}) =>
      copy(source, to, { ...options, live: way === "live" });
  const path = join(folder, `${files++}.lkb`);
  await backup(source, path);
  return (to: KeyStore, options: Options = {}) => restore(to, path, options);
}

const ALL_VALID = { ws_default: "VALID", ws_other: "VALID" };
const NONE = { ws_default: "NOT_FOUND", ws_other: "NOT_FOUND" };

/** The number of calls after which the process dies: every sixth, and each of the last four, which open the target. */
function* momentsOf(calls: number): Generator<number> {
  for (let after = 0; after < calls - 4; after += 6) yield after;
  for (let after = calls - 4; after < calls; after += 1) yield after;
}

/** Transfers a source to an empty target, with a process that does not die, and returns how many calls that takes. */
async function callsOf(bring: (to: KeyStore) => Promise<unknown>): Promise<number> {
  const death = new Death(Number.POSITIVE_INFINITY);
  await bring(death.store(memoryStore()));
  return death.calls;
}

describe.each(["copy", "live", "restore"] as const)("a target on which a %s died", (way) => {
  test("accepts no other source unless it starts over, and never opens half a workspace", async () => {
    const outcomes = new Set<string>();
    const [whole] = await aSource(["ws_default", "ws_other"]);
    for (const calls of momentsOf(await callsOf(await bringing(way, whole)))) {
      const [one, ofOne] = await aSource(["ws_default", "ws_other"]);
      const [other, ofOther] = await aSource(["ws_default"]);
      const [bringOne, bringOther] = [await bringing(way, one), await bringing(way, other)];
      const assertOtherArrived = async () => {
        expect(await answers(to, ofOther)).toEqual({ ws_default: "VALID" });
        expect(await answers(to, ofOne)).toEqual(NONE);
      };
      const to = memoryStore();
      const death = new Death(calls);
      expect(await livesThrough(death, () => bringOne(death.store(to)))).toBe(false);
      const left = await answers(to, ofOne);
      if (left.ws_default === "NOT_FOUND") {
        // Nothing was written yet, so the target is empty.
        outcomes.add("taken");
        await bringOther(to);
        await assertOtherArrived();
        continue;
      }
      await expect(bringOther(to)).rejects.toMatchObject({
        code: "PRECONDITION_FAILED",
        message: expect.stringContaining("startOver"),
      });
      expect(await answers(to, ofOne)).toEqual(left);
      const isUsed = Object.values(left).includes("VALID");
      if (isUsed)
        await expect(bringOther(to, { startOver: true })).rejects.toThrow("is already in use");
      if (isUsed || calls % 12 === 0) {
        outcomes.add(isUsed ? "used" : "finished");
        await bringOne(to);
        expect(await answers(to, ofOne)).toEqual(ALL_VALID);
      } else {
        outcomes.add("started over");
        await bringOther(to, { startOver: true });
        await assertOtherArrived();
      }
    }
    expect([...outcomes].sort()).toEqual(["finished", "started over", "taken", "used"]);
  });
});

test("if a workspace is gone from the source when a copy is resumed, it is emptied before it is opened", async () => {
  const [from, keys] = await aSource(["ws_default", "ws_other"]);
  const to = memoryStore();
  const death = new Death((await callsOf((target) => copy(from, target))) - 2);
  await livesThrough(death, () => copy(from, death.store(to)));
  expect(await answers(to, keys)).toMatchObject({ ws_other: "incomplete" });
  const without: KeyStore = {
    ...from,
    scan: async (id, after) => {
      const { names, next } = await from.scan(id, after);
      return { names: names.filter((name) => name !== "ws_other"), next };
    },
    page: (id, want) => from.page(id === "ws_other" ? "ws_gone" : id, want),
  };
  await copy(without, to);
  expect(await answers(to, keys)).toEqual({ ws_default: "VALID", ws_other: "NOT_FOUND" });
});

test("if a workspace was never read, neither it nor any other is opened", async () => {
  const [from, keys] = await aSource(["ws_default", "ws_other"]);
  const to = memoryStore();
  const target = await TransferTarget.take(to, { source: "one" });
  await target.prepare(["ws_default", "ws_other"]);
  await target.pass(storeParts(from, ["ws_default"]), () => undefined);
  await expect(target.open()).rejects.toThrow("ws_other");
  expect(await answers(to, keys)).toEqual({ ws_default: "incomplete", ws_other: "incomplete" });
  await target.pass(emptyParts(["ws_other"]), () => undefined);
  await target.open();
  expect(await answers(to, keys)).toEqual({ ws_default: "VALID", ws_other: "NOT_FOUND" });
});

test.each([[null], [""], [7], [{}]])(
  "a source whose stored name is %j is refused as damaged",
  async (body) => {
    const [from] = await aSource(["ws_default"]);
    const record = { kind: "workspace", id: "$store", version: 1, link: null, body } as const;
    await from.commit(DIRECTORY_ID, { ...EMPTY_CHANGE, puts: [{ record }] });
    const to = memoryStore();
    await expect(copy(from, to)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await to.scan(null, null)).toEqual({ names: [], next: null });
  },
);
