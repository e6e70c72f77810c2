import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";

/** The verdict that a guard has put into a request; null where there is none. What a polluted prototype says is none. */
export function ownApiKey(request: object): ApiKey | null {
  if (!Object.hasOwn(request, "apiKey")) return null;
  return (request as { readonly apiKey?: ApiKey | null }).apiKey ?? null;
}

/** The same, of a guard that reserves; null of any other. */
export function ownReservedKey(request: object): ReservedKey | null {
  const apiKey = ownApiKey(request);
  return apiKey !== null && Object.hasOwn(apiKey, "settle") ? (apiKey as ReservedKey) : null;
}
