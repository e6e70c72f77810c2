import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiDocument } from "../openapi/document.js";

/** A request and its response, to be checked against the document. */
export interface Exchange {
  readonly method: string;
  /** Path as in the document, without a query: `/v1/keys.createKey`. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** The input, if it was JSON. */
  readonly sent: object | undefined;
}

/** Returns everything in an exchange that does not match the document; empty if all is well. */
export type ResponseChecker = (exchange: Exchange) => string[];

type Node = { readonly [member: string]: Node };

/** Errors of requests that reach no operation, which a document cannot describe: the code in v1, the title in v2. */
const NO_OPERATION: ReadonlyMap<number, readonly unknown[]> = new Map([
  [404, ["NOT_FOUND", "Not Found"]],
  [405, ["METHOD_NOT_ALLOWED", "Method Not Allowed"]],
]);

/** Creates a checker from a document. Schemas are compiled on first use. */
export function createResponseChecker(document: OpenApiDocument): ResponseChecker {
  const root = document as unknown as Node;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");

  function problemsAt(pointer: string, value: unknown): string[] {
    const validate = ajv.getSchema(`document#${pointer}`) as ValidateFunction | undefined;
    if (validate === undefined) return [`the document has nothing at ${pointer}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || "the body"} ${message} ${JSON.stringify(params)}`,
    );
  }

  return ({ method, path, status, headers, body, sent }) => {
    const verb = method.toLowerCase();
    const id = headers.get("x-request-id");
    const idProblems = id === null ? ["no X-Request-Id"] : [];
    const operation = root.paths?.[path]?.[verb];
    if (operation === undefined) {
      const { code: codeOfV1, title } =
        (body as { error?: { code?: unknown; title?: unknown } } | null)?.error ?? {};
      const code = codeOfV1 ?? title;
      const isDescribed = NO_OPERATION.get(status)?.includes(code) === true;
      return isDescribed
        ? idProblems
        : [...idProblems, `${status} ${code} where there is no operation`];
    }
    const at = `/paths/${path.replaceAll("/", "~1")}/${verb}`;
    const response = operation.responses?.[String(status)];
    if (response === undefined) return [...idProblems, `no response ${status} of ${verb} ${path}`];
    const reference = (response as { readonly $ref?: unknown }).$ref;
    const responseAt =
      typeof reference === "string" ? reference.slice(1) : `${at}/responses/${status}`;
    const content = "content/application~1json/schema";
    return [
      ...idProblems,
      ...problemsAt(`${responseAt}/${content}`, body),
      ...(status === 200 && operation.requestBody !== undefined && sent !== undefined
        ? problemsAt(`${at}/requestBody/content/${mediaOf(operation)}/schema`, sent).map(
            (problem) => `sent: ${problem}`,
          )
        : []),
    ];
  };
}

/** The media type of a body, as a step of a pointer. */
function mediaOf({ requestBody }: Node): string {
  const [media = ""] = Object.keys(requestBody?.content ?? {});
  return media.replaceAll("/", "~1");
}
