import { createLatchkey, type KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { examine } from "../src/doctor/examination.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, type OpenContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

/** A doctor of a store whose keys, identities and root keys are changed and deleted after it has read them. */
async function setUp(open: OpenContext) {
  const { latchkey, store, now } = open();
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const expires = now() + DAY_MS;
  const gone = await latchkey.createKey({ apiId, expires });
  const later = await latchkey.createKey({ apiId, expires });
  const identityIds: string[] = [];
  for (const externalId of ["pier-1", "pier-2"])
    identityIds.push((await latchkey.createIdentity({ externalId })).identityId);
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    key: async () => {
      await latchkey.deleteKey({ keyId: gone.keyId });
      await latchkey.updateKey({ keyId: later.keyId, expires: expires + DAY_MS });
    },
    identity: async () => {
      for (const identityId of identityIds) await latchkey.deleteIdentity({ identityId });
      await latchkey.createIdentity({ externalId: "pier-2" });
    },
    rootKey: () => latchkey.revokeRootKey({ rootKeyId }),
  };
  const page: KeyStore["page"] = async (workspaceId, want) => {
    const read = await store.page(workspaceId, want);
    if (read.found.length > 0) await changes[want.kind]?.();
    return read;
  };
  const live = wrapped(store, { page });
  const doctor = createLatchkey({ store: live, clock: now });
  const findings = async (fix: boolean, of: KeyStore) => {
    const problems: string[] = [];
    const context = { latchkey: doctor, store: of, fix, rings: {} };
    for await (const { check, state, found } of examine(context))
      if (state !== "fine" && check !== "clock") problems.push(found);
    return problems;
  };
  return { findings, live, store };
}

describeOnEveryStore("a doctor of a store in use", (open) => {
  test.each([false, true])(
    "finds nothing wrong with what is changed or deleted while it looks (fix: %s)",
    async (fix) => {
      const { findings, live, store } = await setUp(open);
      expect(await findings(fix, live)).toEqual([]);
      expect(await findings(false, store)).toEqual([]);
    },
  );
});
