import { auditEntryType, leakList } from "../../records/audit-entry.js";
import type { LeakPolicy } from "../../rules/keys/leak.js";
import type { OperationContext, Work } from "../context.js";
import { decodeAll, listPages } from "../read.js";
import type { Leak, LeakAction, LeakedKey } from "./operations.js";

/** The report of a leaked secret, without the secret itself. */
export interface Report {
  /** What the audit log says about the place: free of secrets. */
  readonly place: { readonly url: string | null; readonly source: string | null };
  /** Lead from the secret to its reports: `mark` for a new report, `earlierMarks` for those written under earlier peppers. */
  readonly mark: string;
  readonly earlierMarks: readonly string[];
}

/** `secrets`: secrets that the URL may contain, and that must be removed. */
export function reportOf(
  { hasher }: Pick<OperationContext, "hasher">,
  { key, url, source }: Leak,
  secrets: readonly string[],
): Report {
  const marked = `leak ${key}`;
  const [, ...earlierMarks] = hasher.candidates(marked);
  return {
    place: { url: withoutSecrets(url, secrets), source: withoutSecrets(source, secrets) },
    mark: hasher.hash(marked),
    earlierMarks,
  };
}

function withoutSecrets(text: string | undefined, secrets: readonly string[]): string | null {
  if (text === undefined || text === "") return null;
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return forms.reduce((cut, form) => cut.replaceAll(form, "…"), text);
}

/** The latest earlier report of the same secret, or null. `same-place`: only a report of the same place. */
export async function findReport(
  context: Pick<OperationContext, "store" | "workspaceId">,
  { mark, earlierMarks, place }: Report,
  where: "same-place" | "anywhere",
): Promise<LeakedKey | null> {
  for (const of of [mark, ...earlierMarks].map(leakList)) {
    const want = {
      kind: "auditEntry",
      list: "auditEntry",
      of,
      limit: 1_000,
      descending: true,
    } as const;
    for await (const page of listPages(context, want))
      for (const entry of decodeAll(auditEntryType, page, context.workspaceId)) {
        const said = new Map(entry.fields.map(({ field, after = null }) => [field, after]));
        const isSame = (name: "url" | "source") => (said.get(name) ?? null) === place[name];
        if (where === "same-place" && !(isSame("url") && isSame("source"))) continue;
        const id = entry.keyId === null ? { rootKeyId: entry.resourceId } : { keyId: entry.keyId };
        // An erased entry has no action left: its key was deleted with its user.
        const action = (said.get("action") ?? "deleted") as LeakAction;
        return { ...id, action, isRepeat: true };
      }
  }
  return null;
}

const ACTIONS: Readonly<Record<LeakPolicy, LeakAction>> = {
  disable: "disabled",
  report: "reported",
  delete: "deleted",
  rotate: "rotated",
};

/** Writes the report of a key to the audit log. */
export function auditKeyLeak(
  { audit }: Work,
  { mark, place }: Report,
  { keyId, identityId }: { readonly keyId: string; readonly identityId: string | null },
  done: LeakPolicy,
): LeakedKey {
  const action = ACTIONS[done];
  const after = { action, ...place };
  audit({ type: "key.leaked", resourceId: keyId, identityId, leakMark: mark, after });
  return { keyId, action, isRepeat: false };
}

/** Writes the report of a root key to the audit log. `wasEnabled`: whether this call disabled it. */
export function auditRootKeyLeak(
  { audit }: Work,
  { mark, place }: Report,
  rootKeyId: string,
  done: LeakPolicy,
  wasEnabled: boolean,
): LeakedKey {
  const action = ACTIONS[done];
  audit({
    type: "root_key.leaked",
    resourceId: rootKeyId,
    leakMark: mark,
    ...(wasEnabled && { before: { enabled: true } }),
    after: { ...(wasEnabled && { enabled: false }), action, ...place },
  });
  return { rootKeyId, action, isRepeat: false };
}
