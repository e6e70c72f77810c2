import type { KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { wrapped } from "./wrapped-store.js";

/** A store that fails over before a commit, and thereby loses the deletion of sessions by another call, which it showed until then. */
function failingOver(store: KeyStore): KeyStore {
  let hasFailedOver = false;
  return wrapped(store, {
    page: async (workspaceId, want) => {
      const page = await store.page(workspaceId, want);
      const isHidden = want.kind === "portalSession" && !hasFailedOver;
      return isHidden ? { ...page, found: [], hasMore: false } : page;
    },
    commit: async (workspaceId, change) => {
      hasFailedOver = true;
      return store.commit(workspaceId, change);
    },
  });
}

describeOnEveryStore("revoking portal sessions of an identity", (open) => {
  test.each(["externalId", "identityId"] as const)(
    "by its %s ends those that a failover brought back meanwhile",
    async (by) => {
      const context = open();
      const { latchkey, store } = context;
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const { identityId } = await latchkey.createIdentity({ externalId: "pier-7" });
      const made = { externalId: "pier-7", allow: { apiIds: [apiId] } };
      const secrets = [];
      for (let count = 0; count < 3; count += 1)
        secrets.push((await latchkey.createPortalSession(made)).secret);
      const who = by === "externalId" ? { externalId: "pier-7" } : { identityId };
      const revoking = context.another({ store: failingOver(store) });
      expect(await revoking.revokePortalSession(who)).toEqual({ revokedSessions: 3 });
      for (const secret of secrets) expect(await latchkey.openPortalSession(secret)).toBeNull();
      expect(await latchkey.revokePortalSession(who)).toEqual({ revokedSessions: 0 });
    },
  );
});
