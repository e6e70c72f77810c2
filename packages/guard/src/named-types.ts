/**
 * The types in the signatures of all guards. Every entry exports them: TypeScript can write the type of an exported guard into a
 * declaration file only if a module that the file imports exports a name for each of its parts.
 */
export type { GuardOptions } from "./options.js";
export type { GuardLatchkey, GuardQuestion } from "./question.js";
export type { ApiKey, ApiKeyOf } from "./refusal.js";
export type { ReservedKey } from "./reservation.js";
