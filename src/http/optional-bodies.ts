import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';

/**
 * Says in the document which bodies may be left out. Validation sees a missing body as null, so those schemas
 * allow null; clients are better told that the body is an object and not required.
 */
export function withOptionalBodies(
  document: Partial<OpenAPIV3.Document | OpenAPIV3_1.Document>,
): Partial<OpenAPIV3.Document | OpenAPIV3_1.Document> {
  const schemas: Record<string, object> = document.components?.schemas ?? {};
  const optional = new Set(
    Object.entries(schemas)
      .filter(([, schema]) => 'type' in schema && isObjectOrNull(schema.type))
      .map(([name]) => name),
  );
  for (const name of optional) Object.assign(schemas[name] ?? {}, { type: 'object' });
  for (const item of Object.values(document.paths ?? {})) {
    const body = item?.post?.requestBody;
    if (body === undefined || '$ref' in body) continue;
    const schema = body.content['application/json']?.schema;
    if (schema !== undefined && '$ref' in schema && optional.has(schema.$ref.split('/').at(-1) ?? '')) {
      body.required = false;
    }
  }
  return document;
}

function isObjectOrNull(type: unknown): boolean {
  return Array.isArray(type) && type.length === 2 && type.includes('object') && type.includes('null');
}
