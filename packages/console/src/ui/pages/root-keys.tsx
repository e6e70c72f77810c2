import { useState } from "preact/hooks";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import type { RootKey } from "../lib/types.js";
import { Badge, Empty, Failure, Instant, Names, PageHead, Waiting } from "../parts/basics.js";
import { PlainTable } from "../parts/plain-table.js";
import type { Column } from "../parts/table.js";
import { NewSecret } from "./key-actions.js";
import {
  CreateRootKey,
  EditRootKey,
  RevokeRootKey,
  RotateRootKey,
  readRootKeys,
  rootKeyName,
} from "./root-key-actions.js";

const COLUMNS: readonly Column<RootKey>[] = [
  {
    title: "Root key",
    cell: ({ id, name, start }) => <span title={id}>{name ?? <code>{start}…</code>}</span>,
  },
  { title: "State", cell: (item) => <RootKeyState item={item} /> },
  { title: "Permissions", cell: ({ permissions }) => <Names names={permissions} /> },
  { title: "Expires", cell: ({ expires }) => <Instant at={expires} />, isOptional: true },
  { title: "Created", cell: ({ createdAt }) => <Instant at={createdAt} />, isOptional: true },
];

function RootKeyState({ item: { enabled, rotatedTo } }: { readonly item: RootKey }) {
  if (!enabled) return <Badge tone="bad">expired</Badge>;
  if (rotatedTo !== undefined) return <Badge tone="warn">rotated</Badge>;
  return <Badge tone="good">active</Badge>;
}

type Open =
  | { readonly kind: "create" }
  | { readonly kind: "edit" | "rotate" | "revoke"; readonly item: RootKey }
  | { readonly kind: "secret"; readonly secret: string | undefined };

/** The keys that authorise management over HTTP. */
export function RootKeysPage() {
  const allowed = useAllowed();
  const { value, error, reload } = useLoad("root keys", readRootKeys);
  const [open, setOpen] = useState<Open | null>(null);
  const dialog = {
    onClose: () => setOpen(null),
    onDone: reload,
    onSecret: (secret: string | undefined) => {
      setOpen({ kind: "secret", secret });
      reload();
    },
  };
  return (
    <>
      <PageHead
        title="Root keys"
        note="Root keys authorise management over HTTP. Give each program its own, with only the permissions it needs."
      >
        {allowed.can("root", "create_root_key") && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: "create" })}>
            Create root key
          </button>
        )}
      </PageHead>
      {error !== null && <Failure error={error} retry={reload} />}
      {value === null && error === null && <Waiting lines={6} />}
      {value !== null && <RootKeys items={value} onOpen={setOpen} />}
      {open?.kind === "create" && <CreateRootKey {...dialog} />}
      {open?.kind === "edit" && <EditRootKey item={open.item} {...dialog} />}
      {open?.kind === "rotate" && <RotateRootKey item={open.item} {...dialog} />}
      {open?.kind === "revoke" && <RevokeRootKey item={open.item} {...dialog} />}
      {open?.kind === "secret" && <NewSecret secret={open.secret} onClose={dialog.onClose} />}
    </>
  );
}

function RootKeys({
  items,
  onOpen,
}: {
  readonly items: readonly RootKey[];
  readonly onOpen: (open: Open) => void;
}) {
  const { can } = useAllowed();
  if (items.length === 0)
    return (
      <Empty title="No root keys">
        <p>Programs need a root key to manage keys over HTTP, but not to use the library.</p>
      </Empty>
    );
  const canUpdate = can("root", "update_root_key");
  return (
    <PlainTable
      columns={COLUMNS}
      items={items}
      idOf={({ id }) => id}
      actions={(item) => {
        const button = (kind: "edit" | "rotate" | "revoke", text: string, isOffered: boolean) =>
          isOffered && (
            <button
              type="button"
              onClick={() => onOpen({ kind, item })}
              aria-label={`${text} ${rootKeyName(item)}`}
            >
              {text}
            </button>
          );
        const isCurrent = item.enabled && item.rotatedTo === undefined;
        return (
          <>
            {button("edit", "Edit", canUpdate)}
            {button("rotate", "Rotate", canUpdate && isCurrent && can("root", "create_root_key"))}
            {button("revoke", "Revoke", can("root", "revoke_root_key"))}
          </>
        );
      }}
    />
  );
}
