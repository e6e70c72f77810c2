import { type Latchkey, LatchkeyError } from "@latchkey/core";

/**
 * The id of the identity with this id, or else of the one with this external id.
 *
 * @throws LatchkeyError `NOT_FOUND` if there is neither.
 */
export async function findIdentityId(latchkey: Latchkey, anyId: string): Promise<string> {
  try {
    if (anyId.startsWith("id_")) return (await latchkey.getIdentity({ identityId: anyId })).id;
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
    // The record is damaged but exists, so it can be deleted.
    if (error.code === "STORE_CORRUPT") return anyId;
    if (error.code !== "NOT_FOUND") throw error;
  }
  return (await latchkey.getIdentity({ externalId: anyId })).id;
}
