import type { PortalSession } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { rejectionOf } from "./test-context.js";

const ALL = { create: true, rotate: true, revoke: true } as const;
const DISABLED = { code: "FORBIDDEN", reason: "workspace-disabled" };

describeOnEveryStore("a portal session that a program keeps open", (open) => {
  test("allows nothing while the workspace is disabled", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
    const allow = { apiIds: [apiId], ...ALL };
    const { secret } = await latchkey.createPortalSession({ externalId: "pier-7", allow });
    const session = (await latchkey.openPortalSession(secret)) as PortalSession;
    const calls = [
      () => session.listMyKeys({}),
      () => session.usageOfMyKey({ keyId }),
      () => session.createMyKey({ name: "boat", idempotencyKey: "once" }),
      () => session.createMyKey({ name: "boat" }),
      () => session.renameMyKey({ keyId, name: "boat" }),
      () => session.rotateMyKey({ keyId, graceMs: "1h" }),
      () => session.revokeMyKey({ keyId }),
    ];
    await context.another().setWorkspaceEnabled(false);
    for (const call of calls) expect(await rejectionOf(call())).toMatchObject(DISABLED);
    expect((await latchkey.listKeys({ apiId })).keys.map(({ id }) => id)).toEqual([keyId]);
    await context.another().setWorkspaceEnabled(true);
    for (const call of calls) expect(await call()).toBeDefined();
  });
});
