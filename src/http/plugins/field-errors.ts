import type { FastifyError } from 'fastify';
import type { FieldError } from '../../errors.js';

const PARTS: Readonly<Record<string, FieldError['in']>> = {
  body: 'body',
  params: 'path',
  querystring: 'query',
  headers: 'header',
};

/** Which fields a request failed validation by, from the validator's own errors. */
export function fieldErrors(error: FastifyError): FieldError[] {
  const part = PARTS[error.validationContext ?? 'body'] ?? 'body';
  return (
    (error.validation ?? [])
      // `if` only says that its branch failed; the branch's own error stands beside it.
      .filter((failure) => failure.keyword !== 'if')
      .map((failure) => ({ in: part, pointer: pointerTo(failure), message: messageOf(failure) }))
  );
}

type Failure = NonNullable<FastifyError['validation']>[number];

/** The field itself: for a missing or unknown member, the member rather than the object around it. */
function pointerTo({ instancePath, params }: Failure): string {
  const member = params['missingProperty'] ?? params['additionalProperty'];
  return typeof member === 'string' ? `${instancePath}/${escapePointer(member)}` : instancePath;
}

function messageOf({ keyword, params, message }: Failure): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'enum':
      return `must be one of ${asList(params['allowedValues'])}`;
    case 'type':
      return `must be ${asList(params['type'])}`;
    default:
      return message ?? 'is not valid';
  }
}

function asList(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
