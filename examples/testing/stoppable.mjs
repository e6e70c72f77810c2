/** Loaded before a server of the examples: whoever reads its first line may stop it, so it must be ready to end by then. */
const { log } = console;
console.log = (...args) => {
  if (process.listenerCount("SIGTERM") === 0)
    throw new Error("the server printed a line before it could be stopped");
  log(...args);
};
