import type { ComponentChildren } from "preact";
import { FILTER_NAMES, filtersOf } from "../lib/key-filters.js";
import { useList } from "../lib/list.js";
import { linkTo, useRoute } from "../lib/router.js";
import type { Key } from "../lib/types.js";
import { Empty, PageHead } from "../parts/basics.js";
import { ClearLink } from "../parts/filter-form.js";
import { FilterBar } from "../parts/key-filters.js";
import { keyColumns } from "../parts/key-list.js";
import { ListTable } from "../parts/table.js";

/** The keys of all APIs. */
export function KeysPage() {
  return (
    <>
      <PageHead title="Find keys" note="In all APIs of the workspace." />
      <FoundKeys
        operation="keys.listKeys"
        input={{}}
        empty={
          <Empty title="No keys yet">
            <p>
              Every key belongs to an API: <a href={linkTo(["apis"])}>open or create one</a>.
            </p>
          </Empty>
        }
      />
    </>
  );
}

const COLUMNS = {
  "apis.listKeys": keyColumns("Owner"),
  "keys.listKeys": keyColumns("API", "Owner"),
};

/** Keys that match the filters in the address. */
export function FoundKeys({
  operation,
  input,
  empty,
}: {
  readonly operation: "apis.listKeys" | "keys.listKeys";
  readonly input: Readonly<Record<string, string>>;
  readonly empty: ComponentChildren;
}) {
  const { query } = useRoute();
  const filters = filtersOf(query);
  const list = useList<Key>({
    operation,
    field: "keys",
    input: { ...input, ...filters },
    from: query.from,
  });
  return (
    <>
      <FilterBar />
      <ListTable
        label="Keys"
        list={list}
        columns={COLUMNS[operation]}
        empty={
          Object.keys(filters).length === 0 ? (
            empty
          ) : (
            <Empty title="No matching keys">
              <p>
                <ClearLink names={FILTER_NAMES}>Clear the filters</ClearLink> to see all keys.
              </p>
            </Empty>
          )
        }
      />
    </>
  );
}
