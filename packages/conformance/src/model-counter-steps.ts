import { COUNTED_CODES, type CountSubject } from "@latchkey/core";
import fc from "fast-check";
import { aNamespacePlan, DAY_MS, HOUR_MS, NOW } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import * as counters from "./model-counters.js";
import type { Model } from "./model-state.js";
import { choose, kind, workspaceAt } from "./model-world.js";

/** Keys, identities and APIs that exist: of others, whether anything is counted, the port leaves open. */
function subjectsOf(model: Model, workspaceId: string): readonly CountSubject[] {
  const isOwn = (item: { readonly workspaceId: string }) => item.workspaceId === workspaceId;
  const idsOf = (kind: CountSubject["kind"], items: readonly { readonly id: string }[]) =>
    items.map(({ id }) => ({ kind, id }));
  const live = model.keys.filter(({ record }) => isOwn(record) && model.hasApi(record));
  return [
    ...idsOf("api", model.apis.filter(isOwn)),
    ...idsOf(
      "key",
      live.map(({ record }) => record),
    ),
    ...idsOf("identity", model.identities.map(({ record }) => record).filter(isOwn)),
  ];
}

/** Few enough that counts meet, and on days before, of and after {@link NOW}. */
const hour = fc.constantFrom(-24, -13, -1, 0, 0, 1, 12).map((hours) => NOW + hours * HOUR_MS);
const span = fc.tuple(hour, fc.integer({ min: -1, max: 1 })).map(([at, ms]) => at + ms);

const count = fc.record({
  pick: fc.nat({ max: 5 }),
  hourAt: hour,
  code: fc.constantFrom("VALID" as const, "VALID" as const, ...COUNTED_CODES),
  count: fc.integer({ min: 1, max: 100 }),
});

/** Those of which something was ever counted. */
export function countedSubjects(model: Model, workspaceId: string): readonly CountSubject[] {
  return subjectsOf(model, workspaceId).filter(({ id }) =>
    model.counts.some(({ subject }) => subject.id === id),
  );
}

const UNKNOWN: CountSubject = { kind: "api", id: "api_unknown" };

/** Steps on limits that belong to no key, and on counters of verifications. */
export const counterKinds = [
  kind({
    title: "takeFromNamespace",
    input: fc.record({
      workspace: any.workspace,
      namespace: fc.constantFrom("email", "login"),
      identifier: fc.constantFrom("ann", "bob"),
      limit: fc.integer({ min: 1, max: 5 }),
      durationMs: any.durationMs,
      cost: fc.nat({ max: 3 }),
    }),
    async run({ workspace, ...fields }, { model, now }, store) {
      const plan = aNamespacePlan({ ...fields, now, workspaceId: workspaceAt(workspace) });
      return {
        actual: await store.takeFromNamespace(plan),
        expected: counters.takeFromNamespace(model, plan),
      };
    },
  }),
  kind({
    title: "addVerifications",
    input: fc.record({
      workspace: any.workspace,
      counts: fc.uniqueArray(count, {
        selector: ({ pick, hourAt, code }) => `${pick} ${hourAt} ${code}`,
        minLength: 1,
        maxLength: 6,
      }),
      lastUsed: fc.uniqueArray(fc.record({ pick: any.pick, agoMs: fc.nat({ max: 5 }) }), {
        selector: ({ pick }) => pick,
        maxLength: 3,
      }),
    }),
    async run({ workspace, counts, lastUsed }, { model, everyKey, now }, store) {
      const workspaceId = workspaceAt(workspace);
      const subjects = subjectsOf(model, workspaceId);
      const used = new Map(
        lastUsed.map(({ pick, agoMs }) => [
          choose(everyKey, pick)?.id ?? "key_unknown",
          now - agoMs,
        ]),
      );
      const counted = new Map(
        counts.flatMap(({ pick, ...fields }) => {
          const subject = subjects[pick % subjects.length];
          const { hourAt, code } = fields;
          if (subject === undefined) return [];
          return [[`${subject.id} ${hourAt} ${code}`, { ...fields, subject }] as const];
        }),
      );
      const batch = {
        counts: [...counted.values()],
        lastUsed: [...used].map(([keyId, usedAt]) => ({ keyId, usedAt })),
      };
      counters.addVerifications(model, workspaceId, batch);
      return { actual: await store.addVerifications(workspaceId, batch), expected: undefined };
    },
  }),
  kind({
    title: "getVerifications",
    input: fc.record({ workspace: any.workspace, pick: any.pick, startAt: span, endAt: span }),
    async run({ workspace, pick, startAt, endAt }, { model }, store) {
      const workspaceId = workspaceAt(workspace);
      const subjects = subjectsOf(model, workspaceId);
      const counted = countedSubjects(model, workspaceId);
      const subject = choose(counted.length > 0 ? counted : subjects, pick) ?? UNKNOWN;
      const asked = [workspaceId, subject, startAt, endAt] as const;
      return {
        actual: counters.inOrderOfHour(await store.getVerifications(...asked)),
        expected: counters.getVerifications(model, ...asked),
      };
    },
  }),
  kind({
    title: "deleteVerifications",
    input: fc.record({
      workspace: any.workspace,
      day: fc.integer({ min: -1, max: 2 }),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
    async run({ workspace, day, limit }, { model }, store) {
      const workspaceId = workspaceAt(workspace);
      const beforeAt = NOW - (NOW % DAY_MS) + day * DAY_MS;
      const most = model.counts.length + 10;
      let calls = 1;
      while ((await store.deleteVerifications(workspaceId, beforeAt, limit)).hasMore) {
        calls += 1;
        if (calls > most) break;
      }
      counters.deleteVerifications(model, workspaceId, beforeAt);
      return { actual: { hasEnded: calls <= most }, expected: { hasEnded: true } };
    },
  }),
];
