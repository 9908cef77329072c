/**
 * A module of the built service. Benchmarks measure what is shipped, not what a loader makes of the sources;
 * the caller names the source's type: `built<typeof import('../src/ids.js')>('ids.js')`.
 */
export async function built<Module>(path: string): Promise<Module> {
  const module: Module = await import(builtUrl(path).href);
  return module;
}

export function builtUrl(path: string): URL {
  return new URL(`../../dist/${path}`, import.meta.url);
}
