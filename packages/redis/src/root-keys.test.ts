import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { openOwnStore } from "./testing/own-store.js";
import { type FaultyLink, startProxy } from "./testing/proxy.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a root key, which lies in two slots", () => {
  let proxy: FaultyLink;
  let control: Redis;
  let store: KeyStore;
  let direct: Latchkey;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    proxy = await startProxy(own.server.port);
    direct = createLatchkey({ store });
    return async () => {
      await proxy.close();
      await own.close();
    };
  });
  beforeEach(() => control.flushdb());

  const isGood = async (rootKey: string) =>
    (await direct.authenticateRootKey(rootKey)).kind === "authenticated";

  test("is good until it is revoked, whichever answer of the revocation is lost on its way", async () => {
    for (let lost = 1, isAnswered = false; !isAnswered; lost += 1) {
      const { key: rootKey, rootKeyId } = await direct.createRootKey({ permissions: ["*"] });
      expect(await isGood(rootKey)).toBe(true);
      const link = redisStore(proxy.url);
      const latchkey = createLatchkey({ store: link });
      await latchkey.listRootKeys({});
      let answers = 0;
      proxy.decide(() => {
        answers += 1;
        return answers === lost ? "lose" : "deliver";
      });
      const revoking = latchkey.revokeRootKey({ rootKeyId });
      isAnswered = await revoking.then(
        () => answers < lost,
        () => false,
      );
      const wasAnswered = await revoking.then(
        () => true,
        () => false,
      );
      if (!wasAnswered)
        expect(await errorOf(revoking)).toMatchObject({ code: "STORE_UNAVAILABLE" });
      proxy.decide(() => "deliver");
      await link.close();
      if (!wasAnswered) await direct.revokeRootKey({ rootKeyId }).catch(() => undefined);
      expect(await isGood(rootKey)).toBe(false);
    }
  });
});
