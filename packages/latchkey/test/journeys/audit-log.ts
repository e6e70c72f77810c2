import { expect } from "vitest";
import { expectRefused, issue, rejectionOf } from "../test-context.js";
import type { Journey } from "./journey.js";

/** listAuditEvents, readEvents, notice, pruneAuditEvents. */
export const AUDIT_LOG: Journey = {
  resource: "the audit log",
  title: "holds each change once, with who made it, in pages and by filter, until it is pruned",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const { apiId, keyId } = await issue(context, { externalId: "pier-7", name: "name 0" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    context.advance(1_000);
    const racers = [latchkey.actingAs("ada"), other.actingAs("grace")];
    await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        racers[at % 2]?.updateKey({ keyId, name: `name ${at + 1}` }),
      ),
    );
    await rejectionOf(other.createKey({ apiId, roles: ["nobody"], externalId: "pier-9" }));

    const { events } = await other.listAuditEvents();
    expect(events.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 6 }, () => "key.updated"),
      "key.created",
      "identity.created",
      "api.created",
    ]);
    expect(events[0]).toMatchObject({ at: context.now(), keyId, identityId, resourceId: keyId });
    // A chain without a gap: each change starts where the previous one ended.
    const names = events.slice(0, 6).map(({ changes }) => changes[0]);
    const { name } = await other.getKey({ keyId });
    expect([...names.map((change) => change?.before), name].sort()).toEqual(
      ["name 0", ...names.map((change) => change?.after)].sort(),
    );

    const paged = [];
    let cursor: string | undefined;
    do {
      const page = await other.listAuditEvents({ limit: 4, ...(cursor && { cursor }) });
      paged.push(...page.events);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(events);
    const counts = [];
    for (const filter of [{ keyId }, { identityId }, { actor: "ada" }, { actor: "nobody" }])
      counts.push((await latchkey.listAuditEvents(filter)).events.length);
    expect(counts).toEqual([7, 8, 3, 0]);
    expect((await latchkey.workspace("ws_other").listAuditEvents()).events).toEqual([]);
    await expectRefused("BAD_REQUEST", [other.listAuditEvents({ keyId, actor: "ada" })]);

    const read = await other.readEvents({ limit: 100 });
    // Two events of one instant are in the order of their commits, which is not the order of their ids.
    expect(read.events).toHaveLength(events.length);
    expect(read.events).toEqual(expect.arrayContaining([...events]));
    expect(await latchkey.readEvents({ after: read.cursor })).toMatchObject({ events: [] });
    await expectRefused("BAD_REQUEST", [other.readEvents({ after: "no cursor" })]);
    expect(await other.notice()).toEqual({ noticed: 0 });
    await expectRefused("BAD_REQUEST", [other.notice({ cursor: read.cursor })]);

    const before = context.now();
    await expectRefused("BAD_REQUEST", [other.pruneAuditEvents({ before: before + 1 })]);
    expect(await other.pruneAuditEvents({ before })).toEqual({ deleted: 3 });
    expect((await latchkey.listAuditEvents()).events).toEqual(events.slice(0, 6));
  },
};
