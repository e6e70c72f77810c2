import { DIRECTORY_ID, rootKeyPointerType } from "../../records/root-key.js";
import { secretShape } from "../../secrets/format.js";
import type { ReadResult, Want } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";
import { ROOT_PREFIX } from "../root-keys/root-keys.js";

/** The owner of a secret, as the store finds it: the key may be damaged, and a root key may be gone. */
export type Holder =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly id: string }
  | {
      readonly kind: "rootKey";
      readonly id: string;
      readonly hash: string;
      readonly workspaceId: string;
    };

/**
 * The key or root key of each secret: in one read of the workspace, and one of the directory if there are root keys. Null for a text that
 * cannot be a secret.
 */
export async function findHolders(
  { store, workspaceId, hasher }: Pick<OperationContext, "store" | "workspaceId" | "hasher">,
  secrets: readonly string[],
): Promise<readonly (Holder | null)[]> {
  const wants: Want[] = [];
  const rootWants: Want[] = [];
  const hashed = secrets.map((secret) => {
    const shape = secretShape(secret);
    if (shape === "malformed" || shape === "damaged") return null;
    const hashes = hasher.candidates(secret);
    // A key may have the prefix of root keys.
    const mayBeRoot = shape === "intact" && secret.startsWith(`${ROOT_PREFIX}_`);
    const [from, fromRoot] = [wants.length, rootWants.length];
    for (const value of hashes) wants.push({ kind: "key", index: "hash", value });
    if (mayBeRoot) for (const id of hashes) rootWants.push({ kind: "rootKeyPointer", id });
    return { key: [from, wants.length], root: [fromRoot, rootWants.length] } as const;
  });
  const none: Pick<ReadResult, "found"> = { found: [] };
  const [keys, pointers] = await Promise.all([
    wants.length === 0 ? none : store.read(workspaceId, wants),
    rootWants.length === 0 ? none : store.read(DIRECTORY_ID, rootWants),
  ]);
  return hashed.map((place) => {
    if (place === null) return null;
    const first = ({ found }: typeof pointers, [from, to]: readonly [number, number]) =>
      found.slice(from, to).find((one) => one !== null) ?? null;
    const [pointer, key] = [first(pointers, place.root), first(keys, place.key)];
    if (pointer !== null) {
      const { id: hash, ...where } = rootKeyPointerType.decode(pointer.record, DIRECTORY_ID);
      return { kind: "rootKey", id: where.rootKeyId, hash, workspaceId: where.workspaceId };
    }
    return key === null ? { kind: "none" } : { kind: "key", id: key.record.id };
  });
}
