/** The fields that have a value, in their order: null and undefined ones are left out. */
export function withoutNull<Fields extends object>(fields: Fields): WithoutNull<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as WithoutNull<Fields>;
}

type WithoutNull<Fields> = {
  [Name in keyof Fields as Fields[Name] extends Given ? Name : never]: Fields[Name];
} & {
  [Name in keyof Fields as Fields[Name] extends Given ? never : Name]?: NonNullable<Fields[Name]>;
};

/** Any value other than null and undefined. */
type Given = NonNullable<unknown>;
