import { Argument, type Command } from "commander";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { oneOf } from "../command-line/values.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** The words that lead to a command, and those that may come next. */
interface Completion {
  readonly words: readonly string[];
  readonly next: readonly Word[];
}

interface Word {
  readonly word: string;
  readonly text: string;
  /** For an option with a value, the possible words; empty if it takes any text or a file. */
  readonly values?: readonly string[];
}

/** Adds `latchkey completion`: a script with which a shell completes commands and options. */
export function addCompletion(program: Command, host: Host): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>").choices(SHELLS).argParser(oneOf("<shell>", SHELLS)))
    .addHelpText(
      "after",
      example(
        "latchkey completion bash > /etc/bash_completion.d/latchkey",
        'latchkey completion zsh > "$' + '{fpath[1]}/_latchkey"',
        "latchkey completion fish > ~/.config/fish/completions/latchkey.fish",
      ),
    )
    .action((shell: (typeof SHELLS)[number]) => {
      const completions = completionsOf(program, []);
      if (shell === "fish") host.print(fishScript(completions));
      else host.print(shell === "zsh" ? zshScript(completions) : bashScript(completions));
    });
}

function completionsOf(command: Command, words: readonly string[]): readonly Completion[] {
  const commands = command.commands.map((one) => ({
    word: one.name(),
    text: one.summary() || one.description(),
  }));
  const shown = command.options.filter(({ hidden }) => !hidden);
  const options = shown.map(({ long, description, required, argChoices = [] }) => ({
    word: long ?? "",
    text: description,
    ...(required && { values: argChoices }),
  }));
  const help = { word: "--help", text: "print help" };
  return [
    { words, next: [...commands, ...options, help] },
    ...command.commands.flatMap((one) => completionsOf(one, [...words, one.name()])),
  ];
}

/** The script walks the typed words from command to command, and skips words that are no command, such as ids. */
function bashScript(completions: readonly Completion[]): string {
  const steps = completions
    .filter(({ words }) => words.length > 0)
    .map(
      ({ words }) =>
        `      "${pathOf(words.slice(0, -1))} ${words.at(-1)}") command="${pathOf(words)}" ;;`,
    );
  const offers = completions.map(
    ({ words, next }) =>
      `    "${pathOf(words)}") offers="${next.map(({ word }) => word).join(" ")}" ;;`,
  );
  const values = completions.flatMap(({ words, next }) =>
    next.flatMap(({ word, values }) =>
      values === undefined
        ? []
        : [`    "${pathOf(words)} ${word}") offers="${values.join(" ")}"; is_value=1 ;;`],
    ),
  );
  return `_latchkey() {
  local command="latchkey" offers="" is_value="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
${steps.join("\n")}
    esac
  done
  case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
  esac
  [ -n "$is_value" ] || case "$command" in
${offers.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$offers" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _latchkey latchkey`;
}

function pathOf(words: readonly string[]): string {
  return ["latchkey", ...words].join(" ");
}

function zshScript(completions: readonly Completion[]): string {
  return `#compdef latchkey
autoload -U +X bashcompinit && bashcompinit
${bashScript(completions)}`;
}

function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ words, next }) => {
    const deeper = next.filter(({ word }) => !word.startsWith("-")).map(({ word }) => word);
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const unseen = deeper.length > 0 ? [`not __fish_seen_subcommand_from ${deeper.join(" ")}`] : [];
    const condition = [...seen, ...unseen].join("; and ");
    return next.map(({ word, text, values }) => {
      const offer = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`;
      const given = values === undefined ? "-f" : valuesInFish(values);
      return `complete -c latchkey ${given} -n "${condition || "true"}" ${offer} -d '${shortly(text)}'`;
    });
  });
  return lines.join("\n");
}

/** The flags of fish for the possible words of a value, or for a file if there are none. */
function valuesInFish(values: readonly string[]): string {
  return values.length === 0 ? "-r" : `-x -a '${values.join(" ")}'`;
}

/** The first line of a description, escaped for single quotes. */
function shortly(text: string): string {
  return (text.split("\n")[0] ?? "").replaceAll("\\", "").replaceAll("'", "\\'");
}
