import { type Latchkey, LatchkeyError } from "@latchkey/core";
import type { IdentitySettings, RowIssue } from "./row.js";

/** Makes a role or a permission, unless it is there. @returns Whether it was made. */
export async function createGrant(
  latchkey: Pick<Latchkey, "createRole" | "createPermission">,
  kind: "roles" | "permissions",
  name: string,
): Promise<boolean> {
  const making =
    kind === "roles" ? latchkey.createRole({ name }) : latchkey.createPermission({ name });
  return isMade(making);
}

/**
 * Makes an identity with its settings, unless there is one of that `externalId`: then it stays as it is.
 *
 * @returns What is wrong with the settings.
 */
export async function createIdentity(
  latchkey: Pick<Latchkey, "createIdentity" | "getIdentity" | "updateIdentity">,
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  try {
    // Its uses may be used up, which no new identity can be: it begins with one.
    const isUsedUp = settings.remaining === 0;
    const given = { ...settings, ...(isUsedUp && { remaining: 1 }), externalId };
    const isNew = await isMade(latchkey.createIdentity(given));
    if (isNew && isUsedUp) await latchkey.updateIdentity({ externalId, remaining: 0 });
    return [];
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "BAD_REQUEST")
      return error.issues.map(({ path, message }) => ({ field: `identity.${path}`, message }));
    throw error;
  }
}

async function isMade(making: Promise<unknown>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "CONFLICT") return false;
    throw error;
  }
}
