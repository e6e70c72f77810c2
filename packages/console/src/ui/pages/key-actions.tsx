import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { go, linkTo } from "../lib/router.js";
import type { Key } from "../lib/types.js";
import { CopyButton, Instant } from "../parts/basics.js";
import { ActionForm, Confirm, Dialog } from "../parts/dialog.js";
import { ChoiceField, textOf } from "../parts/fields.js";

/** Properties of the dialogs of a key. */
export interface KeyDialogProps {
  readonly item: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** A key that was just created. Without `key`, its secret was in a lost answer, and exists nowhere any more. */
export interface Created {
  readonly keyId: string;
  readonly key?: string;
}

/** Shows a new secret once. It leaves the page when the dialog closes. */
export function NewSecret({
  secret,
  onClose,
}: {
  readonly secret: string | undefined;
  readonly onClose: () => void;
}) {
  if (secret === undefined)
    return (
      <Dialog title="The new secret was lost" onClose={onClose}>
        <p>
          The key was created, but the response with its secret did not arrive, and a secret is sent
          only once. Rotate the new key to get another secret, or delete it.
        </p>
        <div class="form-end">
          <button type="button" class="primary" onClick={onClose}>
            Continue
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Your new secret" onClose={onClose} isHeld>
      <p>Copy it now: it is shown only once.</p>
      <p class="secret">
        <output>{secret}</output>
        <CopyButton text={secret} label="Copy secret" />
      </p>
      <div class="form-end">
        <button type="button" class="primary" onClick={onClose}>
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}

const called = ({ name, start }: Key): string => name ?? `${start}…`;

/** Disables or enables a key. */
export function SwitchKey({
  item,
  isOn,
  onClose,
  onDone,
}: KeyDialogProps & { readonly isOn: boolean }) {
  const how = isOn ? "Disable" : "Enable";
  return (
    <Confirm
      title={`${how} ${called(item)}?`}
      submit={how}
      isDangerous={isOn}
      onClose={onClose}
      action={async () => {
        await call("keys.updateKey", { keyId: item.id, enabled: !isOn });
        onDone();
      }}
    >
      <p>
        {isOn
          ? "It is refused everywhere from the next request on. Nothing is lost, and it can be enabled again."
          : "It is accepted again from the next request on, unless another check refuses it."}
      </p>
    </Confirm>
  );
}

/** Deletes a key. */
export function DeleteKey({ item, onClose }: KeyDialogProps) {
  return (
    <Confirm
      title={`Delete ${called(item)}?`}
      submit="Delete key"
      onClose={onClose}
      action={async () => {
        await call("keys.deleteKey", { keyId: item.id });
        forgetLists();
        go(linkTo(["apis", item.apiId]));
      }}
    >
      <p>
        Every request with it will be refused
        {item.lastUsedAt === undefined ? (
          "; it was never used."
        ) : (
          <>
            ; it was last used <Instant at={item.lastUsedAt} />.
          </>
        )}{" "}
        This cannot be undone. To stop it temporarily, disable it instead.
      </p>
    </Confirm>
  );
}

const GRACES = [
  ["0", "immediately"],
  ["3600000", "in 1 hour"],
  ["86400000", "in 1 day"],
  ["604800000", "in 7 days"],
] as const;

/** Replaces the secret of a key. */
export function RotateKey({ item, onClose, onDone }: KeyDialogProps) {
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null)
    return (
      <NewSecret
        secret={created.key}
        onClose={() => {
          onClose();
          onDone();
          go(linkTo(["keys", created.keyId]));
        }}
      />
    );
  return (
    <Dialog title={`Rotate ${called(item)}`} onClose={onClose}>
      <RotateForm
        rotate={(graceMs) => call("keys.rotateKey", { keyId: item.id, graceMs })}
        onClose={onClose}
        onRotated={setCreated}
      >
        A new key with the same settings replaces it, and shares its uses and limits. A key can be
        rotated only once; the new one can be rotated again.
      </RotateForm>
    </Dialog>
  );
}

/** Asks how long the old secret shall work. */
export function RotateForm<Created>({
  rotate,
  onClose,
  onRotated,
  children,
}: {
  readonly rotate: (graceMs: number) => Promise<Created>;
  readonly onClose: () => void;
  readonly onRotated: (created: Created) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <ActionForm
      submit="Rotate"
      onCancel={onClose}
      action={async (form) => {
        onRotated(await rotate(Number(textOf(form, "graceMs") ?? "0")));
      }}
    >
      <p>{children}</p>
      <ChoiceField
        label="The old secret stops working"
        name="graceMs"
        value="86400000"
        choices={GRACES}
      />
    </ActionForm>
  );
}
