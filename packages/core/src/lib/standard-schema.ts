/**
 * A schema of the Standard Schema interface, version 1: what zod, valibot, arktype and others answer. Only the parts that are used
 * here, so that no library is needed for them.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the interface is made of. */
  readonly "~standard": {
    /** Version of the interface. */
    readonly version: 1;
    /** Name of the library. */
    readonly vendor: string;
    /** Checks a value: answers it as the schema has it, or what is wrong with it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Never there at run time: the types of what goes in and what comes out. */
    readonly types?:
      | {
          /** What it takes. */
          readonly input: Input;
          /** What it answers. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What a {@link StandardSchema} answers about a value. */
export type StandardResult<Output> =
  | {
      /** The value as the schema has it. */
      readonly value: Output;
      /** None. */
      readonly issues?: undefined;
    }
  | {
      /** What is wrong with the value. */
      readonly issues: readonly StandardIssue[];
    };

/** One thing that is wrong with a value. */
export interface StandardIssue {
  /** In the words of the schema. */
  readonly message: string;
  /** Down to what is wrong; absent or empty for the value itself. */
  readonly path?: readonly (PropertyKey | StandardPathPart)[] | undefined;
}

/** One member on the way down. */
export interface StandardPathPart {
  /** Its name, or its place in a list. */
  readonly key: PropertyKey;
}

/** The type that a schema takes. */
export type InputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["input"];

/** The type that a schema answers. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];
