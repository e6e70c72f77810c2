import { type Latchkey, LatchkeyError, OPERATIONS, parseInput } from "@latchkey/core";
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
export function createIdentity(
  latchkey: Pick<Latchkey, "createIdentity">,
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  // In one step with its uses: one that is made first and used up then has some for a moment, or for good where the process ends.
  const input = { ...settings, externalId };
  return issuesOf(() => isMade(latchkey.createIdentity(input, { forImport: true })), ofIdentity);
}

/** What is wrong with the settings of an identity, as far as that can be said before it is made. */
export function identityIssues(
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  // Its uses may be used up, which those of no other new identity are.
  const isUsedUp = settings.remaining === 0;
  const input = { ...settings, ...(isUsedUp && { remaining: 1 }), externalId };
  return issuesOf(() => parseInput(OPERATIONS.createIdentity.input, input), ofIdentity);
}

/** What is wrong with the name of an API. @param field - What the name is called. */
export function apiNameIssues(field: string, name: string): Promise<readonly RowIssue[]> {
  return issuesOf(
    () => parseInput(OPERATIONS.createApi.input, { name }),
    () => field,
  );
}

const ofIdentity = (path: string) => `identity.${path}`;

async function isMade(making: Promise<unknown>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "CONFLICT") return false;
    throw error;
  }
}

async function issuesOf(
  work: () => unknown,
  fieldOf: (path: string) => string,
): Promise<readonly RowIssue[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") throw error;
    return error.issues.map(({ path, message }) => ({ field: fieldOf(path), message }));
  }
}
