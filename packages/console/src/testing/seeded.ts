import type { Latchkey } from "@latchkey/core";

/** Ids of the records that {@link seed} creates. */
export interface Seeded {
  readonly apiId: string;
  readonly good: { readonly keyId: string; readonly key: string };
  readonly off: { readonly keyId: string; readonly key: string };
  readonly identityId: string;
}

/** Fills a store as if it had been used for a while, so that no page is empty. */
export async function seed(latchkey: Latchkey): Promise<Seeded> {
  for (const name of ["tiles.read", "tiles.write", "routes.read"])
    await latchkey.createPermission({ name, description: `May do ${name}` });
  await latchkey.createRole({ name: "reader", permissions: ["tiles.read", "routes.read"] });
  await latchkey.createRole({ name: "editor", permissions: ["tiles.read", "tiles.write"] });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  await latchkey.createApi({ name: "documents", deleteProtection: true });
  const { identityId } = await latchkey.createIdentity({
    externalId: "northwind",
    meta: { plan: "pro" },
    ratelimits: [{ name: "requests", limit: 1_000, duration: 60_000 }],
  });
  const owner = { apiId, externalId: "northwind", prefix: "maps" };
  const good = await latchkey.createKey({
    ...owner,
    name: "map server",
    roles: ["reader"],
    remaining: 5_000,
    refill: { interval: "monthly", amount: 5_000 },
    ratelimit: { limit: 100, duration: 60_000 },
    meta: { region: "eu" },
  });
  const off = await latchkey.createKey({ ...owner, name: "old build server", enabled: false });
  await latchkey.createKey({
    apiId,
    prefix: "maps",
    name: "trial",
    externalId: "contoso",
    remaining: 2,
  });
  for (let at = 0; at < 12; at += 1) await latchkey.verifyKey({ key: good.key });
  for (let at = 0; at < 3; at += 1) await latchkey.verifyKey({ key: off.key });
  await latchkey.reserve({ key: good.key, remaining: { cost: 250 }, ttl: "1h" });
  await latchkey.createRootKey({ name: "billing", permissions: ["api.*.read_key"] });
  return { apiId, good, off, identityId };
}
