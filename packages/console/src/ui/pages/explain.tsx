import { useRef } from "preact/hooks";
import { call, serverNow } from "../lib/api.js";
import { refusalText, STATUSES } from "../lib/checks.js";
import { type Loaded, useLoad } from "../lib/load.js";
import { go, useRoute, withQuery } from "../lib/router.js";
import type { Bucket, Key, Verdict } from "../lib/types.js";
import { figure, plural } from "../lib/words.js";
import { Failure } from "../parts/basics.js";
import { TextField, textOf } from "../parts/fields.js";
import { useFollowing } from "../parts/filter-form.js";
import { LimitBars } from "../parts/limit-bars.js";
import { sumOf } from "../parts/usage-chart.js";
import { VerdictReport } from "../parts/verdict.js";

/** Interval at which changing values are reloaded, in ms. */
export const EVERY_MS = 2_000;

/** What a verification with the parameters in the address would answer now. Null until the key and the answer are known. */
export function useVerdict(item: Key | null): Loaded<Verdict> {
  const { query } = useRoute();
  const { permissions, ip, cost, tab = "now" } = query;
  const named = (item?.ratelimits ?? []).filter(({ autoApply }) => autoApply === false);
  const input = {
    keyId: item?.id,
    ...(permissions && { authorization: { permissions: queryOf(permissions) } }),
    ...(ip && { ipAddress: ip }),
    ...(cost && { remaining: { cost: Number(cost) } }),
    // Limits that only some requests use are shown as well.
    ...(named.length > 0 && { ratelimits: named.map(({ name }) => ({ name, cost: 0 })) }),
  };
  const { value, error, reload } = useLoad(
    JSON.stringify(input),
    async () => (item === null ? null : call<Verdict>("keys.explainKey", input)),
    tab === "now" ? EVERY_MS : undefined,
  );
  // The last answer stays until the answer to another question arrives.
  const last = useRef<Verdict | null>(null);
  if (value !== null) last.current = value;
  return { value: error === null ? last.current : value, error, reload };
}

/** The verdict, and the current state of limits and uses. */
export function Explain({
  item,
  asked,
  lastDay,
  onStep,
}: {
  readonly item: Key;
  readonly asked: Loaded<Verdict>;
  readonly lastDay: Outcomes;
  /** Takes the step that lets the key in again; undefined if the operator may not. */
  readonly onStep: ((step: Step) => void) | undefined;
}) {
  const { query } = useRoute();
  const { value, error, reload } = asked;
  const lacking = lastDay.INSUFFICIENT_PERMISSIONS ?? 0;
  const [step, text] = STEPS[value?.code ?? ""] ?? [];
  return (
    <div class="stack">
      {error !== null && <Failure error={error} retry={reload} />}
      {value !== null && (
        <VerdictReport
          verdict={value}
          asksPermissions={Boolean(query.permissions)}
          step={
            step !== undefined &&
            onStep !== undefined && (
              <button type="button" class="link" onClick={() => onStep(step)}>
                {text}
              </button>
            )
          }
        >
          <LastDay outcomes={lastDay} />
        </VerdictReport>
      )}
      {value?.checks !== undefined && (
        <section class="card">
          <h2>Remaining now</h2>
          <LimitBars checks={value.checks} limits={item.ratelimits ?? []} />
        </section>
      )}
      <AskForm
        isOpen={asksForAddress(value?.checks) || lacking > 0}
        hint={
          lacking > 0 &&
          `${plural(lacking, "request")} in the last 24 hours needed a permission that the key does not have. Enter the one that the caller’s route requires.`
        }
      />
    </div>
  );
}

type Step = "edit" | "switch";

/** The step that fixes a refusal, by its code. */
const STEPS: Readonly<Record<string, readonly [step: Step, text: string]>> = {
  DISABLED: ["switch", "Enable it again"],
  EXPIRED: ["edit", "Change its expiry"],
  NOT_STARTED: ["edit", "Change its start time"],
  FORBIDDEN: ["edit", "Change its allow-list"],
  INSUFFICIENT_PERMISSIONS: ["edit", "Give it permissions"],
  RATE_LIMITED: ["edit", "Change its limits"],
  USAGE_EXCEEDED: ["edit", "Add uses"],
};

/** Number of requests by verdict. */
export type Outcomes = Readonly<Record<string, number>>;

/** The outcomes of the requests of the last 24 hours. Empty if they are not counted, or the operator may not see them. */
export function useLastDay(keyId: string): Loaded<Outcomes> {
  return useLoad(
    `last day ${keyId}`,
    async () => {
      const end = serverNow();
      const span = { granularity: "hour", start: end - 86_400_000, end };
      const { verifications } = await call<{ verifications: Bucket[] }>("keys.getVerifications", {
        keyId,
        ...span,
      });
      return sumOf(verifications);
    },
    5 * EVERY_MS,
  );
}

/** The refusals of the last day by code. */
function LastDay({ outcomes }: { readonly outcomes: Outcomes }) {
  // Requests that a shadow limit would have refused are also counted under their actual verdict.
  const { VALID = 0, SHADOW_LIMITED: _, ...refused } = outcomes;
  const codes = Object.entries(refused).sort(([, one], [, other]) => other - one);
  return (
    <>
      <p>
        In the last 24 hours:{" "}
        <a href={withQuery({ tab: "usage", span: "day" })}>{figure(VALID)} accepted</a>
        {codes.length === 0 ? ", none refused." : ", and refused:"}
      </p>
      {codes.length > 0 && (
        <ul class="refusals">
          {codes.map(([code, count]) => (
            <li key={code}>
              <strong>{figure(count)}</strong> {refusalText(code)} <code>{code}</code>{" "}
              {STATUSES[code] !== undefined && <span class="status">{STATUSES[code]}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Reads a permission query: `a and b` and `a or b` are groups, anything else is one name. */
function queryOf(text: string): unknown {
  return groupOf(text.split(/\s/).filter(Boolean), ["or", "and"]);
}

function groupOf(words: readonly string[], [word, ...others]: readonly string[]): unknown {
  if (word === undefined) return words.join(" ");
  const parts = words.reduce<string[][]>(
    (found, each) => {
      if (each.toLowerCase() === word) found.push([]);
      else found.at(-1)?.push(each);
      return found;
    },
    [[]],
  );
  const groups = parts.map((part) => groupOf(part, others));
  return groups.length === 1 ? groups[0] : { [word]: groups };
}

/** Whether the verdict depends on an address that was not given. */
const asksForAddress = (checks: Verdict["checks"]) =>
  checks?.some(({ check, passed, ipAddress }) => check === "address" && !passed && !ipAddress) ??
  false;

const ASKED = ["permissions", "ip", "cost"];

/** The parameters of the verification. They are in the address, so that it can be shared. */
function AskForm({
  isOpen,
  hint,
}: {
  readonly isOpen: boolean;
  /** Why the reader should fill it in. */
  readonly hint: string | false;
}) {
  const { query } = useRoute();
  const { form, isGiven } = useFollowing(ASKED);
  return (
    <details class="card" open={isGiven || isOpen}>
      <summary>Test a request</summary>
      {hint !== false && <p>{hint}</p>}
      <form
        class="filters"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          const typed = new FormData(event.currentTarget);
          go(withQuery(Object.fromEntries(ASKED.map((name) => [name, textOf(typed, name)]))));
          // On a phone, the verdict is out of sight.
          document.querySelector(".verdict-title")?.scrollIntoView({ block: "nearest" });
        }}
      >
        <TextField
          label="Permissions"
          name="permissions"
          placeholder="docs.read and docs.write"
          defaultValue={query.permissions ?? ""}
        />
        <TextField
          label="IP address of the caller"
          name="ip"
          placeholder="192.0.2.7"
          defaultValue={query.ip ?? ""}
        />
        <TextField
          label="Cost"
          name="cost"
          type="number"
          min={0}
          placeholder="1"
          defaultValue={query.cost ?? ""}
        />
        <button type="submit">Test</button>
      </form>
    </details>
  );
}
