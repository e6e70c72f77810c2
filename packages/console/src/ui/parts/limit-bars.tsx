import { serverNow } from "../lib/api.js";
import type { Check, Limit } from "../lib/types.js";
import { countdown, exactly, figure, perSpan } from "../lib/words.js";

/** The remaining units of limits and uses, as bars. */
export function LimitBars({
  checks,
  limits,
}: {
  readonly checks: readonly Check[];
  readonly limits: readonly Limit[];
}) {
  const counted = checks.filter(({ check }) => check === "ratelimit" || check === "uses");
  return (
    <div class="bars">
      {counted.map((check) =>
        check.check === "uses" ? (
          <UsesBar key="uses" check={check} />
        ) : (
          <RateBar
            key={check.name}
            check={check}
            setting={limits.find(({ name }) => name === check.name)}
          />
        ),
      )}
    </div>
  );
}

function RateBar({
  check,
  setting,
}: {
  readonly check: Check;
  readonly setting: Limit | undefined;
}) {
  const { remaining = 0, limit = 0, burst = limit, reset, algorithm, name = "" } = check;
  const isSlots = algorithm === "concurrent";
  const window = setting === undefined || isSlots ? "" : ` ${perSpan(setting.duration)}`;
  const notes = [
    algorithm,
    setting?.shadow && "not enforced",
    setting?.autoApply === false && "on request",
  ];
  return (
    <Bar
      title={name}
      note={notes.filter(Boolean).join(", ")}
      left={remaining}
      of={burst}
      text={`${figure(remaining)} of ${figure(burst)} left${window}`}
      until={reset}
      untilText="full again in"
    />
  );
}

function UsesBar({ check }: { readonly check: Check }) {
  const { remaining, from, nextRefillAt } = check;
  if (remaining === undefined) return <Bar title="Uses" text="unlimited" />;
  return (
    <Bar
      title="Uses"
      note={from === "identity" ? "shared by the owner's keys" : ""}
      left={remaining}
      of={Math.max(remaining, 1)}
      text={`${figure(remaining)} left`}
      until={nextRefillAt}
      untilText="refilled in"
    />
  );
}

function Bar({
  title,
  note = "",
  left = 0,
  of,
  text,
  until,
  untilText = "",
}: {
  readonly title: string;
  readonly note?: string;
  readonly left?: number;
  /** The maximum. Without it, there is no bar. */
  readonly of?: number;
  readonly text: string;
  readonly until?: number | undefined;
  readonly untilText?: string;
}) {
  const share = of ? Math.min(1, left / of) : 0;
  const isWaiting = until !== undefined && (share < 1 || untilText === "refilled in");
  return (
    <div class="bar-row">
      <span class="bar-name">
        {title} {note !== "" && <span class="faint">{note}</span>}
      </span>
      <span class="bar-text">
        {text}
        {isWaiting && (
          <span class="faint" title={exactly(until)}>
            {" "}
            · {untilText} {countdown(until - serverNow())}
          </span>
        )}
      </span>
      {of !== undefined && (
        <span class="bar" aria-hidden="true">
          <span
            class={share === 0 ? "bar-fill none" : share < 0.2 ? "bar-fill low" : "bar-fill"}
            style={{ width: `${share * 100}%` }}
          />
        </span>
      )}
    </div>
  );
}
