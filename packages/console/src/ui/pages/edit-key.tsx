import { call } from "../lib/api.js";
import { changesOf } from "../lib/key-changes.js";
import { Confirm } from "../parts/dialog.js";
import { KeyFields, keyInputOf } from "../parts/key-form.js";
import { useRoleNames } from "./create-key.js";
import type { KeyDialogProps } from "./key-actions.js";

/** Changes the settings of a key: only what was changed in the form is sent. */
export function EditKey({ item, onClose, onDone }: KeyDialogProps) {
  const roles = useRoleNames();
  return (
    <Confirm
      title={`Edit ${item.name ?? `${item.start}…`}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const changed = changesOf(keyInputOf(form), item);
        if (Object.keys(changed).length > 0)
          await call("keys.updateKey", { keyId: item.id, ...changed });
        onDone();
      }}
    >
      <KeyFields item={item} roles={roles} />
    </Confirm>
  );
}
