import { DIRECTORY_ID, rootKeyPointerType } from "../../records/root-key.js";
import { secretShape } from "../../secrets/format.js";
import type { Want } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";
import { ROOT_PREFIX } from "../root-keys/new-root-key.js";

/** What a secret belongs to, as the store finds it: it may be damaged, and a root key may be gone. */
export type Holder =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly id: string }
  | {
      readonly kind: "rootKey";
      readonly id: string;
      readonly hash: string;
      readonly workspaceId: string;
    };

type FindContext = Pick<OperationContext, "store" | "workspaceId" | "hasher">;

/**
 * The key or root key of each secret: in one read of the workspace, and one of the directory if there are root keys. Null for a
 * string that never was a secret.
 */
export async function findHolders(
  context: FindContext,
  secrets: readonly string[],
): Promise<readonly (Holder | null)[]> {
  const { store, workspaceId, hasher } = context;
  const wants: Want[] = [];
  const rootWants: Want[] = [];
  const hashed = secrets.map((secret) => {
    const shape = secretShape(secret);
    if (shape === "malformed" || shape === "damaged") return null;
    const isRoot = shape === "intact" && secret.startsWith(`${ROOT_PREFIX}_`);
    const hashes = hasher.candidates(secret);
    const into = isRoot ? rootWants : wants;
    const at = into.length;
    for (const hash of hashes)
      into.push(
        isRoot ? { kind: "rootKeyPointer", id: hash } : { kind: "key", index: "hash", value: hash },
      );
    return { isRoot, from: at, to: into.length };
  });
  const none = { found: [] };
  const [keys, pointers] = await Promise.all([
    wants.length === 0 ? none : store.read(workspaceId, wants),
    rootWants.length === 0 ? none : store.read(DIRECTORY_ID, rootWants),
  ]);
  return hashed.map((place) => {
    if (place === null) return null;
    const { isRoot, from, to } = place;
    const found = (isRoot ? pointers : keys).found.slice(from, to).find((one) => one !== null);
    if (found === null || found === undefined) return { kind: "none" };
    if (!isRoot) return { kind: "key", id: found.record.id };
    const { id: hash, ...where } = rootKeyPointerType.decode(found.record, DIRECTORY_ID);
    return { kind: "rootKey", id: where.rootKeyId, hash, workspaceId: where.workspaceId };
  });
}
