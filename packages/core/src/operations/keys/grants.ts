import { LatchkeyError } from "../../errors.js";
import { MAX_HELD, type NamedGrant } from "../../records/role.js";
import { missingGrants, notFound, type OperationContext } from "../context.js";
import { changeKey } from "./change.js";
import { type GrantItem, grantLabel } from "./grant-input.js";

/** What of a key is meant, by the name of its field. */
export type GrantKind = "roles" | "permissions";

/** The set that a key is to be given so that it holds what it held and the items too; undefined where it holds them all. */
export function grantsWith(
  held: readonly NamedGrant[],
  items: readonly GrantItem[],
): readonly GrantItem[] | undefined {
  const added = items.filter((item) => heldAs(held, item) === undefined);
  return added.length === 0 ? undefined : [...held.map(byId), ...added];
}

/** The set that a key is to be given so that it holds what it held but the items; undefined where it holds none of them. */
export function grantsWithout(
  held: readonly NamedGrant[],
  items: readonly GrantItem[],
): readonly GrantItem[] | undefined {
  const removed = new Set(items.map((item) => heldAs(held, item)));
  const kept = held.filter((grant) => !removed.has(grant));
  return kept.length === held.length ? undefined : kept.map(byId);
}

/**
 * Gives a key further roles or permissions.
 *
 * @returns Those that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND`, `PRECONDITION_FAILED` naming all that do not exist, or where the key would hold more
 * than it can be given at once; nothing is written then.
 */
export async function addGrants(
  context: OperationContext,
  kind: GrantKind,
  keyId: string,
  items: readonly GrantItem[],
): Promise<readonly NamedGrant[]> {
  await changeKey(context, keyId, ({ direct }) => {
    const wanted = grantsWith(direct[kind], items);
    if (wanted !== undefined) refuseTooMany(kind, wanted);
    return { [kind]: wanted };
  });
  return heldNow(context, kind, keyId);
}

/** Makes these all that a key holds itself of roles or permissions. As {@link addGrants}. */
export async function setGrants(
  context: OperationContext,
  kind: GrantKind,
  keyId: string,
  items: readonly GrantItem[],
): Promise<readonly NamedGrant[]> {
  await changeKey(context, keyId, () => ({ [kind]: items }));
  return heldNow(context, kind, keyId);
}

/**
 * Takes roles or permissions from a key. One that the key does not hold is passed over, one that does not exist is not.
 * As {@link addGrants}, but that nothing is made on demand.
 */
export async function removeGrants(
  context: OperationContext,
  kind: GrantKind,
  keyId: string,
  items: readonly GrantItem[],
): Promise<readonly NamedGrant[]> {
  const held = await heldNow(context, kind, keyId);
  const others = items.filter((item) => heldAs(held, item) === undefined);
  const missing = await missingOf(context, kind, others);
  if (missing.length > 0)
    throw missingGrants({ kind: "missing-grants", roles: [], permissions: [], [kind]: missing });
  if (others.length === items.length) return held;
  await changeKey(context, keyId, ({ direct }) => ({ [kind]: grantsWithout(direct[kind], items) }));
  return heldNow(context, kind, keyId);
}

/** Else a key would grow with every call, and each verification with it. */
function refuseTooMany(kind: GrantKind, wanted: readonly GrantItem[]): void {
  const max = MAX_HELD[kind];
  if (new Set(wanted.map(grantLabel)).size <= max) return;
  throw new LatchkeyError(
    "PRECONDITION_FAILED",
    `a key can hold at most ${max} ${kind} itself; nothing was written`,
  );
}

/** By id: a grant of another name that takes its place meanwhile must not slip in. */
function byId({ id }: NamedGrant): GrantItem {
  return { id };
}

function heldAs(held: readonly NamedGrant[], item: GrantItem): NamedGrant | undefined {
  if (typeof item !== "string" && item.id !== undefined)
    return held.find(({ id }) => id === item.id);
  return held.find(({ name }) => name === grantLabel(item));
}

async function heldNow(
  { store, workspaceId }: OperationContext,
  kind: GrantKind,
  keyId: string,
): Promise<readonly NamedGrant[]> {
  const loaded = await store.getKey(workspaceId, keyId);
  if (loaded === null) throw notFound("key");
  return loaded.direct[kind].map(({ id, name }) => ({ id, name }));
}

/** Those that exist nowhere in the workspace, as they were named, each once. */
async function missingOf(
  { store, workspaceId }: OperationContext,
  kind: GrantKind,
  items: readonly GrantItem[],
): Promise<readonly string[]> {
  if (items.length === 0) return [];
  const existing: readonly NamedGrant[] =
    kind === "roles"
      ? (await store.listRoles(workspaceId)).map(({ role }) => role)
      : await store.listPermissions(workspaceId);
  const missing = items.filter((item) => heldAs(existing, item) === undefined);
  return [...new Set(missing.map(grantLabel))];
}
