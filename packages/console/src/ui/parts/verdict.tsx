import { serverNow } from "../lib/api.js";
import { checkName, meaningOf, passesAt, seen, wouldPassAt } from "../lib/checks.js";
import type { Check, Verdict } from "../lib/types.js";
import { atMinute, countdown, exactly } from "../lib/words.js";

/** The HTTP status that @latchkey/guard answers with, unless the host has set another. */
const STATUSES: Readonly<Record<string, number>> = {
  NOT_FOUND: 401,
  DISABLED: 401,
  EXPIRED: 401,
  NOT_STARTED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_PERMISSIONS: 403,
  RATE_LIMITED: 429,
  USAGE_EXCEEDED: 429,
};

/** The verdict in words, and every check behind it. */
export function VerdictReport({ verdict }: { readonly verdict: Verdict }) {
  const now = serverNow();
  const { code, valid, checks = [] } = verdict;
  const { title, way } = meaningOf(verdict);
  const at = wouldPassAt(checks, now);
  const status = STATUSES[code];
  return (
    <section class={`verdict ${valid ? "good" : "bad"}`} aria-label="Verdict">
      <div class="verdict-head">
        <strong>{title}</strong> <code>{code}</code>
        {status !== undefined && <span class="status">a guard answers {status}</span>}
        <p>
          {way}
          {!valid && at !== null && (
            <>
              {" "}
              If nothing else happens it passes{" "}
              <time title={exactly(at)}>in {countdown(at - now)}</time>.
            </>
          )}
        </p>
      </div>
      <ol class="checks">
        {checks.map((check, place) => (
          <CheckLine key={`${check.check}${check.name ?? place}`} check={check} now={now} />
        ))}
      </ol>
    </section>
  );
}

function CheckLine({ check, now }: { readonly check: Check; readonly now: number }) {
  const at = check.passed ? null : passesAt(check, now);
  return (
    <li class={check.passed ? "pass" : "refuse"}>
      <span class="mark">{check.passed ? "passes" : "refuses"}</span>
      <span class="check-name">{checkName(check)}</span>
      <span class="check-seen">{seen(check, now, atMinute)}</span>
      {!check.passed && (
        <span class="check-until">
          {at === null ? "waiting does not help" : `passes ${atMinute(at)}`}
        </span>
      )}
    </li>
  );
}
