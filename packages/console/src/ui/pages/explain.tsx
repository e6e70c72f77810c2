import { useRef } from "preact/hooks";
import { call } from "../lib/api.js";
import { type Loaded, useLoad } from "../lib/load.js";
import { go, useRoute, withQuery } from "../lib/router.js";
import type { Key, Verdict } from "../lib/types.js";
import { Failure } from "../parts/basics.js";
import { TextField, textOf } from "../parts/fields.js";
import { LimitBars } from "../parts/limit-bars.js";
import { VerdictReport } from "../parts/verdict.js";

/** How often what moves is read again. */
export const EVERY_MS = 2_000;

/** What a verification would answer now, to what the address asks. Null until the key and the answer are known. */
export function useVerdict(item: Key | null): Loaded<Verdict> {
  const { query } = useRoute();
  const { permissions, ip, cost, tab = "now" } = query;
  const named = (item?.ratelimits ?? []).filter(({ autoApply }) => autoApply === false);
  const input = {
    keyId: item?.id,
    ...(permissions && { authorization: { permissions: queryOf(permissions) } }),
    ...(ip && { ipAddress: ip }),
    ...(cost && { remaining: { cost: Number(cost) } }),
    // Limits that only some requests take from are shown as well.
    ...(named.length > 0 && { ratelimits: named.map(({ name }) => ({ name, cost: 0 })) }),
  };
  const { value, error, reload } = useLoad(
    JSON.stringify(input),
    async () => (item === null ? null : call<Verdict>("keys.explainKey", input)),
    tab === "now" ? EVERY_MS : undefined,
  );
  // The last answer stays until there is one to another question.
  const last = useRef<Verdict | null>(null);
  if (value !== null) last.current = value;
  return { value: error === null ? last.current : value, error, reload };
}

/** The verdict, and what is left of limits and uses, as it moves. */
export function Explain({ item, asked }: { readonly item: Key; readonly asked: Loaded<Verdict> }) {
  const { value, error, reload } = asked;
  return (
    <div class="stack">
      {error !== null && <Failure error={error} retry={reload} />}
      {value !== null && <VerdictReport verdict={value} />}
      {value?.checks !== undefined && (
        <section class="card">
          <h2>Left now</h2>
          <LimitBars checks={value.checks} limits={item.ratelimits ?? []} />
        </section>
      )}
      <AskForm isOpen={asksForAddress(value?.checks)} />
    </div>
  );
}

/** `a and b` is a group, and so is `a or b`; anything else is one name. */
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

/** What a verification is asked for; in the address, so that it can be shared. */
function AskForm({ isOpen }: { readonly isOpen: boolean }) {
  const { query } = useRoute();
  const isAsked = Boolean(query.permissions || query.ip || query.cost);
  return (
    <details class="card" open={isAsked || isOpen}>
      <summary>Ask about a certain request</summary>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const [permissions, ip, cost] = ["permissions", "ip", "cost"].map((name) =>
            textOf(form, name),
          );
          go(withQuery({ permissions, ip, cost }));
        }}
      >
        <TextField
          label="Permissions"
          name="permissions"
          placeholder="docs.read and docs.write"
          defaultValue={query.permissions ?? ""}
        />
        <TextField
          label="Address of the caller"
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
        <button type="submit">Ask</button>
      </form>
    </details>
  );
}
