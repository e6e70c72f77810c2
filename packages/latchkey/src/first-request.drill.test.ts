import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { PACKAGE_FOLDER, REPOSITORY, textOf } from "./testing/pages.js";
import { tempFolder } from "./testing/temp-folder.js";

/** The program of the front page, and its commands, each with the answer that its comment promises. */
function section() {
  const [, text = ""] = textOf("README.md").split("\n## Quick start\n");
  const [, program = ""] = /^```js\n(.*?)^```$/ms.exec(text) ?? [];
  const [, block = ""] = /^```console\n(.*?)^```$/ms.exec(text) ?? [];
  const commands = [...block.matchAll(/^\$ (.*?) +# (.*)$/gm)].map(
    ([, command = "", said = ""]) => ({
      command,
      said,
    }),
  );
  return { program, commands };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Starts the program in a folder with latchkey and the guard installed, and returns the first line that it prints. */
async function start(program: string): Promise<string> {
  const folder = tempFolder();
  mkdirSync(join(folder, "node_modules", "@latchkey"), { recursive: true });
  symlinkSync(PACKAGE_FOLDER, join(folder, "node_modules", "latchkey"), "junction");
  const guard = join(REPOSITORY, "packages", "guard");
  symlinkSync(guard, join(folder, "node_modules", "@latchkey", "guard"), "junction");
  writeFileSync(join(folder, "server.mjs"), program);
  const server: ChildProcess = spawn(process.execPath, ["server.mjs"], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    server.kill();
  });
  if (server.stdout === null) throw new TypeError("the program has no output");
  const [line] = await once(createInterface(server.stdout), "line");
  return String(line);
}

test("the quick start of the front page ends in a 200 with curl, and in a 401 without the key", async () => {
  const { program, commands } = section();
  const port = `${await freePort()}`;
  const printed = await start(program.replace("3000", port));
  expect(printed).toMatch(/^KEY=maps_[1-9A-HJ-NP-Za-km-z]+$/);
  const answers = commands.map(({ command }) => {
    const typed = `${printed}\n${command.replace("3000", port)}`;
    return spawnSync("sh", ["-c", typed], { encoding: "utf8" }).stdout.split("\r\n")[0];
  });
  expect(answers).toEqual(commands.map(({ said }) => said));
  expect(answers).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 401 Unauthorized"]);
});
