/** The last version before 3, under another name. Its middleware has the types of 3. */
declare module "koa-2" {
  export { default } from "koa";
}
