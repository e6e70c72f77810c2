import type { ComponentChildren } from "preact";
import { serverNow } from "../lib/api.js";
import { checkName, meaningOf, passesAt, STATUSES, seen, wouldPassAt } from "../lib/checks.js";
import type { Check, Verdict } from "../lib/types.js";
import { atMinute, countdown, exactly } from "../lib/words.js";

/** The verdict in words, and every check behind it. */
export function VerdictReport({
  verdict,
  asksPermissions = false,
  step,
  children,
}: {
  readonly verdict: Verdict;
  /** Whether the question names permissions. If not, none can be missing. */
  readonly asksPermissions?: boolean;
  /** The step that fixes a refusal. */
  readonly step?: ComponentChildren;
  /** Further content next to the verdict. */
  readonly children?: ComponentChildren;
}) {
  const now = serverNow();
  const { code, valid, checks = [] } = verdict;
  const { title, way, tone = valid ? "good" : "bad" } = meaningOf(verdict);
  const at = wouldPassAt(checks, now);
  const status = STATUSES[code];
  return (
    <section class={`verdict ${tone}`} aria-label="Verdict">
      <div class="verdict-head">
        <strong class="verdict-title">{title}</strong> <code>{code}</code>{" "}
        {status !== undefined && <span class="status">guard returns {status}</span>}
        <p>
          {way}
          {!valid && at !== null && (
            <>
              {" "}
              If nothing else changes, it passes{" "}
              <time title={exactly(at)}>in {countdown(at - now)}</time>.
            </>
          )}{" "}
          {step}
        </p>
        {children}
      </div>
      <ol class="checks">
        {checks.map((check, place) => (
          <CheckLine
            key={`${check.check}${check.name ?? place}`}
            check={check}
            now={now}
            isAsked={check.check !== "permissions" || !check.passed || asksPermissions}
          />
        ))}
      </ol>
    </section>
  );
}

function CheckLine({
  check,
  now,
  isAsked,
}: {
  readonly check: Check;
  readonly now: number;
  readonly isAsked: boolean;
}) {
  if (!isAsked)
    return (
      <li class="faint">
        <span class="mark">skipped</span>
        <span class="check-name">{checkName(check)}</span>
        <span class="check-seen">A request may require one that the key does not have</span>
      </li>
    );
  const at = check.passed ? null : passesAt(check, now);
  return (
    <li class={check.passed ? "pass" : "refuse"}>
      <span class="mark">{check.passed ? "passes" : "refuses"}</span>
      <span class="check-name">{checkName(check)}</span>
      <span class="check-seen">
        {seen(check, now, atMinute)}
        {at !== null && <span class="check-until"> · passes {atMinute(at)}</span>}
      </span>
    </li>
  );
}
