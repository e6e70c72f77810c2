import { hash } from "node:crypto";
import type { RecordAddress } from "../store/change.js";

/** Whether a text is a SHA-256 digest in base64url, such as the hash of a key: a store can keep its 32 bytes. */
export function isDigest(text: string): boolean {
  return text.length === 43 && /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

/**
 * The name under which a SQL store remembers a request, beside the first record of its plan. A digest, so that it reveals nothing of a
 * deleted record. It begins with a space, which names of windows do not contain.
 */
export function requestName(beside: RecordAddress | undefined, requestId: string): string {
  return ` ${hash("sha256", `${beside?.kind} ${beside?.id} ${requestId}`, "base64url")}`;
}
