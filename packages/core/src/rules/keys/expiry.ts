import type { EpochMs } from "../../time.js";

/** Whether a key has expired. At exactly `expires` it has, as RFC 7519 §4.1.4 says for `exp` ("on or after"). */
export function isExpired(expires: EpochMs | null, now: EpochMs): boolean {
  return expires !== null && now >= expires;
}
