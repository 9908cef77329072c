import AjvCompiler from '@fastify/ajv-compiler';
import type { FastifyServerOptions } from 'fastify';

/**
 * Bodies are validated as they are: nothing is coerced, nothing is dropped. Fastify's defaults would turn a
 * null content into "", a string into a list, and delete fields that one branch of a union does not know:
 * messages must be stored as they were sent. Path, query and headers are strings by nature and are coerced.
 */

const COMMON = {
  allErrors: false,
  removeAdditional: false,
  useDefaults: true,
  allowUnionTypes: true,
} as const;

type Controller = NonNullable<FastifyServerOptions['schemaController']>;
type BuildValidator = NonNullable<NonNullable<Controller['compilersFactory']>['buildValidator']>;

const buildValidator: BuildValidator = (externalSchemas) => {
  // Both see the same components: a compiler set from outside could not resolve references to them.
  const compile = (coerceTypes: false | 'array') =>
    AjvCompiler()(externalSchemas, { customOptions: { ...COMMON, coerceTypes } });
  const strict = compile(false);
  const coercing = compile('array');
  return (route) => (route.httpPart === 'body' ? strict(route) : coercing(route));
};

export const schemaController: Controller = { compilersFactory: { buildValidator } };
