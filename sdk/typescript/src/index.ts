export { type Answer, Client, make, type ClientOptions, type SubmitOptions } from "./client";
export { PoddError } from "./errors";
export { type Places, places } from "./places";
export { read, type StreamOptions } from "./stream";
export { Transcript } from "./transcript";
export type { Block, Call, Change, Image as BlockImage, Question } from "../../../internal/web/page/types";

export * from "./gen/podd/v1/admin";
export * from "./gen/podd/v1/alert";
export * from "./gen/podd/v1/approval";
export * from "./gen/podd/v1/checkout";
export * from "./gen/podd/v1/entry";
export * from "./gen/podd/v1/file";
export * from "./gen/podd/v1/fleet";
export * from "./gen/podd/v1/item";
export * from "./gen/podd/v1/job";
export * from "./gen/podd/v1/mcp";
export * from "./gen/podd/v1/plugin";
export * from "./gen/podd/v1/pod";
