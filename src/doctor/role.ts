import type { Config, EnvironmentVariables } from '../config.js';
import type { EndpointConfig } from '../llm/endpoint.js';

/** The variables to change, by name: those that the value in use came from, or would come from. */
export interface RoleSettings {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly windowTokens: string;
  readonly maxOutputTokens: string;
}

/** One endpoint to check, for the roles that use it. */
export interface Role {
  /** E.g. `compact`, or `main and compact`. */
  readonly name: string;
  readonly endpoint: EndpointConfig;
  readonly settings: RoleSettings;
}

/** The configured endpoints, each once: roles that differ in nothing are checked together. */
export function rolesOf(config: Config, variables: EnvironmentVariables): readonly Role[] {
  const { main, compact } = config;
  const roles: Role[] = [];
  const same = main !== null && compact !== null && JSON.stringify(main) === JSON.stringify(compact);
  if (main !== null) {
    roles.push({ name: same ? 'main and compact' : 'main', endpoint: main, settings: MAIN });
  }
  if (compact !== null && !same) {
    roles.push({ name: 'compact', endpoint: compact, settings: compactSettings(variables) });
  }
  return roles;
}

const MAIN: RoleSettings = {
  model: 'MAIN_MODEL',
  baseUrl: 'OPENAI_BASE_URL',
  apiKey: 'OPENAI_API_KEY',
  windowTokens: 'MAIN_WINDOW_TOKENS',
  maxOutputTokens: 'MAIN_MAX_OUTPUT_TOKENS',
};

/** `compact` takes from main what it is not given itself, so that the variable to correct may be main's. */
function compactSettings(variables: EnvironmentVariables): RoleSettings {
  const own = (name: string, ofMain: string): string => {
    const isSet = (variable: string) => (variables[variable] ?? '').trim() !== '';
    return isSet(ofMain) && !isSet(name) ? ofMain : name;
  };
  return {
    model: own('COMPACT_MODEL', 'MAIN_MODEL'),
    baseUrl: own('COMPACT_BASE_URL', 'OPENAI_BASE_URL'),
    apiKey: own('COMPACT_API_KEY', 'OPENAI_API_KEY'),
    windowTokens: own('COMPACT_WINDOW_TOKENS', 'MAIN_WINDOW_TOKENS'),
    maxOutputTokens: own('COMPACT_MAX_OUTPUT_TOKENS', 'MAIN_MAX_OUTPUT_TOKENS'),
  };
}
