import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { changesOf } from "../lib/key-changes.js";
import { mergedNames } from "../lib/rule-changes.js";
import type { Key } from "../lib/types.js";
import { Confirm } from "../parts/dialog.js";
import { namesOf } from "../parts/fields.js";
import { KeyFields, keyInputOf } from "../parts/key-form.js";
import { useRoleNames } from "./create-key.js";
import type { KeyDialogProps } from "./key-actions.js";

/** Changes the settings of a key: only what was changed in the form is sent. */
export function EditKey({ item, onClose, onDone }: KeyDialogProps) {
  const roles = useRoleNames();
  const [opened] = useState(item);
  return (
    <Confirm
      title={`Edit ${item.name ?? `${item.start}…`}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const keyId = item.id;
        const changed = changesOf(keyInputOf(form), item);
        if (changed.roles !== undefined) {
          const now = await call<Key>("keys.getKey", { keyId });
          changed.roles = mergedNames(opened.roles, namesOf(form, "roles") ?? [], now.roles);
        }
        if (Object.keys(changed).length > 0) await call("keys.updateKey", { keyId, ...changed });
        onDone();
      }}
    >
      <KeyFields item={item} roles={roles} />
    </Confirm>
  );
}
