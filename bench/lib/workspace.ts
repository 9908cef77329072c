import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataset } from './dataset.js';

/** The files of one run: a temporary directory that `remove` deletes, databases included. */
export class Workspace {
  readonly #directory = mkdtempSync(join(tmpdir(), 'compactd-bench-'));
  #dataset: Promise<string> | null = null;
  #files = 0;

  /** Path of a database that does not exist yet. */
  emptyDatabase(): string {
    this.#files += 1;
    return join(this.#directory, `${this.#files}.db`);
  }

  /** Path of a database of its own with a session of each size; the first call takes some seconds. */
  async seededDatabase(): Promise<string> {
    this.#dataset ??= this.#seed();
    const seeded = await this.#dataset;
    const copy = this.emptyDatabase();
    copyFileSync(seeded, copy);
    return copy;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #seed(): Promise<string> {
    const path = this.emptyDatabase();
    const started = performance.now();
    await createDataset(path);
    process.stderr.write(`seeded in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
    return path;
  }
}
