import { useMemo } from "preact/hooks";
import type { PortalClient, PortalKey, PortalState } from "../client.js";
import { ActionForm, Dialog, Field, useSetting } from "./parts.js";
import { fill } from "./words.js";

const DAY_MS = 86_400_000;

interface Common {
  readonly client: PortalClient;
  readonly onClose: () => void;
}

interface OfKey extends Common {
  readonly portalKey: PortalKey;
}

/** Asks for the settings of a new key. */
export function CreateDialog({
  client,
  allow,
  onCreated,
  onClose,
}: Common & {
  readonly allow: NonNullable<PortalState["session"]>["allow"];
  readonly onCreated: (secret: string | undefined) => void;
}) {
  const { texts, now } = useSetting();
  // Taken once, not at each try: a repeated call must have the same expiry.
  const openedAt = useMemo(now, []);
  const create = async (form: FormData) => {
    const days = Number(form.get("days"));
    const { key } = await client.createKey({
      apiId: String(form.get("apiId") ?? allow.apis[0]?.id),
      name: String(form.get("name")).trim(),
      ...(days > 0 && { expires: openedAt + days * DAY_MS }),
      permissions: form.getAll("permission").map(String),
    });
    onCreated(key);
  };
  return (
    <Dialog title={texts.createTitle} onClose={onClose}>
      <ActionForm action={create} submit={texts.create} onCancel={onClose}>
        <Field label={texts.name} hint={texts.nameHint}>
          {(ids) => (
            <input
              {...ids}
              name="name"
              required
              maxLength={256}
              pattern=".*\S.*"
              autocomplete="off"
            />
          )}
        </Field>
        {allow.apis.length > 1 && (
          <Field label={texts.product}>
            {(ids) => (
              <select {...ids} name="apiId">
                {allow.apis.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label={texts.expiry}>
          {(ids) => (
            <select {...ids} name="days">
              <option value="0">{texts.expiryUsual}</option>
              {[7, 30, 90, 365].map((days) => (
                <option key={days} value={days}>
                  {fill(texts.expiryDays, { days })}
                </option>
              ))}
            </select>
          )}
        </Field>
        {allow.permissions.length > 0 && (
          <fieldset>
            <legend>{texts.permissions}</legend>
            {allow.permissions.map((name) => (
              <label key={name} class="check">
                <input type="checkbox" name="permission" value={name} defaultChecked />
                <code>{name}</code>
              </label>
            ))}
          </fieldset>
        )}
      </ActionForm>
    </Dialog>
  );
}

/** Asks for another name. */
export function RenameDialog({
  client,
  portalKey: { id, name },
  onRenamed,
  onClose,
}: OfKey & { readonly onRenamed: () => void }) {
  const { texts } = useSetting();
  const rename = async (form: FormData) => {
    await client.renameKey({ keyId: id, name: String(form.get("name")).trim() });
    onRenamed();
  };
  return (
    <Dialog title={texts.renameTitle} onClose={onClose}>
      <ActionForm action={rename} submit={texts.save} onCancel={onClose}>
        <Field label={texts.name} hint={texts.nameHint}>
          {(ids) => (
            <input
              {...ids}
              name="name"
              required
              maxLength={256}
              pattern=".*\S.*"
              autocomplete="off"
              defaultValue={name ?? ""}
            />
          )}
        </Field>
      </ActionForm>
    </Dialog>
  );
}

/** Asks how long the old secret shall work, and explains what happens. */
export function RotateDialog({
  client,
  portalKey: { id, name },
  onRotated,
  onClose,
}: OfKey & { readonly onRotated: (secret: string | undefined) => void }) {
  const { texts } = useSetting();
  const rotate = async (form: FormData) => {
    const { key } = await client.rotateKey({ keyId: id, graceMs: Number(form.get("grace")) });
    onRotated(key);
  };
  const graces = [
    [DAY_MS, texts.graceDay],
    [3_600_000, texts.graceHour],
    [7 * DAY_MS, texts.graceWeek],
    [0, texts.graceNone],
  ] as const;
  return (
    <Dialog title={fill(texts.rotateTitle, { name: name ?? texts.unnamed })} onClose={onClose}>
      <ActionForm action={rotate} submit={texts.rotate} onCancel={onClose}>
        <p>{texts.rotateHint}</p>
        <Field label={texts.grace} hint={texts.graceThen}>
          {(ids) => (
            <select {...ids} name="grace">
              {graces.map(([ms, text]) => (
                <option key={ms} value={ms}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </ActionForm>
    </Dialog>
  );
}

/** Asks before a key is revoked for good. */
export function RevokeDialog({
  client,
  portalKey: { id, name },
  onRevoked,
  onClose,
}: OfKey & { readonly onRevoked: () => void }) {
  const { texts } = useSetting();
  const revoke = async () => {
    await client.revokeKey({ keyId: id });
    onRevoked();
  };
  return (
    <Dialog title={fill(texts.revokeTitle, { name: name ?? texts.unnamed })} onClose={onClose}>
      <ActionForm action={revoke} submit={texts.revoke} isDangerous onCancel={onClose}>
        <p>{texts.revokeHint}</p>
      </ActionForm>
    </Dialog>
  );
}
