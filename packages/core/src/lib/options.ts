/** The options of a store, all of them set. */
export type SettingsOf<Options> = {
  readonly [Name in keyof Options]-?: NonNullable<Options[Name]>;
};

/** @throws TypeError with the message, unless `isSo`. */
export function assertOption(isSo: boolean, message: string): asserts isSo {
  if (!isSo) throw new TypeError(message);
}

/** @throws TypeError naming an option that is not a whole number within its bounds. */
export function assertWholeOption(name: string, value: unknown, min: number, max: number): void {
  const isWithin = Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  assertOption(isWithin, `"${name}" must be a whole number from ${min} to ${max}`);
}

/** @throws TypeError naming an option that is neither true nor false. */
export function assertSwitch(name: string, value: unknown): asserts value is boolean {
  assertOption(typeof value === "boolean", `"${name}" must be true or false`);
}

/** @throws TypeError naming an option that is given and not a function. */
export function assertFunction(name: string, value: unknown): void {
  assertOption(value === undefined || typeof value === "function", `"${name}" must be a function`);
}

/**
 * The options in an option such as `usage`: a misspelt one must not be ignored.
 *
 * @param form - What the option must be, if it is no object.
 * @throws TypeError naming an unknown one. The caller checks the values.
 */
export function nestedOptions(
  name: string,
  value: unknown,
  known: readonly string[],
  form: string,
): Readonly<Record<string, unknown>> {
  assertOption(typeof value === "object" && value !== null, `"${name}" must be ${form}`);
  for (const each of Object.keys(value))
    assertOption(known.includes(each), `"${name}.${each}" is not an option`);
  return value as Readonly<Record<string, unknown>>;
}

/**
 * The options of a store with their defaults; an undefined option counts as absent.
 *
 * @param store - The function that takes them, for the message.
 * @throws TypeError naming an unknown option. The store checks the values.
 */
export function readOptions<Settings extends object>(
  store: string,
  defaults: Settings,
  options: object,
): Settings {
  assertOption(typeof options === "object" && options !== null, '"options" must be an object');
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name] of given)
    assertOption(Object.hasOwn(defaults, name), `"${name}" is not an option of ${store}`);
  return { ...defaults, ...Object.fromEntries(given) };
}
