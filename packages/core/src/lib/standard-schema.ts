/** A schema of Standard Schema, version 1 (zod, valibot, arktype …): the parts that latchkey uses. @see https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface. */
  readonly "~standard": {
    /** Version of the interface. */
    readonly version: 1;
    /** Name of the library. */
    readonly vendor: string;
    /** Checks a value, and returns the validated value or what is wrong with it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Types only: never present at run time. */
    readonly types?:
      | {
          /** Type of the input. */
          readonly input: Input;
          /** Type of the output. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** Result of a {@link StandardSchema}. */
export type StandardResult<Output> =
  | {
      /** The validated value. */
      readonly value: Output;
      /** Absent if nothing is wrong. */
      readonly issues?: undefined;
    }
  | {
      /** What is wrong with the value. */
      readonly issues: readonly StandardIssue[];
    };

/** One problem of a value. */
export interface StandardIssue {
  /** Written by the schema. */
  readonly message: string;
  /** Path of what is wrong; absent or empty for the value itself. */
  readonly path?: readonly (PropertyKey | StandardPathPart)[] | undefined;
}

/** One member of a path. */
export interface StandardPathPart {
  /** Its name or index. */
  readonly key: PropertyKey;
}

/** Input type of a schema. */
export type InputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["input"];

export type OutputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];
