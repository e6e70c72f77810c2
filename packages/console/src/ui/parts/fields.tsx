import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly hint?: ComponentChildren;
  readonly isWide?: boolean;
  /** Whether it starts a line. */
  readonly isFirst?: boolean;
}

interface InputProps extends FieldProps {
  readonly type?: "text" | "password" | "search" | "number" | "date" | "datetime-local";
  readonly required?: boolean;
  readonly autofocus?: boolean;
  readonly placeholder?: string;
  readonly defaultValue?: string | number;
  readonly min?: number;
  /** The last day of a date field. */
  readonly max?: string;
  readonly step?: "any";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly onInput?: (event: { readonly currentTarget: HTMLInputElement }) => void;
}

/** A field for a line of text. */
export function TextField({
  label,
  name,
  hint,
  isWide = false,
  isFirst = false,
  type = "text",
  ...input
}: InputProps) {
  const id = useId();
  return (
    <div class={`field${isWide ? " wide" : ""}${isFirst ? " first" : ""}`}>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        // The attribute types cover each type of an input, but not a union of them.
        type={type as "text"}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...input}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

/** A field for a longer text. */
export function AreaField({ label, name, hint, value }: FieldProps & { readonly value?: string }) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={3}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        defaultValue={value}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

/** A choice of a few. */
export function ChoiceField({
  label,
  name,
  choices,
  value,
  onChange,
  isWide = false,
}: FieldProps & {
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class={`field${isWide ? " wide" : ""}`}>
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        defaultValue={value ?? ""}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {choices.map(([each, text]) => (
          <option key={each} value={each} selected={each === (value ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A field for yes or no. */
export function SwitchField({ label, name, hint, isOn }: FieldProps & { readonly isOn?: boolean }) {
  const id = useId();
  return (
    <div class="field switch wide">
      <input id={id} type="checkbox" name={name} defaultChecked={isOn ?? false} />
      <label for={id}>{label}</label>
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}

/** The text of a field; undefined if it is empty. */
export function textOf(form: FormData, name: string): string | undefined {
  const value = String(form.get(name) ?? "").trim();
  return value === "" ? undefined : value;
}

/** The number in a field; undefined if it is empty. */
export function numberOf(form: FormData, name: string): number | undefined {
  const text = textOf(form, name);
  return text === undefined ? undefined : Number(text);
}

/** Names separated by commas or spaces; undefined if there are none. */
export function namesOf(form: FormData, name: string): readonly string[] | undefined {
  const names = (textOf(form, name) ?? "").split(/[\s,]+/).filter(Boolean);
  return names.length === 0 ? undefined : names;
}

/** The instant in a local date and time field. @throws Error in words: browsers accept years of six digits, which `Date` cannot read. */
export function instantOf(form: FormData, name: string): number | undefined {
  const text = textOf(form, name);
  if (text === undefined) return undefined;
  const at = new Date(text).getTime();
  if (Number.isNaN(at)) throw new Error("The year of a date must have four digits.");
  return at;
}

/** A JSON object in a field. @throws Error that names the field. */
export function objectOf(form: FormData, name: string, label: string): object | undefined {
  const text = textOf(form, name);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error below covers this.
  }
  throw new Error(`${label} must be a JSON object, such as {"plan":"pro"}.`);
}
