import type { RequiredPermissions } from "../auth/required-permissions.js";
import type { Components, JsonSchema } from "../openapi/components.js";
import { toJsonSchema } from "../openapi/json-schema.js";
import { permissionForms } from "../openapi/permissions-text.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";

/** The README's table of operations, generated from the table that serves them. */
export function readmeTable(): string {
  const rows = OPERATIONS.map((operation) => [
    `\`${operation.method} ${operation.name}\``,
    inputCell(operation),
    responseCell(operation),
    permissionsCell(operation),
  ]);
  const header = ["Operation", "Input", "Response", "Permissions"];
  return [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function inputCell({ name, input, headerFields = {}, acceptsList }: Operation): string {
  const schema = toJsonSchema(input, "input", new Map(), name);
  const object = acceptsList === true ? (schema.items as JsonSchema) : schema;
  const inHeaders = Object.entries(headerFields).map(([, header]) => `header \`${header}\``);
  const fields = fieldNames(object).filter((field) => !(field.replace("?", "") in headerFields));
  const none = object.type === "string" ? "names" : "–";
  const listed = fields.length === 0 ? none : `\`${fields.join(", ")}\``;
  const sized =
    acceptsList === true
      ? `array of ${schema.minItems ?? 0} to ${schema.maxItems} ${listed}`
      : listed;
  return [sized, ...inHeaders].join("; ");
}

function responseCell({ name, response }: Operation): string {
  const components: Components = new Map();
  const schema = toJsonSchema(response, "output", components, name);
  if (Array.isArray(schema.anyOf))
    return schema.anyOf
      .map((one: JsonSchema) => inBraces(components.get(nameOf(one).slice(1, -1)) ?? {}))
      .join(" or ");
  if (schema.type === "array") return `list of ${nameOf(schema.items as JsonSchema)}`;
  if (Array.isArray(schema.oneOf)) return schema.oneOf.map(nameOf).join(" or ");
  if (typeof schema.$ref !== "string") return inBraces(schema);
  const referred = components.get(nameOf(schema).slice(1, -1)) ?? {};
  const isShort = referred.properties !== undefined && fieldNames(referred).length <= 4;
  return isShort || (referred.properties === undefined && referred.oneOf === undefined)
    ? inBraces(referred)
    : nameOf(schema);
}

function inBraces(schema: JsonSchema): string {
  const fields = fieldNames(schema);
  return fields.length === 0 ? "`{}`" : `\`{ ${fields.join(", ")} }\``;
}

/** Names of the fields, the required ones first. */
function fieldNames({ properties = {}, required = [] }: JsonSchema): readonly string[] {
  const names = Object.keys(properties as object);
  const needed = names.filter((name) => (required as readonly string[]).includes(name));
  const optional = names.filter((name) => !needed.includes(name));
  return [...needed, ...optional.map((name) => `${name}?`)];
}

function nameOf({ $ref }: JsonSchema): string {
  return `\`${String($ref).replace("#/components/schemas/", "")}\``;
}

function permissionsCell({ isPublic, requiredPermissions, input, example }: Operation): string {
  if (isPublic === true) return "none, public";
  const required: RequiredPermissions = requiredPermissions(input.parse(example.input));
  const { conditional } = required;
  const more =
    conditional === undefined ? "" : `; ${conditional.when} \`${conditional.permission.action}\``;
  return permissionForms(required)
    .map((forms) => forms.replace(/^`.*` or /, ""))
    .join(", ")
    .concat(more);
}
