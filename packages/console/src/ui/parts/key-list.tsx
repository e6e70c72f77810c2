import { serverNow } from "../lib/api.js";
import { linkTo } from "../lib/router.js";
import type { Key } from "../lib/types.js";
import { figure } from "../lib/words.js";
import { Badge, Instant } from "./basics.js";
import type { Column } from "./table.js";

/** Whether a key is usable, as lists know it. */
export function KeyState({ item }: { readonly item: Key }) {
  if (item.rotatedTo !== undefined) return <Badge tone="warn">rotated</Badge>;
  if (item.enabled) return <Badge tone="good">active</Badge>;
  const now = serverNow();
  if (item.expires !== undefined && item.expires <= now) return <Badge tone="bad">expired</Badge>;
  if (item.idleExpiresAt !== undefined && item.idleExpiresAt <= now)
    return <Badge tone="bad">unused too long</Badge>;
  if (item.startsAt !== undefined && item.startsAt > now)
    return <Badge tone="warn">not started</Badge>;
  if (item.remaining === 0) return <Badge tone="bad">no uses left</Badge>;
  return <Badge tone="bad">off</Badge>;
}

/** Columns of keys. */
export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    title: "Key",
    cell: ({ id, name, start }) => (
      <a class="row-link cut" href={linkTo(["keys", id])} title={id}>
        {name ?? <code>{start}…</code>}
      </a>
    ),
  },
  { title: "State", cell: (item) => <KeyState item={item} />, width: "9rem" },
  {
    title: "Starts with",
    cell: ({ start }) => <code>{start}…</code>,
    isOptional: true,
    width: "8rem",
  },
  {
    title: "Owner",
    cell: ({ identity }) =>
      identity === undefined ? (
        <span class="faint">–</span>
      ) : (
        <a class="cut above" href={linkTo(["identities", identity.id])}>
          {identity.externalId}
        </a>
      ),
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
