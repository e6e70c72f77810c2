import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { forEach } from "../lib/owned-keys.js";
import { go, linkTo } from "../lib/router.js";
import type { Identity, Key } from "../lib/types.js";
import { plural } from "../lib/words.js";
import { Confirm } from "../parts/dialog.js";
import { AreaField, numberOf, objectOf, TextField } from "../parts/fields.js";

/** What the dialogs of an owner are given. */
export interface IdentityDialogProps {
  readonly identity: Identity;
  /** All of its keys that the operator may see. */
  readonly keys: readonly Key[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Deletes all keys of an owner, or switches them off. */
export function RevokeKeys({
  identity,
  keys,
  onClose,
  onDone,
  isOff = false,
}: IdentityDialogProps & { readonly isOff?: boolean }) {
  const [done, setDone] = useState(0);
  const count = plural(keys.length, "key");
  const apis = new Set(keys.map(({ apiId }) => apiId)).size;
  return (
    <Confirm
      title={isOff ? `Switch off ${count}?` : `Revoke ${count}?`}
      submit={isOff ? `Switch off ${count}` : `Revoke ${count}`}
      onClose={onClose}
      action={async () => {
        setDone(0);
        try {
          await forEach(
            keys,
            ({ id: keyId }) =>
              isOff
                ? call("keys.updateKey", { keyId, enabled: false })
                : call("keys.deleteKey", { keyId }),
            setDone,
          );
        } finally {
          onDone();
        }
      }}
    >
      <p>
        All {count} of <strong>{identity.externalId}</strong> in {plural(apis, "API")}{" "}
        {isOff
          ? "are refused from then on. Each can be switched on again."
          : "are deleted, and refused from then on. This cannot be undone; to be able to go back, switch them off instead."}
      </p>
      {done > 0 && (
        <p role="status">
          {done} of {keys.length} done
        </p>
      )}
    </Confirm>
  );
}

/** Deletes an owner, whose keys stay. */
export function DeleteIdentity({ identity, keys, onClose }: IdentityDialogProps) {
  return (
    <Confirm
      title={`Delete ${identity.externalId}?`}
      submit="Delete owner"
      onClose={onClose}
      action={async () => {
        await call("identities.deleteIdentity", { identityId: identity.id });
        forgetLists();
        go(linkTo(["identities"]));
      }}
    >
      <p>
        {keys.length === 0
          ? "It has no keys."
          : `Its ${plural(keys.length, "key")} stay valid, and belong to nobody from then on: revoke them first if they must not.`}{" "}
        Limits and uses that they share are gone. This cannot be undone.
      </p>
    </Confirm>
  );
}

/** Changes what the keys of an owner share. */
export function EditIdentity({ identity, onClose, onDone }: IdentityDialogProps) {
  return (
    <Confirm
      title={`Edit ${identity.externalId}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const remaining = numberOf(form, "remaining");
        await call("identities.updateIdentity", {
          identityId: identity.id,
          meta: objectOf(form, "meta", "Metadata") ?? {},
          ...(remaining !== identity.remaining && { remaining: remaining ?? null }),
        });
        onDone();
      }}
    >
      <TextField
        label="Uses left"
        name="remaining"
        type="number"
        min={0}
        defaultValue={identity.remaining ?? ""}
        hint="Shared by keys that take their uses from the owner. Empty: unlimited."
        isWide
      />
      <AreaField
        label="Metadata"
        name="meta"
        value={JSON.stringify(identity.meta ?? {}, null, 2)}
        hint="A JSON object."
      />
    </Confirm>
  );
}
