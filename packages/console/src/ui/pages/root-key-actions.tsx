import { call } from "../lib/api.js";
import { mergedNames } from "../lib/rule-changes.js";
import type { RootKey } from "../lib/types.js";
import { localInstant } from "../lib/words.js";
import { ActionForm, Confirm, Dialog } from "../parts/dialog.js";
import { instantOf, namesOf, TextField, textOf } from "../parts/fields.js";
import { RotateForm } from "./key-actions.js";

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
  /** Called with a new secret, instead of the other callbacks. */
  readonly onSecret: (secret: string | undefined) => void;
}

interface ItemProps extends DialogProps {
  readonly item: RootKey;
}

/** All root keys: a workspace has few, and a page of them is at most 100. */
export async function readRootKeys(): Promise<readonly RootKey[]> {
  const all: RootKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await call<{ rootKeys: readonly RootKey[]; cursor?: string }>(
      "rootKeys.listRootKeys",
      { cursor },
    );
    all.push(...page.rootKeys);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

/** The name of a root key, or the start of its secret if it has none. */
export const rootKeyName = ({ name, start }: RootKey): string => name ?? `${start}…`;

/** Creates a root key, and shows its secret once. */
export function CreateRootKey({ onClose, onSecret }: DialogProps) {
  return (
    <Dialog title="Create root key" onClose={onClose}>
      <ActionForm
        submit="Create root key"
        onCancel={onClose}
        action={async (form) => {
          const { key } = await call<{ key?: string }>("rootKeys.createRootKey", {
            name: textOf(form, "name"),
            permissions: namesOf(form, "permissions") ?? [],
            expires: instantOf(form, "expires"),
          });
          onSecret(key);
        }}
      >
        <RootKeyFields />
      </ActionForm>
    </Dialog>
  );
}

/** Changes a root key. Only changed fields are sent. */
export function EditRootKey({ item, onClose, onDone }: ItemProps) {
  return (
    <Confirm
      title={`Edit ${rootKeyName(item)}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const name = textOf(form, "name");
        const typed = namesOf(form, "permissions") ?? [];
        const expires = instantOf(form, "expires");
        const now = (await readRootKeys()).find(({ id }) => id === item.id) ?? item;
        const permissions = mergedNames(item.permissions, typed, now.permissions);
        await call("rootKeys.updateRootKey", {
          rootKeyId: item.id,
          ...(name !== item.name && { name: name ?? null }),
          ...(`${permissions}` !== `${now.permissions}` && { permissions }),
          // The field shows minutes, so an instant within the same minute is unchanged.
          ...(localInstant(expires) !== localInstant(item.expires) && { expires: expires ?? null }),
        });
        onDone();
      }}
    >
      <RootKeyFields item={item} />
    </Confirm>
  );
}

/** Replaces the secret of a root key. */
export function RotateRootKey({ item, onClose, onSecret }: ItemProps) {
  return (
    <Dialog title={`Rotate ${rootKeyName(item)}`} onClose={onClose}>
      <RotateForm
        rotate={(graceMs) =>
          call<{ key?: string }>("rootKeys.rotateRootKey", { rootKeyId: item.id, graceMs })
        }
        onClose={onClose}
        onRotated={({ key }) => onSecret(key)}
      >
        A new root key with the same permissions replaces it. A root key can be rotated only once;
        the new one can be rotated again.
      </RotateForm>
    </Dialog>
  );
}

/** Revokes a root key for good. */
export function RevokeRootKey({ item, onClose, onDone }: ItemProps) {
  return (
    <Confirm
      title={`Revoke ${rootKeyName(item)}?`}
      submit="Revoke root key"
      onClose={onClose}
      action={async () => {
        await call("rootKeys.revokeRootKey", { rootKeyId: item.id });
        onDone();
      }}
    >
      <p>Programs that use it lose access from their next request on. This cannot be undone.</p>
    </Confirm>
  );
}

function RootKeyFields({ item }: { readonly item?: RootKey }) {
  return (
    <>
      <TextField
        label="Name"
        name="name"
        autofocus
        defaultValue={item?.name ?? ""}
        hint="Such as the program that uses it."
      />
      <TextField
        label="Expires"
        name="expires"
        type="datetime-local"
        defaultValue={localInstant(item?.expires) ?? ""}
        hint="Empty means never."
      />
      <TextField
        label="Permissions"
        name="permissions"
        required
        isWide
        defaultValue={item?.permissions.join(", ") ?? ""}
        placeholder="api.*.create_key, api.*.read_key"
        hint="Separate names with commas, such as api.*.verify_key. * allows everything."
      />
    </>
  );
}
