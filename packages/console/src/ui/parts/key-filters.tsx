import { go, useRoute, withQuery } from "../lib/router.js";
import { TextField, textOf } from "./fields.js";

/** Filters of keys in the address, as listKeys takes them. */
export function filtersOf(
  query: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return query.externalId ? { externalId: query.externalId } : {};
}

/** What keys are shown. */
export function FilterBar() {
  const { query } = useRoute();
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        const externalId = textOf(new FormData(event.currentTarget), "externalId");
        go(withQuery({ externalId, from: undefined }));
      }}
    >
      <TextField
        key={query.externalId}
        label="Owner"
        name="externalId"
        type="search"
        placeholder="your own id, such as user_1"
        defaultValue={query.externalId ?? ""}
      />
      <button type="submit">Filter</button>
      {query.externalId !== undefined && (
        <a href={withQuery({ externalId: undefined, from: undefined })}>Clear</a>
      )}
    </form>
  );
}
