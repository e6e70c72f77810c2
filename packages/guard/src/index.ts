export { type CreateDecision, createDecision, type Decide } from "./decide.js";
export type { ChangedRefusal, GuardOptions } from "./options.js";
export type { PresentedRequest } from "./presented-request.js";
export type { Cost, GuardLatchkey, GuardQuestion } from "./question.js";
export type { HeaderFields } from "./rate-limit-fields.js";
export type {
  Admission,
  ApiKey,
  ApiKeyOf,
  Decision,
  Refusal,
  RefusalCode,
  Refused,
  RefusedVerdict,
} from "./refusal.js";
export type { BodyForm } from "./refusal-body.js";
