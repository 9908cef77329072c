import type { Answer, AnyBody, TestService } from '../support/service.js';

/** Requests with an Idempotency-Key, and what is left of them. */

export const keyed = (key: string) => ({ 'idempotency-key': key });

export const appendWith = (service: TestService, key: string, body: unknown, id = 's') =>
  service.call('POST', `/sessions/${id}/messages`, body, keyed(key));

export const createWith = (service: TestService, key: string, body?: object) =>
  service.call('POST', '/sessions', body, keyed(key));

export const compactWith = (service: TestService, id: string, key: string, body?: object) =>
  service.call('POST', `/sessions/${id}/compact`, body, keyed(key));

/** What a client goes by: the status, the code of a problem, and whether the answer was given before. */
export const outcome = ({ status, body, headers }: Answer<AnyBody>) => [
  status,
  body.code,
  headers['idempotency-replayed'],
];

export const keysOf = (service: TestService) =>
  service.sql('SELECT key, status FROM idempotency_keys ORDER BY pk');

export const countOf = (service: TestService, table: 'messages' | 'sessions' | 'compactions') => {
  const [row] = service.sql(`SELECT count(*) AS n FROM ${table}`);
  return row;
};
