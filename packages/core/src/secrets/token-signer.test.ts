import { expect, test } from "vitest";
import { createTokenSigner } from "./token-signer.js";

const seed = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
const ring = { current: "a", keys: { a: seed } };

test("the public key is that of RFC 8032 section 7.1, test 1", async () => {
  const bytes = Buffer.from(
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "hex",
  );
  const { keys } = await createTokenSigner({ current: "a", keys: { a: bytes } }).publicKeys();
  expect(keys).toEqual([
    {
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      kid: "a",
      alg: "EdDSA",
      use: "sig",
    },
  ]);
});

test.each([
  "ERR_MODULE_NOT_FOUND",
  // As a bundler says it that built the program without jose.
  "MODULE_NOT_FOUND",
])(
  "says how to install jose where it is missing, and finds it once it is there: %s",
  async (code) => {
    let isThere = false;
    const missing = Object.assign(new Error("Cannot find package 'jose' imported from core"), {
      code,
    });
    const signer = createTokenSigner(ring, () =>
      isThere ? import("jose") : Promise.reject(missing),
    );
    await expect(signer.ready()).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "driver-missing",
      message: "jose is not installed: run `npm install jose@6`",
    });
    isThere = true;
    expect(await signer.sign({ sub: "key_1" })).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  },
);

test("any other failure to load it is what it is", async () => {
  const broken = new Error("broken");
  await expect(createTokenSigner(ring, () => Promise.reject(broken)).ready()).rejects.toBe(broken);
});
