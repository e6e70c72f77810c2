import { expect, test } from "vitest";
import { apiType } from "../../records/api.js";
import { type KeyRecord, keyType } from "../../records/key.js";
import type { Change } from "../../store/change.js";
import { contextWith } from "../../testing/context.js";
import { keyWith, loadedWith, usageOf } from "../../testing/records.js";
import { TestStore } from "../../testing/store.js";
import { deleteKey } from "./delete-key.js";
import { updateKey } from "./update-key.js";

const KEY = { kind: "key", id: "key_1" } as const;

/** A store in which another process rewrites the key just before the first change of a latchkey. */
class RacedStore extends TestStore {
  readonly #after: KeyRecord;
  #isRaced = false;

  constructor(before: KeyRecord, after: KeyRecord) {
    super();
    this.#after = after;
    this.put(apiType, loadedWith().api);
    this.put(keyType, before, usageOf());
  }

  override commit(workspaceId: string, change: Change) {
    if (!this.#isRaced) this.put(keyType, this.#after);
    this.#isRaced = true;
    return super.commit(workspaceId, change);
  }
}

test("a key of a damaged API that is switched off keeps the changes that another process made meanwhile", async () => {
  const store = new RacedStore(
    keyWith({ version: 1 }),
    keyWith({ version: 2, rotatedTo: "key_2", permissions: [] }),
  );
  store.damage({ kind: "api", id: "api_1" });
  await updateKey.run(contextWith({}, store), { keyId: "key_1", enabled: false });
  expect(store.get(KEY)?.record.body).toMatchObject({ rotatedTo: "key_2", disabled: true });
});

test("a key of a damaged API that is deleted leaves the list into which another process moved it meanwhile", async () => {
  const store = new RacedStore(
    keyWith({ version: 1, identityId: "id_1" }),
    keyWith({ version: 2, identityId: "id_2" }),
  );
  store.damage({ kind: "api", id: "api_1" });
  await deleteKey.run(contextWith({}, store), { keyId: "key_1" });
  expect(store.get(KEY)).toBeNull();
  expect(store.changes.at(-1)?.leaves).toContainEqual({
    list: "keys:api_1",
    of: "id_2",
    id: "key_1",
  });
});

test.each([
  ["switched off", updateKey.run, { keyId: "key_1", enabled: false } as const],
  ["deleted", deleteKey.run, { keyId: "key_1" } as const],
])("a key whose version cannot be read can be %s", async (_how, revoke, input) => {
  const store = new TestStore();
  store.put(apiType, loadedWith().api);
  store.put(keyType, keyWith({ version: 0 }), usageOf());
  const page = async () => ({ revision: 0, found: [], hasMore: false, size: 0 });
  await revoke(contextWith({}, Object.assign(store, { page })), input);
  const stored = store.get(KEY)?.record;
  expect(stored === undefined || stored.version > 0).toBe(true);
});
