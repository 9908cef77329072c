import { open } from 'node:fs/promises';

/** Bytes to read, and how many there are and were read. */
export interface Input {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Size in bytes; null when nobody knows, as of a pipe. */
  readonly totalBytes: number | null;
  readonly bytesRead: () => number;
  /** Ends the reading as if the input ended here. */
  readonly stop: () => void;
}

/** The input could not be read to its end. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** Opens a file, or standard input for `-`. Throws when there is no such file, or it cannot be read. */
export async function openInput(path: string): Promise<Input> {
  if (path === '-') return inputOf(process.stdin, null);
  const file = await open(path);
  const stat = await file.stat();
  if (stat.isDirectory()) {
    await file.close();
    throw new Error('it is a directory');
  }
  return inputOf(file.createReadStream({ highWaterMark: 256 * 1024 }), stat.isFile() ? stat.size : null);
}

type ByteStream = AsyncIterable<unknown> & { destroy(): unknown };

function inputOf(stream: ByteStream, totalBytes: number | null): Input {
  let bytes = 0;
  let stopped = false;
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('the input is not a stream of bytes');
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (stopped) return;
      throw new InputError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
  return {
    chunks: read(),
    totalBytes,
    bytesRead: () => bytes,
    stop: () => {
      stopped = true;
      stream.destroy();
    },
  };
}
