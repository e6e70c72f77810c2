import { type Latchkey, LatchkeyError, OPERATIONS, parseInput } from "@latchkey/core";
import type { IdentitySettings, RowIssue } from "./row.js";

/**
 * Creates a role or a permission, if it does not exist.
 *
 * @returns Whether it was created.
 */
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
 * Creates an identity with its settings, if none has that `externalId`. An existing one stays unchanged.
 *
 * @returns What is wrong with the settings.
 */
export function createIdentity(
  latchkey: Pick<Latchkey, "createIdentity">,
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  // In one step with its uses: otherwise an exhausted identity would have uses for a moment, or forever if the process ends.
  const input = { ...settings, externalId };
  return issuesOf(() => isMade(latchkey.createIdentity(input, { forImport: true })), ofIdentity);
}

/** What is wrong with the settings of an identity, as far as this is known before it is created. */
export function identityIssues(
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  // Its uses may be exhausted, unlike those of any other new identity.
  const isUsedUp = settings.remaining === 0;
  const input = { ...settings, ...(isUsedUp && { remaining: 1 }), externalId };
  return issuesOf(() => parseInput(OPERATIONS.createIdentity.input, input), ofIdentity);
}

/**
 * What is wrong with the name of an API.
 *
 * @param field - The field to name in the message.
 */
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
