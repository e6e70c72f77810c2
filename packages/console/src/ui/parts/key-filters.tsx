import { DAY_FILTERS, FILTER_NAMES, TEXT_FILTERS } from "../lib/key-filters.js";
import { useRoute } from "../lib/router.js";
import { localInstant } from "../lib/words.js";
import { ChoiceField, namesOf, TextField, textOf } from "./fields.js";
import { FilterForm } from "./filter-form.js";

/** Orders besides that of creation. The server sorts at most 2,000 keys, and refuses more with an explanation. */
const ORDERS = [
  ["", "oldest first"],
  ["createdAt desc", "newest first"],
  ["expires asc", "expiring soonest first"],
  ["expires desc", "expiring latest first"],
  ["lastUsedAt desc", "most recently used first"],
  ["lastUsedAt asc", "least recently used first"],
] as const;

/** The filters of the list of keys. All of them are in the address. */
export function FilterBar() {
  const { query } = useRoute();
  const read = (form: FormData) => {
    const texts = [...TEXT_FILTERS, "order"].map((name) => [name, textOf(form, name)]);
    const tags = namesOf(form, "tags")?.join();
    const days = DAY_FILTERS.map(([name]) => [name, startOfDay(textOf(form, name))]);
    return { ...Object.fromEntries([...texts, ...days]), tags };
  };
  const text = (name: string, label: string, placeholder = "") => (
    <TextField
      label={label}
      name={name}
      placeholder={placeholder}
      defaultValue={query[name] ?? ""}
    />
  );
  const hasMore = FILTER_NAMES.some(
    (name) => !["nameContains", "start", "externalId", "enabled"].includes(name) && query[name],
  );
  return (
    <FilterForm
      names={FILTER_NAMES}
      read={read}
      more={
        <details open={hasMore}>
          <summary>More filters</summary>
          <div class="filters">
            {text("permission", "Permission", "docs.read")}
            {text("role", "Role", "editor")}
            {text("environment", "Environment", "live")}
            {text("tags", "Tags", "all of these, comma-separated")}
            {DAY_FILTERS.map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                name={name}
                type="date"
                // Browsers accept years of six digits, which `Date` cannot read.
                max="9999-12-31"
                defaultValue={dayOf(query[name])}
              />
            ))}
            <ChoiceField label="Order" name="order" value={query.order ?? ""} choices={ORDERS} />
          </div>
        </details>
      }
    >
      {text("nameContains", "Name contains")}
      {text("start", "Starts with", "pay_live_3f")}
      {text("externalId", "Owner", "user_1")}
      <ChoiceField
        label="State"
        name="enabled"
        value={query.enabled ?? ""}
        choices={[
          ["", "any"],
          ["true", "active"],
          ["false", "disabled, expired or used up"],
        ]}
      />
    </FilterForm>
  );
}

function startOfDay(day: string | undefined): string | undefined {
  return day === undefined ? undefined : String(new Date(`${day}T00:00`).getTime());
}

function dayOf(ms: string | undefined): string {
  return ms === undefined ? "" : (localInstant(Number(ms))?.slice(0, 10) ?? "");
}
