import { HOUR_MS, NOON, type TestContext } from "./test-context.js";

/** The first instant after {@link NOON} at which daily refills are due. */
export const MIDNIGHT = NOON + 12 * HOUR_MS;

type Uses = Pick<
  Parameters<TestContext["latchkey"]["createIdentity"]>[0],
  "remaining" | "refill" | "ratelimits"
>;

/** An identity with uses, and two keys that draw from them. */
export async function team({ latchkey }: TestContext, uses: Uses = { remaining: 5 }) {
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { identityId } = await latchkey.createIdentity({ externalId: "team", ...uses });
  const fields = { apiId, externalId: "team", usesFrom: "identity" } as const;
  const one = await latchkey.createKey(fields);
  const two = await latchkey.createKey(fields);
  return { apiId, identityId, one, two };
}
