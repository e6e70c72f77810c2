import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";

/** The verdict that a guard has put into a request; null if there is none. An inherited one is ignored. */
export function ownApiKey(request: object): ApiKey | null {
  if (!Object.hasOwn(request, "apiKey")) return null;
  return (request as { readonly apiKey?: ApiKey | null }).apiKey ?? null;
}

/** The same for a guard that reserves; null for any other guard. */
export function ownReservedKey(request: object): ReservedKey | null {
  const apiKey = ownApiKey(request);
  return apiKey !== null && Object.hasOwn(apiKey, "settle") ? (apiKey as ReservedKey) : null;
}
