import type { AuditEvent, ChangeEvent, LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { type ExpectedChange, makeChangeFixture, WITH_VAULT } from "../change-cases/fixture.js";
import { CHANGE_CASES, CHANGES_NOTHING } from "../changes.js";
import { describeOnMemory, NOON } from "../test-context.js";

/** The fields of an entry or event that its case expects. */
function toExpected({ type, keyId, identityId, changes }: AuditEvent): ExpectedChange {
  const fields = Object.fromEntries(
    changes.map(({ field, before, after }) => [field, [before, after] as const]),
  );
  return {
    type,
    ...(keyId !== undefined && { keyId }),
    ...(identityId !== undefined && { identityId }),
    fields,
  };
}

const byKey = (one: ExpectedChange, other: ExpectedChange) =>
  `${one.type} ${one.keyId}` < `${other.type} ${other.keyId}` ? -1 : 1;

describeOnMemory("a change", (open) => {
  const isAuditEvent = (event: LatchkeyEvent): event is ChangeEvent => "changes" in event;

  test("has a case for every operation that changes something", () => {
    const { latchkey } = open();
    const changing = Object.keys(latchkey).filter((name) => !CHANGES_NOTHING.has(name));
    const covered = new Set<string>(CHANGE_CASES.map(({ operation }) => operation));
    expect(changing.filter((name) => !covered.has(name))).toEqual([]);
  });

  describe.each(CHANGE_CASES)("by $title", ({ run, isUnordered, isElsewhere }) => {
    test("is emitted to listeners and written to the log: who, what, when, before and after", async () => {
      const context = open(WITH_VAULT);
      const fixture = await makeChangeFixture(context);
      const written = (await context.latchkey.listAuditEvents()).events.length;
      context.advance(10);
      const emitted: LatchkeyEvent[] = [];
      const acting = context
        .another({ onEvent: (event) => emitted.push(event) })
        .actingAs("harbour master");
      const expected = [...(await run(acting, fixture))];
      const events = emitted.filter(isAuditEvent);
      const sorted = (list: readonly ExpectedChange[]) =>
        isUnordered === true ? [...list].sort(byKey) : list;
      expect(sorted(events.map(toExpected))).toEqual(sorted(expected));
      for (const event of events)
        expect([event.actor, event.at]).toEqual(["harbour master", NOON + 10]);

      const log = isElsewhere === true ? acting.workspace(events[0]?.workspaceId ?? "") : acting;
      const entries = (await log.listAuditEvents()).events.toReversed();
      const added = isElsewhere === true ? entries : entries.slice(written);
      const took = { durationMs: 0 };
      // Erased values are overwritten only in the log.
      const asWritten = added.map(({ erased: _, ...entry }) => ({ ...entry, ...took }));
      expect(asWritten).toEqual(events.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
    });

    test("is emitted but not written if the log is off", async () => {
      const context = open({ ...WITH_VAULT, auditLog: false });
      const fixture = await makeChangeFixture(context);
      const emitted: LatchkeyEvent[] = [];
      const expected = await run(
        context.another({ onEvent: (event) => emitted.push(event) }),
        fixture,
      );
      expect(emitted.filter(isAuditEvent)).toHaveLength(expected.length);
      for (const workspaceId of new Set(emitted.map((event) => event.workspaceId)))
        expect((await context.latchkey.workspace(workspaceId).listAuditEvents()).events).toEqual(
          [],
        );
    });
  });
});
