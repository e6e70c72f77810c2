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
  latchkey: Pick<Latchkey, "createIdentity" | "getIdentity" | "updateIdentity">,
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  return issuesOf(async () => {
    const isNew = await isMade(latchkey.createIdentity(inputOf(externalId, settings)));
    if (isNew && isUsedUp(settings)) await latchkey.updateIdentity({ externalId, remaining: 0 });
  }, ofIdentity);
}

/** What is wrong with the settings of an identity, as far as that can be said before it is made. */
export function identityIssues(
  externalId: string,
  settings: IdentitySettings,
): Promise<readonly RowIssue[]> {
  const input = inputOf(externalId, settings);
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

/** Its uses may be used up, which no new identity can be: it begins with one. */
function inputOf(externalId: string, settings: IdentitySettings) {
  return { ...settings, ...(isUsedUp(settings) && { remaining: 1 }), externalId };
}

function isUsedUp({ remaining }: IdentitySettings): boolean {
  return remaining === 0;
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
