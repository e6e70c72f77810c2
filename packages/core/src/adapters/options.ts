/** The options of a store, all of them set. */
export type SettingsOf<Options> = {
  readonly [Name in keyof Options]-?: NonNullable<Options[Name]>;
};

/** @throws TypeError with the message, unless `isSo`. */
export function assertOption(isSo: boolean, message: string): void {
  if (!isSo) throw new TypeError(message);
}

/** @throws TypeError naming an option that is not a whole number within its bounds. */
export function assertWholeOption(name: string, value: unknown, min: number, max: number): void {
  const isWithin = Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  assertOption(isWithin, `"${name}" must be a whole number from ${min} to ${max}`);
}

/** @throws TypeError naming an option that is neither true nor false. */
export function assertSwitch(name: string, value: unknown): void {
  assertOption(typeof value === "boolean", `"${name}" must be true or false`);
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
