import { useState } from "preact/hooks";
import { runTask } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import type { RootKey } from "../lib/types.js";
import { Badge, Empty, Failure, Instant, Names, PageHead, Waiting } from "../parts/basics.js";
import { ActionForm, Confirm, Dialog } from "../parts/dialog.js";
import { instantOf, namesOf, TextField, textOf } from "../parts/fields.js";
import { PlainTable } from "../parts/plain-table.js";
import type { Column } from "../parts/table.js";
import { NewSecret } from "./key-actions.js";

const COLUMNS: readonly Column<RootKey>[] = [
  {
    title: "Root key",
    cell: ({ id, name, start }) => <span title={id}>{name ?? <code>{start}…</code>}</span>,
  },
  {
    title: "State",
    cell: ({ enabled }) => (
      <Badge tone={enabled ? "good" : "bad"}>{enabled ? "active" : "expired"}</Badge>
    ),
  },
  { title: "Permissions", cell: ({ permissions }) => <Names names={permissions} /> },
  { title: "Expires", cell: ({ expires }) => <Instant at={expires} />, isOptional: true },
  { title: "Created", cell: ({ createdAt }) => <Instant at={createdAt} />, isOptional: true },
];

/** The keys that authorise management over HTTP. */
export function RootKeysPage() {
  const { value, error, reload } = useLoad("root keys", () =>
    runTask<{ rootKeys: RootKey[]; cursor?: string }>("rootKeys.listRootKeys"),
  );
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoked, setRevoked] = useState<RootKey | null>(null);
  return (
    <>
      <PageHead
        title="Root keys"
        note="They authorise management over HTTP. Give each program one of its own, with no more than it needs."
      >
        <button type="button" class="primary" onClick={() => setIsCreating(true)}>
          Create root key
        </button>
      </PageHead>
      {error !== null && <Failure error={error} retry={reload} />}
      {value === null && error === null && <Waiting lines={6} />}
      {value !== null && <RootKeys keys={value.rootKeys} onRevoke={setRevoked} />}
      {isCreating && (
        <Dialog title="Create root key" onClose={() => setIsCreating(false)}>
          <ActionForm
            submit="Create root key"
            onCancel={() => setIsCreating(false)}
            action={async (form) => {
              const { key } = await runTask<{ key: string }>("rootKeys.createRootKey", {
                name: textOf(form, "name"),
                permissions: namesOf(form, "permissions") ?? [],
                expires: instantOf(form, "expires"),
              });
              setIsCreating(false);
              setSecret(key);
              reload();
            }}
          >
            <TextField label="Name" name="name" autofocus hint="The program that uses it." />
            <TextField label="Expires" name="expires" type="datetime-local" hint="Empty: never." />
            <TextField
              label="Permissions"
              name="permissions"
              required
              isWide
              placeholder="api.*.create_key, api.*.read_key"
              hint="Names with commas between them, such as api.*.verify_key. * is everything."
            />
          </ActionForm>
        </Dialog>
      )}
      {secret !== null && <NewSecret secret={secret} onClose={() => setSecret(null)} />}
      {revoked !== null && (
        <Confirm
          title={`Revoke ${revoked.name ?? `${revoked.start}…`}?`}
          submit="Revoke root key"
          onClose={() => setRevoked(null)}
          action={async () => {
            await runTask("rootKeys.revokeRootKey", { rootKeyId: revoked.id });
            reload();
          }}
        >
          <p>
            Programs that use it can manage nothing from their next request on. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function RootKeys({
  keys,
  onRevoke,
}: {
  readonly keys: readonly RootKey[];
  readonly onRevoke: (key: RootKey) => void;
}) {
  if (keys.length === 0)
    return (
      <Empty title="No root key">
        <p>
          A program needs one to manage keys over HTTP. A program that uses the library needs none.
        </p>
      </Empty>
    );
  return (
    <PlainTable
      columns={COLUMNS}
      items={keys}
      idOf={({ id }) => id}
      actions={(key) => (
        <button
          type="button"
          onClick={() => onRevoke(key)}
          aria-label={`Revoke ${key.name ?? key.start}`}
        >
          Revoke
        </button>
      )}
    />
  );
}
