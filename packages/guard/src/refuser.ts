import { createIdFactory } from "@latchkey/core";
import { changedRefusal } from "./changed-refusal.js";
import type { GuardOptions } from "./options.js";
import type { GuardLatchkey } from "./question.js";
import type { Refusal, Refused } from "./refusal.js";
import { type RefusalStyle, refuseError, refuseFailure } from "./refuse.js";

/** How a guard refuses: in the form that its options name, and with what the host's hooks make of it. */
export interface Refuser<Request> {
  readonly style: RefusalStyle;
  /** The refusal as the host's hook leaves it. Where the hook fails, that of the failure, which no hook sees again. */
  refuse(refusal: Refusal, request: Request): Promise<Refused>;
  /** Tells the host of an error behind a 500 or a 503. */
  report(error: unknown, request: Request): void;
  /** What to answer where the handler of an admitted request failed, which is reported. */
  refuseFailure(error: unknown, request: Request): Promise<Refused>;
}

/** Called where a host has no error listener of its own. */
const printError = (error: unknown): void => console.error(error);

/** Makes the refuser of a guard. The options must be those that were checked. */
export function createRefuser<Request>(
  { now }: Pick<GuardLatchkey, "now">,
  options: GuardOptions<Request>,
): Refuser<Request> {
  const { problem = "problem+json", usedUpStatus = 429, onRefusal, onError = printError } = options;
  const newId = createIdFactory(now, (size) => crypto.getRandomValues(new Uint8Array(size)));
  const style: RefusalStyle = { problem, usedUpStatus, requestId: () => newId("req") };
  const report = (error: unknown, request: Request): void => {
    try {
      Promise.resolve(onError(error, request)).catch(() => undefined);
    } catch {
      // A listener that fails has nowhere to report that.
    }
  };
  const refuse = async (refusal: Refusal, request: Request): Promise<Refused> => {
    try {
      return changedRefusal(refusal, await onRefusal?.(refusal, request));
    } catch (error) {
      report(error, request);
      return changedRefusal(refuseError(style, error), undefined);
    }
  };
  return {
    style,
    refuse,
    report,
    refuseFailure: (error, request) => {
      report(error, request);
      return refuse(refuseFailure(style), request);
    },
  };
}
