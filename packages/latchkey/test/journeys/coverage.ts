import type { Latchkey } from "@latchkey/core";

/** The called operations: those that succeeded, and those that refused. */
export interface Coverage {
  readonly done: Set<string>;
  readonly refused: Set<string>;
}

/** Records the outcomes of a latchkey, and of those that it creates. */
export function noting(latchkey: Latchkey, coverage: Coverage): Latchkey {
  return new Proxy(latchkey, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(member, target, args);
        if (!(answer instanceof Promise)) {
          const isLatchkey = typeof answer === "object" && answer !== null;
          return isLatchkey ? noting(answer as Latchkey, coverage) : answer;
        }
        return answer.then(
          (outcome: unknown) => {
            (isRefusal(outcome) ? coverage.refused : coverage.done).add(String(name));
            return outcome;
          },
          (error: unknown) => {
            coverage.refused.add(String(name));
            throw error;
          },
        );
      };
    },
  });
}

/** Whether an answer is a refusal, for operations that do not throw. */
function isRefusal(outcome: unknown): boolean {
  if (typeof outcome !== "object" || outcome === null) return false;
  const { valid, success, kind } = outcome as Record<string, unknown>;
  return valid === false || success === false || kind === "refused";
}
