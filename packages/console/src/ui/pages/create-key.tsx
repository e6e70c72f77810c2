import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo } from "../lib/router.js";
import type { Role } from "../lib/types.js";
import { ActionForm, Dialog } from "../parts/dialog.js";
import { SwitchField, TextField, textOf } from "../parts/fields.js";
import { KeyFields, keyInputOf } from "../parts/key-form.js";
import { type Created, NewSecret } from "./key-actions.js";

/** The names of all roles; empty if the operator may not read them. */
export function useRoleNames(): readonly string[] {
  const mayRead = useAllowed().can("rbac", "read_role");
  const { value } = useLoad("roles", async () =>
    mayRead ? call<Role[]>("permissions.listRoles") : [],
  );
  return (value ?? []).map(({ name }) => name);
}

/** Creates a key, and shows its secret once. */
export function CreateKey({
  apiId,
  onClose,
}: {
  readonly apiId: string;
  readonly onClose: () => void;
}) {
  const allowed = useAllowed();
  const roles = useRoleNames();
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null)
    return (
      <NewSecret
        secret={created.key}
        onClose={() => {
          onClose();
          forgetLists();
          go(linkTo(["keys", created.keyId]));
        }}
      />
    );
  return (
    <Dialog title="Create key" onClose={onClose}>
      <ActionForm
        submit="Create key"
        onCancel={onClose}
        action={async (form) => {
          const input = {
            apiId,
            prefix: textOf(form, "prefix"),
            ...keyInputOf(form),
            ...(form.has("recoverable") && { recoverable: true }),
          };
          setCreated(await call("keys.createKey", input));
        }}
      >
        <TextField
          label="Prefix"
          name="prefix"
          placeholder="acme"
          hint="The secret begins with this and an underscore."
          autofocus
        />
        <KeyFields roles={roles} />
        {allowed.can("api", "encrypt_key", apiId) && (
          <SwitchField
            label="Recoverable"
            name="recoverable"
            hint="Also stores the secret, encrypted. Requires a vault."
          />
        )}
      </ActionForm>
    </Dialog>
  );
}
