import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { changesOf, mergedChanges } from "../lib/key-changes.js";
import type { Key } from "../lib/types.js";
import { Confirm } from "../parts/dialog.js";
import { KeyFields, keyInputOf } from "../parts/key-form.js";
import { useRoleNames } from "./create-key.js";
import type { KeyDialogProps } from "./key-actions.js";

/** Changes the settings of a key. Only changed fields are sent. */
export function EditKey({ item, onClose, onDone }: KeyDialogProps) {
  const roles = useRoleNames();
  // The page keeps reloading the key, but the typed text refers to the key as it was when the form was opened.
  const [opened] = useState(item);
  return (
    <Confirm
      title={`Edit ${opened.name ?? `${opened.start}…`}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const keyId = opened.id;
        const changed = changesOf(keyInputOf(form), opened);
        if (Object.keys(changed).length > 0) {
          const now = await call<Key>("keys.getKey", { keyId });
          await call("keys.updateKey", { keyId, ...mergedChanges(changed, opened, now) });
        }
        onDone();
      }}
    >
      <KeyFields item={opened} roles={roles} />
    </Confirm>
  );
}
