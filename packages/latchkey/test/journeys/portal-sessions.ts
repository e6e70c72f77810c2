import { expect } from "vitest";
import { expectRefused, HOUR_MS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** createPortalSession, openPortalSession, revokePortalSession. */
export const PORTAL_SESSIONS: Journey = {
  resource: "portal sessions",
  title: "let the owner of keys in until they are over, in every process at once",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const allow = { apiIds: [apiId], create: true };
    const create = () => latchkey.createPortalSession({ externalId: "pier-7", allow });
    const first = await create();
    const session = await other.openPortalSession(first.secret);
    const { key } = (await session?.createMyKey({ name: "boat" })) ?? { key: "" };
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await latchkey.revokePortalSession({ sessionId: first.sessionId });
    expect(await other.openPortalSession(first.secret)).toBeNull();
    const second = await create();
    context.advance(HOUR_MS);
    expect(await other.openPortalSession(second.secret)).toBeNull();
    await expectRefused("NOT_FOUND", [
      latchkey.revokePortalSession({ sessionId: first.sessionId }),
      latchkey.createPortalSession({ externalId: "pier-7", allow: { apiIds: ["api_none"] } }),
    ]);
    const [captain, mate] = await Promise.all(
      ["captain-1", "mate-2"].map(async (actor) => {
        const created = await latchkey.createPortalSession({ externalId: "pier-7", allow, actor });
        return other.openPortalSession(created.secret);
      }),
    );
    expect([captain?.actor, mate?.actor]).toEqual(["captain-1", "mate-2"]);
    const asked = { name: "ship", idempotencyKey: "once" };
    const made = await captain?.createMyKey(asked);
    // The same call of the same customer, whoever repeats it.
    expect((await mate?.createMyKey(asked))?.keyId).toBe(made?.keyId);
    const byActor = async (actor: string) => {
      const { events } = await latchkey.listAuditEvents({ actor });
      return events.map(({ type, resourceId }) => [type, resourceId]);
    };
    expect(await byActor("captain-1")).toEqual([["key.created", made?.keyId]]);
    expect(await byActor("mate-2")).toEqual([]);
    const third = await create();
    await latchkey.setWorkspaceEnabled(false);
    await expectRefused("FORBIDDEN", [other.openPortalSession(third.secret)]);
    await latchkey.setWorkspaceEnabled(true);
  },
};
