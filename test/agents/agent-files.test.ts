import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config.js';
import { runScript } from '../cli/run-command.js';
import { startService, temporaryFolder } from '../support/service.js';

/** A folder of agent files, and starts of the service with it on one database. */
function agentFolder() {
  const root = temporaryFolder();
  const folder = join(root, 'agents');
  mkdirSync(folder);
  const file = join(root, 'compactd.db');
  return {
    folder,
    file,
    variables: { AGENTS_DIR: folder, DATABASE_URL: `file:${file}` },
    write: (name: string, content: unknown) =>
      writeFileSync(
        join(folder, name),
        typeof content === 'object' ? JSON.stringify(content) : String(content),
      ),
    start: () => startService({ AGENTS_DIR: folder }, file),
    /** The lines of the refusal, the folder left out of them. */
    refusal: async (): Promise<string[]> => {
      const error = await startService({ AGENTS_DIR: folder }, file).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(ConfigError);
      const [heading, ...lines] = error instanceof Error ? error.message.split('\n') : [];
      expect(heading).toBe('The agent files are not valid:');
      return lines.map((line) => line.trim().replaceAll(`${folder}/`, ''));
    },
  };
}

describe('agent files', () => {
  it('define agents at the start, in any order, under their own names or that of the file', async () => {
    const at = agentFolder();
    at.write('a-guide.json', {
      name: 'guide',
      subagents: ['b-clerk'],
      daemon: { prompt: 'p', everySeconds: 60 },
    });
    at.write('b-clerk.json', `\ufeff{ "description": "d" }\n`);
    at.write('.hidden.json', '{');
    at.write('notes.md', 'not an agent');
    mkdirSync(join(at.folder, '..data'));
    const elsewhere = join(at.folder, '..data', 'linked');
    writeFileSync(elsewhere, '{"description":"linked"}');
    symlinkSync(elsewhere, join(at.folder, 'linked.json'));
    const started = Date.now();
    const service = await at.start();
    expect((await service.call('GET', '/agents')).body.data).toMatchObject([
      { name: 'linked', description: 'linked' },
      { name: 'b-clerk', description: 'd' },
      { name: 'guide', subagents: ['b-clerk'] },
    ]);
    const [row] = service.sql("SELECT tick_due_at FROM agents WHERE name = 'guide'");
    const [due] = Object.values(row ?? {});
    expect(due).toBeGreaterThanOrEqual(started + 60_000);
  });

  it('are applied once for each content: a restart does not undo what was changed meanwhile', async () => {
    const at = agentFolder();
    at.write('a.json', { description: 'from file' });
    at.write('b.json', { description: 'from file' });
    const first = await at.start();
    await first.agent('a', { description: 'changed' });
    expect((await first.call('DELETE', '/agents/b')).status).toBe(204);
    expect((await first.call('GET', '/agents')).body.data.length).toBe(1);
    await first.close();

    const second = await at.start();
    expect((await second.call('GET', '/agents/a')).body).toMatchObject({ description: 'changed' });
    expect((await second.call('GET', '/agents/b')).status).toBe(404);
    expect((await second.call('DELETE', '/agents/b')).status).toBe(404);
    await second.close();

    at.write('a.json', { description: 'new in file' });
    at.write('b.json', { description: 'new in file' });
    const third = await at.start();
    const descriptions = async () =>
      (await third.call('GET', '/agents')).body.data.map((each) => Object.entries(each).slice(0, 2).flat());
    expect(await descriptions()).toEqual([
      ['name', 'b', 'description', 'new in file'],
      ['name', 'a', 'description', 'new in file'],
    ]);
    await third.close();
  });

  it('that were deleted over HTTP can be defined over HTTP again, and the file stays applied', async () => {
    const at = agentFolder();
    at.write('a.json', { description: 'from file' });
    const first = await at.start();
    await first.call('DELETE', '/agents/a');
    expect((await first.call('PUT', '/agents/a', { description: 'mine' })).status).toBe(201);
    await first.close();
    const second = await at.start();
    expect((await second.call('GET', '/agents/a')).body).toMatchObject({ description: 'mine' });
    expect(second.sql('SELECT count(*) AS n FROM agents')).toEqual([{ n: 1 }]);
  });

  it('take over agents that were defined over HTTP; agents whose files are gone stay', async () => {
    const at = agentFolder();
    const first = await at.start();
    await first.agent('a', { description: 'mine' });
    await first.close();
    at.write('a.json', { description: 'from file' });
    const second = await at.start();
    expect((await second.call('GET', '/agents/a')).body).toMatchObject({ description: 'from file' });
    await second.close();
    rmSync(join(at.folder, 'a.json'));
    const third = await at.start();
    expect((await third.call('GET', '/agents/a')).body).toMatchObject({ description: 'from file' });
  });

  it('are all wrong at once: each fault is named by file, pointer and reason, and nothing is stored', async () => {
    const at = agentFolder();
    at.write('a.json', { description: 'fine' });
    at.write('b.json', '{"description":');
    at.write('c.json', { tools: [{ type: 'function', function: { nam: 't' } }] });
    at.write('d.json', { name: 'a' });
    at.write('e f.json', {});
    writeFileSync(join(at.folder, 'g.json'), Buffer.from([0x22, 0xff, 0x22]));
    at.write('h.json', '[]');
    mkdirSync(join(at.folder, 'i.json'));
    at.write('j.json', { systemPrompt: '\ud83d' });
    at.write('k.json', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`);
    expect(await at.refusal()).toEqual([
      expect.stringMatching(/^b\.json: is not valid JSON: /),
      'c.json: /tools/0/function/name is required',
      'c.json: /tools/0/function/nam is not a known field',
      'd.json: /name is the agent of a.json already: a',
      'e f.json: /name is required, since the name of the file does not match ^[A-Za-z0-9_-]{1,64}$',
      'g.json: is not valid UTF-8',
      'h.json: must be object',
      expect.stringMatching(/^i\.json: cannot be read: EISDIR/),
      'j.json: /systemPrompt must not hold half of a surrogate pair',
      'k.json: /a is not a known field',
    ]);
    const service = await startService({}, at.file);
    expect((await service.call('GET', '/agents')).body.data).toEqual([]);
  });

  it('must fit each other and what is stored, all or none', async () => {
    const at = agentFolder();
    at.write('a.json', { subagents: ['b', 'nobody'] });
    at.write('b.json', {});
    expect(await at.refusal()).toEqual(['a.json: /subagents/1 is no agent: nobody']);

    at.write('a.json', { subagents: ['b'] });
    at.write('b.json', { subagents: ['a'] });
    expect(await at.refusal()).toEqual([
      'a.json: /subagents/0 makes a loop: a -> b -> a',
      'b.json: /subagents/0 makes a loop: b -> a -> b',
    ]);

    const other = await startService({}, at.file);
    expect((await other.call('GET', '/agents')).body.data).toEqual([]);
    for (const [name, ...subagents] of [['z'], ['y', 'z'], ['x', 'y']])
      await other.agent(name ?? '', { subagents });
    await other.close();
    at.write('a.json', { subagents: ['b'] });
    at.write('b.json', { subagents: ['x'] });
    expect((await at.refusal())[0]).toBe(
      'a.json: /subagents/0 leads more than 3 levels below an agent: a -> b -> x -> y -> z',
    );
    at.write('b.json', { subagents: ['y'] });
    const service = await at.start();
    expect((await service.call('GET', '/agents/b')).body).toMatchObject({ subagents: ['y'] });
  });

  it('whose content is applied already are no longer looked at for their subagents', async () => {
    const at = agentFolder();
    at.write('a.json', { subagents: ['b'] });
    at.write('b.json', {});
    const first = await at.start();
    await first.agent('a');
    await first.agent('b', { subagents: ['a'] });
    await first.close();
    at.write('c.json', { subagents: ['b'] });
    const second = await at.start();
    expect((await second.call('GET', '/agents/b')).body).toMatchObject({ subagents: ['a'] });
  });

  it('are applied once by services that start at the same time', async () => {
    const at = agentFolder();
    for (let index = 0; index < 20; index += 1) at.write(`a${index}.json`, { description: `${index}` });
    const services = await Promise.all([at.start(), at.start(), at.start()]);
    for (const service of services) {
      expect((await service.call('GET', '/agents')).body.data.length).toBe(20);
    }
    expect(services[0]?.sql('SELECT count(*) AS n FROM agents')).toEqual([{ n: 20 }]);
  });

  it('in a folder that is not there stop the start', async () => {
    const at = agentFolder();
    rmSync(at.folder, { recursive: true });
    expect(await at.refusal()).toEqual([expect.stringMatching(/^.*agents: cannot be read: ENOENT/)]);
  });

  it('stop the process with what is wrong, and no stack', async () => {
    const at = agentFolder();
    at.write('guide.json', { defaultCompaction: { compactionCount: 100 } });
    const run = await runScript('src/server.ts', [], {
      env: { ...at.variables, PORT: '0', LOG_LEVEL: 'silent' },
    });
    expect(run).toEqual({
      code: 1,
      stdout: '',
      stderr: `The agent files are not valid:\n  ${at.folder}/guide.json: /defaultCompaction/compactionCount must be <= 99\n`,
    });
  });
});

describe('the example agents', () => {
  it('can be started with', async () => {
    const folder = fileURLToPath(new URL('../../examples/agents', import.meta.url));
    const service = await startService({ AGENTS_DIR: folder });
    const { body } = await service.call('GET', '/agents');
    expect(body.data).toMatchObject([
      { name: 'ferry-clerk', subagents: ['fare-checker'] },
      { name: 'fare-checker' },
    ]);
  });
});
