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
    const third = await create();
    await latchkey.setWorkspaceEnabled(false);
    await expectRefused("FORBIDDEN", [other.openPortalSession(third.secret)]);
    await latchkey.setWorkspaceEnabled(true);
  },
};
