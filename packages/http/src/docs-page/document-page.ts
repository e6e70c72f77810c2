import { openApiDocument } from "../openapi/document.js";
import { once, type Page } from "./page.js";

/** The document of a service that is mounted on this path. */
export function documentPage(basePath: string): Page {
  return {
    name: "openapi.json",
    method: "GET",
    content: once(async () => ({
      body: new TextEncoder().encode(JSON.stringify(openApiDocument({ baseUrl: basePath }))),
      headers: {},
    })),
  };
}
