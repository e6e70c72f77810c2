/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = { [keyword: string]: unknown };

/** Schemas by their name in the document. */
export type Components = Map<string, JsonSchema>;
