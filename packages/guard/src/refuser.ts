import { createIdFactory } from "@latchkey/core";
import { changedRefusal } from "./changed-refusal.js";
import type { GuardSettings } from "./options.js";
import type { GuardLatchkey } from "./question.js";
import type { Refusal, Refused } from "./refusal.js";
import { type RefusalStyle, refuseError, refuseFailure } from "./refuse.js";

/** How a guard refuses: in the form that its options name, and with what the host's hooks make of it. */
export interface Refuser<Request> {
  readonly style: RefusalStyle;
  /** The refusal for an error, which is reported if it is a 500 or a 503. */
  refusalOf(error: unknown, request: Request): Refusal;
  /** The refusal as the host's hook leaves it. Where the hook fails, that of the failure, which no hook sees again. Never rejects. */
  refuse(refusal: Refusal, request: Request): Promise<Refused>;
  /** Reports an error to the host. Never throws, and does not wait. */
  report(error: unknown, request: Request): void;
}

/** Makes the refuser of a guard. */
export function createRefuser<Request>(
  { now }: Pick<GuardLatchkey, "now">,
  { problem, usedUpStatus, onRefusal, onError }: GuardSettings<Request>,
): Refuser<Request> {
  // Even if latchkey's clock fails, because that error needs a response too.
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
