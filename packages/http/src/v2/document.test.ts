import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { documentOf } from "../openapi/document.js";
import { openService, read } from "../testing/open-service.js";
import { V2 } from "./contract.js";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
const document: any = documentOf(V2, "");

test("is valid OpenAPI 3.1, and has every operation as a POST and nothing else", async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  expect(Object.keys(document.paths)).toEqual(V2.operations.map(({ name }) => `/v2/${name}`));
  for (const { name } of V2.operations) {
    const { post, ...others } = document.paths[`/v2/${name}`];
    expect([post.operationId, others]).toEqual([name, {}]);
    expect(post.requestBody.content["application/json"].schema.type).toMatch(/^(?:object|array)$/);
  }
});

test.each(V2.operations)("the examples of $name are valid input and a valid response", (one) => {
  expect(one.input.safeParse(one.example.input).error).toBeUndefined();
  expect(one.response.safeParse(one.example.response).error).toBeUndefined();
});

test("has its own notes on fields that mean something else in v1", () => {
  const { properties } =
    document.paths["/v2/apis.listKeys"].post.requestBody.content["application/json"].schema;
  expect(properties.limit).toMatchObject({
    type: "integer",
    maximum: 100,
    description: "Largest number of items on the page.",
  });
  const { error } = document.components.schemas.NotFoundError.properties;
  expect(error.properties.status).toMatchObject({ const: 404 });
});

test("is served to everyone below the base path, with the page that displays it", async () => {
  const { handler } = await openService({ basePath: "/internal/keys" });
  const get = (path: string) => handler(new Request(`http://keys.test/internal/keys/v2/${path}`));
  expect((await read(await get("openapi.json"))).body).toEqual(documentOf(V2, "/internal/keys"));
  const page = await (await get("docs")).text();
  const [, script] = /src="([^"]*page\.js)"/.exec(page) ?? [];
  expect((await get(script as string)).status).toBe(200);
});
