import fc from "fast-check";
import { expect, test } from "vitest";
import { COUNTED_CODES, STATISTICS_SPAN_MS } from "../store/statistics.js";
import { identityWith, loadedWith } from "../testing/records.js";
import { type CachedKey, cachedKey } from "../verification/key-cache.js";
import { createStatisticsBuffer, type WorkspaceBatch } from "./buffer.js";

const verification = fc.record({
  kind: fc.constant("count" as const),
  id: fc.constantFrom("key_1", "key_2", "key_3"),
  workspaceId: fc.constantFrom("ws_1", "ws_2"),
  identityId: fc.constantFrom(null, "id_1", "id_2"),
  code: fc.constantFrom(...COUNTED_CODES),
  waitMs: fc.nat({ max: STATISTICS_SPAN_MS }),
  /** Whether the next verification under the same identity finds the key as this one leaves it. */
  isCached: fc.boolean(),
});
const hand = fc.record({
  kind: fc.constant("hand-over" as const),
  of: fc.constantFrom(null, "ws_1", "ws_2"),
  isAdded: fc.array(fc.boolean(), { maxLength: 4 }),
});
const steps = fc.array(
  fc.oneof({ arbitrary: verification, weight: 5 }, { arbitrary: hand, weight: 1 }),
);

/** Counts and latest uses as a store adds them up. */
function added(batches: readonly WorkspaceBatch[]) {
  const counts = new Map<string, number>();
  const lastUsed = new Map<string, number>();
  for (const { workspaceId, batch } of batches) {
    for (const { subject, hourAt, code, count } of batch.counts) {
      const name = `${workspaceId} ${subject.kind} ${subject.id} ${hourAt} ${code}`;
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
    for (const { id, usedAt } of batch.uses) {
      const name = `${workspaceId} ${id}`;
      lastUsed.set(name, Math.max(usedAt, lastUsed.get(name) ?? 0));
    }
  }
  return { counts, lastUsed };
}

test("every verification is added once for each of its subjects, whatever is given back on the way", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const buffer = createStatisticsBuffer(1_000);
      const counts = new Map<string, number>();
      const lastUsed = new Map<string, number>();
      const stored: WorkspaceBatch[] = [];
      const cached = new Map<string, CachedKey>();
      let now = 0;
      for (const step of script) {
        if (step.kind === "hand-over") {
          const batches = [...buffer.take(step.of)];
          const others = batches.filter(
            ({ workspaceId }) => workspaceId !== (step.of ?? workspaceId),
          );
          expect(others).toEqual([]);
          for (const [index, batch] of batches.entries()) {
            if (step.isAdded[index] === false) buffer.giveBack(batch);
            else stored.push(batch);
          }
          continue;
        }
        now += step.waitMs;
        const { workspaceId, identityId, code } = step;
        const identity = identityId === null ? null : identityWith({ id: identityId });
        const { key } = loadedWith({ id: `${step.id}${workspaceId}`, workspaceId });
        const cacheName = `${key.id} ${identityId}`;
        const counted = cached.get(cacheName) ?? cachedKey(loadedWith(key, { identity }), []);
        if (step.isCached) cached.set(cacheName, counted);
        buffer.count(counted, code, now);
        const hourAt = Math.floor(now / STATISTICS_SPAN_MS) * STATISTICS_SPAN_MS;
        const subjects = [`key ${key.id}`, "api api_1", identityId && `identity ${identityId}`];
        for (const subject of subjects.filter((name) => name !== null)) {
          const name = `${workspaceId} ${subject} ${hourAt} ${code}`;
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        if (code === "VALID") lastUsed.set(`${workspaceId} ${key.id}`, now);
      }
      stored.push(...buffer.take());
      expect(added(stored)).toEqual({ counts, lastUsed });
    }),
    { numRuns: 500 },
  );
});

test("no batch contains a subject, hour and code twice, or a key twice", () => {
  fc.assert(
    fc.property(fc.array(verification), (script) => {
      const buffer = createStatisticsBuffer(1_000);
      let now = 0;
      for (const { id, identityId, code, waitMs } of script) {
        now += waitMs;
        const identity = identityId === null ? null : identityWith({ id: identityId });
        buffer.count(cachedKey(loadedWith({ id }, { identity }), []), code, now);
      }
      for (const { batch } of buffer.take()) {
        const names = batch.counts.map(({ subject, hourAt, code }) =>
          [subject.kind, subject.id, hourAt, code].join(" "),
        );
        const keyIds = batch.uses.map(({ id }) => id);
        expect([new Set(names).size, new Set(keyIds).size]).toEqual([names.length, keyIds.length]);
      }
    }),
  );
});
