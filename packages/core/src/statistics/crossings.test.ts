import { expect, test } from "vitest";
import { type Crossing, createCrossings } from "./crossings.js";

const SETTINGS = { expiresWithin: 1, usesBelow: null, limitAbove: 0.8, writesByItself: true };

function crossingOf(workspaceId: string, keyId: string): Crossing {
  const of = { kind: "key", id: keyId } as const;
  return { type: "uses.gone", workspaceId, keyId, identityId: null, of };
}

function crossingsOf(workspaceId: string, count: number): readonly Crossing[] {
  return Array.from({ length: count }, (_, at) => crossingOf(workspaceId, `key_${at}`));
}

test("a crossing seen twice is taken once, and only from its workspace", () => {
  const crossings = createCrossings(SETTINGS);
  const [one, other] = [crossingOf("ws_1", "key_1"), crossingOf("ws_2", "key_1")];
  crossings.giveBack([one, other, one]);
  expect(crossings.workspaceIds()).toEqual(["ws_1", "ws_2"]);
  expect(crossings.take("ws_1")).toEqual([one]);
  expect(crossings.take("ws_1")).toEqual([]);
  expect(crossings.workspaceIds()).toEqual(["ws_2"]);
});

test("if there is no room, the workspace with more than its share loses its earliest", () => {
  const crossings = createCrossings(SETTINGS);
  crossings.giveBack(crossingsOf("ws_few", 3));
  crossings.giveBack(crossingsOf("ws_many", 10_000));
  crossings.giveBack(crossingsOf("ws_late", 5));
  expect(crossings.take("ws_few")).toHaveLength(3);
  expect(crossings.take("ws_late")).toHaveLength(5);
  const kept = crossings.take("ws_many");
  expect(kept).toHaveLength(10_000 - 3 - 5);
  expect(kept.at(-1)?.keyId).toBe("key_9999");
});

test("a workspace may take all the room, and as many workspaces as there is room for may have one each", () => {
  const crossings = createCrossings(SETTINGS);
  crossings.giveBack(crossingsOf("ws_1", 10_001));
  expect(crossings.take("ws_1").map(({ keyId }) => keyId)).not.toContain("key_0");
  for (let at = 0; at <= 10_000; at += 1) crossings.giveBack([crossingOf(`ws_${at}`, "key_1")]);
  expect(crossings.workspaceIds()).toHaveLength(10_000);
  expect(crossings.take("ws_0")).toEqual([]);
});

test("taking from one workspace does not look through the crossings of all others", () => {
  const crossings = createCrossings(SETTINGS);
  for (let at = 0; at < 10_000; at += 1) crossings.giveBack([crossingOf(`ws_${at}`, "key_1")]);
  const before = process.cpuUsage();
  const taken = crossings.workspaceIds().flatMap((workspaceId) => crossings.take(workspaceId));
  const { user, system } = process.cpuUsage(before);
  expect(taken).toHaveLength(10_000);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
