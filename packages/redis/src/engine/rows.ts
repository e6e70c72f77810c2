/** What a script is told in letters, with the Redis keys and the arguments that each takes. */
export class Rows {
  letters = "";
  readonly keys: string[] = [];
  readonly args: string[] = [];

  add(letter: string, keys: readonly string[], ...args: readonly string[]): void {
    this.letters += letter;
    this.keys.push(...keys);
    this.args.push(...args);
  }
}
