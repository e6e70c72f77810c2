import { packageVersion } from "../package-file.js";
import type { Contract } from "../routing/contract.js";
import { V1 } from "../v1.js";
import type { Components, JsonSchema } from "./components.js";
import { pathItemOf } from "./path-item.js";
import { tagsOf } from "./tags.js";

/** Options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /** The part of the URLs before `/v1`: a path such as `/keys`, also with scheme and host. Default: empty. */
  readonly baseUrl?: string;
}

/** The top level of an OpenAPI 3.1 document; the standard describes the rest. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  /** `/<version>/<operation>` → verb → operation. */
  readonly paths: Readonly<Record<string, JsonSchema>>;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

/**
 * The HTTP API as an OpenAPI 3.1 document, generated from the operations and the schemas of their inputs. Each call returns a new object of
 * plain JSON.
 *
 * @throws TypeError if `baseUrl` is not a string, or ends in a slash.
 * @see https://spec.openapis.org/oas/v3.1.0
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { baseUrl = "" } = options;
  if (typeof baseUrl !== "string" || baseUrl.endsWith("/"))
    throw new TypeError('"baseUrl" must be a string without a slash at its end');
  return documentOf(V1, baseUrl);
}

/**
 * A version of the contract as an OpenAPI 3.1 document.
 *
 * @param baseUrl - As in {@link OpenApiOptions}.
 */
export function documentOf(contract: Contract, baseUrl: string): OpenApiDocument {
  const { version, operations, introduction } = contract;
  const schemas: Components = new Map();
  const responses: Components = new Map();
  const paths = operations.map((operation) => [
    `/${version}/${operation.name}`,
    pathItemOf(contract, operation, schemas, responses),
  ]);
  const document: OpenApiDocument = {
    openapi: "3.1.0",
    info: { title: "latchkey", version: packageVersion(), description: introduction },
    servers: [{ url: baseUrl === "" ? "/" : baseUrl }],
    security: [{ rootKey: [] }],
    tags: tagsOf(operations.map(({ name }) => name)),
    paths: Object.fromEntries(paths),
    components: {
      schemas: sorted(schemas),
      responses: sorted(responses),
      headers: {
        RequestId: {
          description: "Id of this request: quote it when you report a problem.",
          schema: { type: "string" },
        },
      },
      securitySchemes: {
        rootKey: { type: "http", scheme: "bearer", description: "A root key." },
      },
    },
  };
  // A copy: examples are shared constants, and a caller may change the document.
  return structuredClone(document);
}

function sorted(components: Components): JsonSchema {
  return Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
}
