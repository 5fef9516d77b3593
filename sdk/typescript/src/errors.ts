import type { ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";

/** PoddError is an error of podd: one sentence, and a reason for programs. */
export class PoddError extends Error {
  constructor(
    message: string,
    /** Such as POD_NOT_FOUND; empty for an error of gRPC itself. */
    readonly reason: string,
    readonly code: status,
  ) {
    super(message);
  }

  /** Trying again later may help: podd is away or stops, which ends calls as cancelled. */
  get passing(): boolean {
    return this.code === status.UNAVAILABLE || this.code === status.CANCELLED;
  }
}

/** poddError turns an error of grpc-js into a PoddError. */
export function poddError(err: ServiceError): PoddError {
  return new PoddError(err.details || err.message, reason(err), err.code);
}

/**
 * The reason is in a google.rpc.ErrorInfo within the grpc-status-details-bin trailer:
 * Status{details=3: Any{type_url=1, value=2: ErrorInfo{reason=1, domain=2}}}.
 */
function reason(err: ServiceError): string {
  const [raw] = err.metadata?.get("grpc-status-details-bin") ?? [];
  if (!Buffer.isBuffer(raw)) {
    return "";
  }
  for (const any of fields(raw, 3)) {
    const [type] = fields(any, 1);
    const [info] = fields(any, 2);
    if (info && type?.toString().endsWith("/google.rpc.ErrorInfo")) {
      return fields(info, 1)[0]?.toString() ?? "";
    }
  }
  return "";
}

/** fields returns the length-delimited fields of a protobuf message with one number. */
function fields(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < message.length; shift *= 128) {
      const byte = message[at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    if ((key & 7) === 0) {
      varint();
    } else if ((key & 7) === 2) {
      const length = varint();
      if (key >>> 3 === wanted) found.push(message.subarray(at, at + length));
      at += length;
    } else {
      break; // A Status has no other wire type.
    }
  }
  return found;
}
