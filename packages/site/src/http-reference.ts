import type { OpenApiDocument } from "@latchkey/http";
import type { Page } from "./pages.js";
import { fieldsOf, type Schema } from "./schema-fields.js";

/** The part of an operation of the document that a page shows. */
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

type Content = Readonly<
  Record<
    string,
    {
      readonly schema: Schema;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
    }
  >
>;

/**
 * The reference of the HTTP contract: a page for each group of operations, from the OpenAPI document.
 *
 * @param document - As `@latchkey/http` creates it.
 */
export function httpReference(document: OpenApiDocument): readonly Page[] {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({
      path,
      verb: verb.toUpperCase(),
      operation: operation as unknown as Operation,
    })),
  );
  return document.tags.map(({ name, description = "" }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const text = own.map(({ path, verb, operation }) => sectionOf(document, path, verb, operation));
    return {
      path: `http/${name}.md`,
      title: `HTTP: ${name}`,
      description,
      text: [`# HTTP: ${name}`, description, ...text].join("\n\n"),
    };
  });
}

function sectionOf(
  document: OpenApiDocument,
  path: string,
  verb: string,
  operation: Operation,
): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const [name = "", body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const [, answer] = Object.entries(responses["200"]?.content ?? {})[0] ?? [];
  return [
    `## ${summary} {#${operationId.replaceAll(".", "-")}}`,
    `\`${verb} ${path}\``,
    description,
    ...table("Parameters", [
      ...parameters.map(({ name: field, required = false, schema, ...rest }) => ({
        name: rest.in === "header" ? `${field} (header)` : field,
        required,
        ...fieldsOf({ properties: { [field]: schema } }, document.components)[0],
        note: rest.description ?? schema.description ?? "",
      })),
    ]),
    ...(body === undefined
      ? []
      : table(bodyTitle(name), fieldsOf(body.schema, document.components))),
    ...example("Example", exampleOf(body)),
    ...(answer === undefined
      ? []
      : table("Response", fieldsOf(answer.schema, document.components))),
    ...example("Example of a response", exampleOf(answer)),
    refusals(document, responses),
  ]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}

function bodyTitle(mediaType: string): string {
  return mediaType === "application/json" ? "Body" : `Body, as \`${mediaType}\``;
}

interface Row {
  readonly name: string;
  readonly type?: string;
  readonly required: boolean;
  readonly note: string;
}

function table(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(
    ({ name, type = "", required, note }) =>
      `| ${code(name)} | ${cell(type)} | ${required ? "yes" : ""} | ${cell(note)} |`,
  );
  return [
    `**${title}**`,
    ["| Field | Type | Required | Meaning |", "| --- | --- | --- | --- |", ...lines].join("\n"),
  ];
}

/** The first example of a body. */
function exampleOf(body: Content[string] | undefined): unknown {
  return body?.example ?? Object.values(body?.examples ?? {})[0]?.value;
}

function example(title: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  return [`**${title}**`, `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``];
}

function refusals(document: OpenApiDocument, responses: Operation["responses"]): string {
  const rows = Object.entries(responses)
    .filter(([status]) => status !== "200")
    .map(([status, response]) => {
      const name = response.$ref?.split("/").at(-1) ?? "";
      const components = document.components.responses as Readonly<Record<string, Response>>;
      return `| ${status} | ${cell((components[name] ?? response).description ?? "")} |`;
    });
  return ["**Refusals**", ["| Status | When |", "| --- | --- |", ...rows].join("\n")].join("\n\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

/** The content of one table cell: no line breaks, no bars. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
}
