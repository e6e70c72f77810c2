import type { JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { defineRecord, type VersionedHead } from "./record-type.js";

/** A short time in which a customer manages keys of their own, within what the host allows. */
export interface PortalSessionRecord extends VersionedHead {
  /** Hash of its secret, which is stored nowhere. */
  readonly hash: string;
  /** The identity whose keys it manages. Once that identity is gone, the session is over. */
  readonly identityId: string;
  readonly expires: EpochMs;
  /** When it was written, by the store's own clock. */
  readonly storedAt: EpochMs;
  readonly allow: { readonly [field: string]: JsonValue };
  /** Who acts in it, as the audit log names them; null if the host did not say. */
  readonly actor: string | null;
}

export const SESSION_INDEX = "hash";

/** Portal sessions, found by the digest of their secret. The identity is read along with them. */
export const portalSessionType = defineRecord<PortalSessionRecord>({
  kind: "portalSession",
  link: ({ identityId }) => identityId,
  write: ({ hash, expires, storedAt, allow, actor }) => ({ hash, expires, storedAt, allow, actor }),
  read: (body, head, link) => {
    const allow = body.jsonOrNull("allow");
    if (link === null || allow === null) throw new TypeError("not what was written");
    return {
      ...head,
      hash: body.text("hash"),
      identityId: link,
      expires: body.whole("expires"),
      storedAt: body.whole("storedAt"),
      allow,
      actor: body.textOrNull("actor"),
    };
  },
  claims: ({ hash }) => [{ index: SESSION_INDEX, value: hash }],
  smallLists: ({ identityId }) => [identityId],
});
