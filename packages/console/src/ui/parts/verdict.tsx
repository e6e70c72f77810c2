import { serverNow } from "../lib/api.js";
import { checkName, meaningOf, passesAt, seen, wouldPassAt } from "../lib/checks.js";
import type { Check, Verdict } from "../lib/types.js";
import { atMinute, countdown, exactly } from "../lib/words.js";

/** The verdict in words, and every check behind it. */
export function VerdictReport({ verdict }: { readonly verdict: Verdict }) {
  const now = serverNow();
  const { code, valid, checks = [] } = verdict;
  const { title, way } = meaningOf(verdict);
  const at = wouldPassAt(checks, now);
  return (
    <section class={`verdict ${valid ? "good" : "bad"}`} aria-label="Verdict">
      <div class="verdict-head">
        <strong>{title}</strong> <code>{code}</code>
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
