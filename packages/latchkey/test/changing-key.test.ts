import { createLatchkey, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";

/** A store whose calls all take one turn of the event loop, as if all round trips took the same time. */
function inStep(store: KeyStore): KeyStore {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ...store,
    read: (...given) => turn().then(() => store.read(...given)),
    commit: (...given) => turn().then(() => store.commit(...given)),
    charge: (...given) => turn().then(() => store.charge(...given)),
  };
}

test("a verification passes beside changes that come again and again between its read and its charge", async () => {
  const latchkey = createLatchkey({ store: inStep(memoryStore()) });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const { key } = await latchkey.createKey({ apiId, externalId: "pier-7", remaining: 1 });
  let isChanging = true;
  const change = async () => {
    for (let count = 0; isChanging; count += 1)
      await latchkey.updateIdentity({ externalId: "pier-7", meta: { count } });
  };
  const changing = change();
  const verdict = await latchkey.verifyKey({ key }).finally(() => {
    isChanging = false;
  });
  await changing;
  expect(verdict).toMatchObject({ code: "VALID", remaining: 0 });
});
