import { serverNow } from "../lib/api.js";
import { listedState } from "../lib/key-state.js";
import { linkTo } from "../lib/router.js";
import type { Key } from "../lib/types.js";
import { figure } from "../lib/words.js";
import { ApiName } from "./api-name.js";
import { Badge, Instant } from "./basics.js";
import { OwnerName } from "./owner-name.js";
import type { Column } from "./table.js";

/** The state of a key in a list. */
function ListedState({ item }: { readonly item: Key }) {
  const { text, tone } = listedState(item, serverNow());
  // Limits are left out, because they would need a request for each row.
  return (
    <span title="The page of the key shows what is left of its rate limits">
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

type Title = "API" | "Owner";

/** Columns of a list of keys; those of the API and the owner only if given. */
export const keyColumns = (...of: readonly Title[]): readonly Column<Key>[] =>
  COLUMNS.filter(({ title }) => !(title === "API" || title === "Owner") || of.includes(title));

const COLUMNS: readonly Column<Key>[] = [
  {
    title: "Key",
    cell: ({ id, name, start }) => (
      <>
        <a class="row-link cut" href={linkTo(["keys", id])} title={id}>
          {name ?? <code>{start}…</code>}
        </a>
        {name !== undefined && <code class="on-phone">{start}…</code>}
      </>
    ),
  },
  { title: "State", cell: (item) => <ListedState item={item} />, width: "9rem" },
  {
    title: "Starts with",
    cell: ({ start }) => <code>{start}…</code>,
    isOptional: true,
    // Room for sixteen characters.
    width: "10.5rem",
  },
  { title: "API", cell: ({ apiId }) => <ApiName apiId={apiId} />, isOptional: true, width: "9rem" },
  {
    title: "Owner",
    cell: ({ identity }) =>
      identity === undefined ? <span class="faint">–</span> : <OwnerName {...identity} isCut />,
    isOptional: true,
    width: "9rem",
  },
  {
    title: "Uses left",
    cell: ({ remaining, usesFrom }) =>
      usesFrom === "identity" ? (
        <span class="faint">owner’s</span>
      ) : remaining === undefined ? (
        <span class="faint">unlimited</span>
      ) : (
        figure(remaining)
      ),
    isOptional: true,
    isNumber: true,
    width: "6.5rem",
  },
  {
    title: "Last used",
    cell: ({ lastUsedAt }) => <Instant at={lastUsedAt} />,
    isOptional: true,
    width: "8rem",
  },
  {
    title: "Expires",
    cell: ({ expires }) => <Instant at={expires} />,
    isOptional: true,
    width: "8rem",
  },
  {
    title: "Created",
    cell: ({ createdAt }) => <Instant at={createdAt} />,
    isOptional: true,
    width: "8rem",
  },
];
