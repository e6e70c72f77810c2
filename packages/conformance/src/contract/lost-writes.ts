import assert from "node:assert/strict";
import { createLatchkey, type KeyStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import type { StoreContract, TestContext } from "../fixtures/context.js";
import { DAY } from "../fixtures/records.js";

/**
 * Saves the contents of a store, and returns a function that restores them under open connections: like a failover that loses the last
 * writes, or a backup that is restored under running processes.
 */
export type SaveState = (store: KeyStore) => Promise<() => Promise<void>>;

/** Further questions of a verification. */
interface Asked {
  readonly authorization?: { readonly permissions: string };
  readonly ipAddress?: string;
}

/** A process that changes things, and the ids of what it can change. */
interface Actor {
  readonly latchkey: Latchkey;
  readonly apiId: string;
  readonly roleId: string;
  readonly keyId: string;
}

/** A write that is lost, and a later one that must not be taken for it. */
interface Loss {
  readonly title: string;
  readonly lose: (actor: Actor) => Promise<unknown>;
  /** The questions of the verification that shows whether either was written. */
  readonly asked?: Asked;
  /** Its codes: before, for a process that has seen the lost write, and for the same process after the write that follows. */
  readonly codes: readonly [before: string, lost: string, after: string];
  readonly follow: (actor: Actor) => Promise<unknown>;
}

const READ = "docs.read";
const WRITE = "docs.write";

const LOSSES: readonly Loss[] = [
  {
    title: "a change of a key: the next one is heeded",
    lose: ({ latchkey, keyId }) => latchkey.updateKey({ keyId, name: "lost" }),
    codes: ["VALID", "VALID", "DISABLED"],
    follow: ({ latchkey, keyId }) => latchkey.updateKey({ keyId, enabled: false }),
  },
  {
    title: "the revocation of a key: it can be made again",
    lose: ({ latchkey, keyId }) => latchkey.updateKey({ keyId, enabled: false }),
    codes: ["VALID", "DISABLED", "DISABLED"],
    follow: ({ latchkey, keyId }) => latchkey.updateKey({ keyId, enabled: false }),
  },
  {
    title: "the deletion of a key: it can be made again",
    lose: ({ latchkey, keyId }) => latchkey.deleteKey({ keyId }),
    codes: ["VALID", "NOT_FOUND", "NOT_FOUND"],
    follow: ({ latchkey, keyId }) => latchkey.deleteKey({ keyId }),
  },
  {
    title: "permissions of a role: the next ones are heeded",
    lose: ({ latchkey, roleId }) =>
      latchkey.setRolePermissions({ roleId, permissions: [READ, WRITE] }),
    asked: { authorization: { permissions: WRITE } },
    codes: ["INSUFFICIENT_PERMISSIONS", "VALID", "INSUFFICIENT_PERMISSIONS"],
    follow: ({ latchkey, roleId }) => latchkey.setRolePermissions({ roleId, permissions: [] }),
  },
  {
    title: "permissions of a role: the next allow-list of an API is heeded",
    lose: ({ latchkey, roleId }) =>
      latchkey.setRolePermissions({ roleId, permissions: [READ, WRITE] }),
    asked: { ipAddress: "192.0.2.1" },
    codes: ["VALID", "VALID", "FORBIDDEN"],
    follow: ({ latchkey, apiId }) => latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.9"] }),
  },
  {
    title: "limits of an identity: the next ones are heeded",
    lose: ({ latchkey }) => latchkey.updateIdentity({ externalId: "acme", meta: { plan: "lost" } }),
    codes: ["VALID", "VALID", "RATE_LIMITED"],
    follow: ({ latchkey }) => {
      const limit = { name: "all", limit: 1, duration: DAY, autoApply: true };
      return latchkey.updateIdentity({ externalId: "acme", ratelimits: [limit] });
    },
  },
  {
    title: "the kill switch of a workspace: it can be thrown again",
    lose: ({ latchkey }) => latchkey.setWorkspaceEnabled(false),
    codes: ["VALID", "FORBIDDEN", "FORBIDDEN"],
    follow: ({ latchkey }) => latchkey.setWorkspaceEnabled(false),
  },
];

/** No number stands for two states: a lost write misleads no process that has seen it. */
export function lostWriteContracts(saveState: SaveState): readonly StoreContract[] {
  return LOSSES.map((loss) => ({
    title: `a process that has seen what the store lost goes by what the store holds: ${loss.title}`,
    check: (context) => loseAndFollow(context, saveState, loss),
  }));
}

async function loseAndFollow(
  { store, other }: TestContext,
  saveState: SaveState,
  { lose, asked = {}, codes: [before, lost, after], follow }: Loss,
): Promise<void> {
  const first = createLatchkey({ store, usage: false });
  const witness = createLatchkey({ store: other, usage: false });
  const { apiId } = await first.createApi({ name: "payments" });
  await first.createPermission({ name: READ });
  await first.createPermission({ name: WRITE });
  const { roleId } = await first.createRole({ name: "reader", permissions: [READ] });
  const { key, keyId } = await first.createKey({ apiId, roles: ["reader"], externalId: "acme" });
  const code = () => codeOf(() => witness.verifyKey({ key, ...asked }));
  const ids = { apiId, roleId, keyId };
  assert.equal(await code(), before);
  const putBack = await saveState(store);
  // Numbers that only count up would meet again after enough lost writes, whatever those were.
  for (let round = 0; round < 2; round += 1) {
    await lose({ latchkey: first, ...ids });
    assert.equal(await code(), lost, "what the process saw that was lost then");
    await putBack();
    assert.equal(await code(), before, "after the loss");
  }
  await lose({ latchkey: first, ...ids });
  await code();
  await putBack();
  await follow({ latchkey: createLatchkey({ store, usage: false }), ...ids });
  await code();
  assert.equal(await code(), after, "after the next write");
}

/** The code of a verdict or of an error. */
async function codeOf(verify: () => Promise<{ readonly code: string }>): Promise<string> {
  try {
    return (await verify()).code;
  } catch (error) {
    if (error instanceof LatchkeyError) return error.code;
    throw error;
  }
}
