import { createIdFactory } from "@latchkey/core";
import { changedRefusal } from "./changed-refusal.js";
import type { GuardSettings } from "./options.js";
import type { GuardLatchkey } from "./question.js";
import type { Refusal, Refused } from "./refusal.js";
import { type RefusalStyle, refuseError, refuseFailure } from "./refuse.js";

/** Creates the refusals of a guard: in the form that its options name, and as the host's hooks change them. */
export interface Refuser<Request> {
  readonly style: RefusalStyle;
  /** The refusal for an error. If its status is 500 or more, the error is reported. */
  refusalOf(error: unknown, request: Request): Refusal;
  /** The refusal as the host's hook changes it. If the hook fails, a 500, which the hook does not see. Never rejects. */
  refuse(refusal: Refusal, request: Request): Promise<Refused>;
  /** Reports an error to the host. Never throws, and does not wait. */
  report(error: unknown, request: Request): void;
}

/** Creates the refuser of a guard. */
export function createRefuser<Request>(
  { now }: Pick<GuardLatchkey, "now">,
  { problem, usedUpStatus, onRefusal, onError }: GuardSettings<Request>,
): Refuser<Request> {
  // If latchkey's clock fails, the system's: that error needs a response too.
  const clock = () => {
    try {
      return now();
    } catch {
      return Date.now();
    }
  };
  const newId = createIdFactory(clock, (size) => crypto.getRandomValues(new Uint8Array(size)));
  const style: RefusalStyle = { problem, usedUpStatus, requestId: () => newId("req") };
  const report = (error: unknown, request: Request): void => {
    try {
      Promise.resolve(onError(error, request)).catch(() => undefined);
    } catch {
      // A listener that fails has nowhere to report that.
    }
  };
  const refusalOf = (error: unknown, request: Request): Refusal => {
    const refusal = refuseError(style, error);
    // A disabled workspace is no failure.
    if (refusal.status >= 500) report(error, request);
    return refusal;
  };
  const refuse = async (refusal: Refusal, request: Request): Promise<Refused> => {
    try {
      const change = onRefusal === null ? undefined : await onRefusal?.(refusal, request);
      return changedRefusal(refusal, change);
    } catch (error) {
      report(error, request);
      return changedRefusal(refuseFailure(style), undefined);
    }
  };
  return { style, refusalOf, refuse, report };
}
