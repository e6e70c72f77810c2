/** Koa 2, installed under another name. Its middleware is typed as in 3. */
declare module "koa-2" {
  export { default } from "koa";
}
