import { counted, megabytes } from './number-text.js';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Between lines where there is no terminal to draw on, in ms. */
const REPORT_MS = 5_000;

export interface ProgressState {
  readonly bytes: number;
  /** Null when the end is not known. */
  readonly totalBytes: number | null;
  readonly sessions: number;
  readonly messages: number;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /** Writes a line that stays, above the bar. */
  line(text: string): void;
  /** Takes the bar away. */
  end(): void;
}

/** Shows how far an import is. */
export function showProgress(stream: ProgressStream, state: () => ProgressState): Progress {
  return showText(stream, (bar) => progressText(state(), bar));
}

/**
 * Shows how far some work is: a text with a bar that redraws itself on a terminal, otherwise a line every five
 * seconds.
 */
export function showText(stream: ProgressStream, text: (bar: boolean) => string): Progress {
  const terminal = stream.isTTY === true;
  const clear = () => {
    if (terminal) stream.write('\r\u001b[K');
  };
  const draw = () => {
    if (terminal) stream.write(`\r\u001b[K${text(true).slice(0, (stream.columns ?? 80) - 1)}`);
    else stream.write(`${text(false)}\n`);
  };
  const timer = setInterval(draw, terminal ? REDRAW_MS : REPORT_MS);
  timer.unref();
  return {
    line(text) {
      clear();
      stream.write(`${text}\n`);
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

export function progressText({ bytes, totalBytes, sessions, messages }: ProgressState, bar: boolean): string {
  const counts = `${counted(sessions, 'session')}  ${counted(messages, 'message')}`;
  if (totalBytes === null || totalBytes === 0) return `${megabytes(bytes)}  ${counts}`;
  // A file that grows while it is read has more than all of its bytes.
  const share = Math.min(1, bytes / totalBytes);
  return `${shareText(share, bar)}  ${megabytes(bytes)} of ${megabytes(totalBytes)}  ${counts}`;
}

/** `[############------------]  50%`, or ` 50%` without a bar. */
export function shareText(share: number, bar: boolean): string {
  const done = Math.round(share * BAR_WIDTH);
  const drawn = bar ? `[${'#'.repeat(done)}${'-'.repeat(BAR_WIDTH - done)}] ` : '';
  return `${drawn}${`${Math.floor(share * 100)}%`.padStart(4)}`;
}
