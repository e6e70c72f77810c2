import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { createLatchkey } from "./latchkey.js";
import type { KeyStore } from "./store/key-store.js";

const core = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(dirname(dirname(core)), "node_modules", "typescript", "bin", "tsc");

/** A program with the published package installed. */
const program = mkdtempSync(join(tmpdir(), "latchkey-types-"));
afterAll(() => rmSync(program, { recursive: true, force: true }));
mkdirSync(join(program, "node_modules", "@latchkey"), { recursive: true });
symlinkSync(core, join(program, "node_modules", "@latchkey", "core"), "junction");
writeFileSync(join(program, "package.json"), '{ "type": "module" }');

const HEAD = `import { createLatchkey, type InputOf, type KeyStore } from "@latchkey/core";
declare const store: KeyStore;
const latchkey = createLatchkey({ store, permissions: ["docs.read"] });
`;

function write(name: string, text: string): string {
  const path = join(program, name);
  writeFileSync(path, HEAD + text);
  return path;
}

/** What an editor shows at the places that `//^` marks in the line below them. */
async function hoverTexts(path: string): Promise<readonly string[]> {
  const server = spawn(process.execPath, [tsc, "--lsp", "--stdio"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const answers = new Map<number, (result: unknown) => void>();
  let received = Buffer.alloc(0);
  const send = (message: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  server.stdout.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const start = received.indexOf("\r\n\r\n") + 4;
      const [, length] = /Content-Length: (\d+)/.exec(received.toString("latin1", 0, start)) ?? [];
      const end = start + Number(length);
      if (start < 4 || received.length < end) return;
      const message = JSON.parse(received.toString("utf8", start, end));
      received = received.subarray(end);
      if (message.method === undefined) answers.get(message.id)?.(message.result);
      else if (message.id !== undefined) send({ id: message.id, result: null });
    }
  });
  const request = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      const id = answers.size + 1;
      answers.set(id, resolve);
      send({ id, method, params });
    });
  const uri = pathToFileURL(path).href;
  const text = readFileSync(path, "utf8");
  await request("initialize", {
    processId: null,
    rootUri: pathToFileURL(program).href,
    capabilities: { textDocument: { hover: { contentFormat: ["plaintext"] } } },
  });
  send({ method: "initialized", params: {} });
  const textDocument = { uri, languageId: "typescript", version: 1, text };
  send({ method: "textDocument/didOpen", params: { textDocument } });
  const texts: string[] = [];
  for (const [line, mark] of text.split("\n").entries()) {
    const character = mark.indexOf("//^") + 2;
    if (character < 2) continue;
    const position = { line: line - 1, character };
    const shown = await request("textDocument/hover", { textDocument: { uri }, position });
    texts.push((shown as { readonly contents: { readonly value: string } }).contents.value);
  }
  server.kill();
  await once(server, "exit");
  return texts;
}

test("an editor shows what a field of an input takes, with the published types too", async () => {
  const path = write(
    "hover.ts",
    `await latchkey.createKey({
  apiId: "api_1",
//^
  prefix: "pay",
//^
  permissions: ["docs.read"],
//^
});
await latchkey.updateKey({
  keyId: "key_1",
//^
  remaining: null,
//^
});
await latchkey.verifyKey({
  key: "secret",
//^
  ratelimits: [{ name: "requests",
               //^
  cost: 1 }],
//^
});
await latchkey.listKeys({ apiId: "api_1",
                        //^
  limit: 1 });
//^
export const input: InputOf<"createKey"> = {
  apiId: "api_1",
//^
};`,
  );
  const texts = await hoverTexts(path);
  const expected = [
    "Id of its API.",
    "at most 16 of",
    "Names of existing permissions, beside those of its roles: at most 1,000.",
    "Id of the key.",
    "null for unlimited, which also removes the refill.",
    "The presented secret: any text",
    "1 to 128 characters.",
    "Whole and >= 0. Default: 1.",
    "Id of the API.",
    "Most items of the page: 1 to 100. Default: 100.",
    "Id of its API.",
  ];
  expect(texts).toHaveLength(expected.length);
  for (const [index, text] of expected.entries()) expect(texts[index]).toContain(text);
  // A program that declares its permissions sees them there.
  expect(texts[2]).toContain('"docs.read"');
});

test("a program that exports functions of a latchkey gets its own declarations of them", async () => {
  const store = { charge: () => undefined } as unknown as KeyStore;
  const names = Object.keys(createLatchkey({ store }));
  write("exporting.ts", `export const { ${names.join(", ")} } = latchkey;\n`);
  const options = ["--declaration", "--strict", "--skipLibCheck", "--module", "nodenext"];
  const files = ["--target", "es2024", "--outDir", join(program, "out"), "exporting.ts"];
  const compiling = promisify(execFile)(process.execPath, [tsc, ...options, ...files], {
    cwd: program,
  });
  await expect(compiling).resolves.toMatchObject({ stdout: "" });
  const declarations = readFileSync(join(program, "out", "exporting.d.ts"), "utf8");
  for (const name of names) expect(declarations).toContain(`${name}:`);
});
