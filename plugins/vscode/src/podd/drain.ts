import type { ClientReadableStream, ServiceError } from "@grpc/grpc-js";

import { poddError } from "./errors";

/** drain reads a stream to its end, or until signal is aborted; it fails with a PoddError. */
export function drain<M>(stream: ClientReadableStream<M>, take: (m: M) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = () => stream.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const done = () => signal?.removeEventListener("abort", cancel);
    stream.on("data", take);
    stream.on("error", (err: ServiceError) => {
      done();
      reject(poddError(err));
    });
    stream.on("end", () => {
      done();
      resolve();
    });
  });
}
