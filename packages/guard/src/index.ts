export type { Cost } from "./cost.js";
export { type CreateDecision, createDecision, type Decide } from "./decide.js";
export type { ChangedRefusal, GuardOptions } from "./options.js";
export type { PresentedRequest } from "./presented-request.js";
export type { GuardLatchkey, GuardQuestion } from "./question.js";
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
export type { OnClose, Reservation, Reserve, ReservedKey, Settlement } from "./reservation.js";
