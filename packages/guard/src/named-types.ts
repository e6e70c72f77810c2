/**
 * The types that guards of every framework are made of. Each entry exports them: TypeScript can write the type of an exported
 * guard into a declaration only if a module that the file imports has a name for each of its parts.
 */
export type { GuardOptions } from "./options.js";
export type { GuardLatchkey, GuardQuestion } from "./question.js";
export type { ApiKey, ApiKeyOf } from "./refusal.js";
export type { ReservedKey } from "./reservation.js";
