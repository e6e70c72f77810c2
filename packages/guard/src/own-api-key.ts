import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";

/** The verdict that a guard has put into a request; null if there is none. Inherited ones are ignored. */
export function ownApiKey(request: object): ApiKey | null {
  if (!Object.hasOwn(request, "apiKey")) return null;
  return (request as { readonly apiKey?: ApiKey | null }).apiKey ?? null;
}

/** The same, of a guard that reserves; null of any other. */
export function ownReservedKey(request: object): ReservedKey | null {
  const apiKey = ownApiKey(request);
  return apiKey !== null && Object.hasOwn(apiKey, "settle") ? (apiKey as ReservedKey) : null;
}
