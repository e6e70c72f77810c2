import type { Latchkey } from "@latchkey/core";

/** Which operations were called: those that did what they are for, and those that refused. */
export interface Coverage {
  readonly done: Set<string>;
  readonly refused: Set<string>;
}

/** The same latchkey, and those it makes, with each outcome noted. */
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

/** Operations that refuse by their answer. */
function isRefusal(outcome: unknown): boolean {
  if (typeof outcome !== "object" || outcome === null) return false;
  const { valid, success, kind } = outcome as Record<string, unknown>;
  return valid === false || success === false || kind === "refused";
}
