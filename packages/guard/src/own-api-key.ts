import type { ApiKey } from "./refusal.js";

/** The verdict that a guard has put into a request; null where there is none. What a polluted prototype says is none. */
export function ownApiKey(request: object): ApiKey | null {
  if (!Object.hasOwn(request, "apiKey")) return null;
  return (request as { readonly apiKey?: ApiKey | null }).apiKey ?? null;
}
