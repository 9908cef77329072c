import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_BODY_DEPTH, minify, scanBody } from '../../src/json/scan-body.js';

describe('the scan of a body', () => {
  it('cuts out each message as it was written', () => {
    const body =
      '{"a":["messages",{"messages":[0]}], "messages":[{"b":1,"2":2,"1":9007199254740993},{"c":1e400,"d":"x\\ud83d"}],"z":1}';
    expect(scanBody(body)).toEqual({
      messages: ['{"b":1,"2":2,"1":9007199254740993}', '{"c":1e400,"d":"x\\ud83d"}'],
      tooDeepAt: null,
    });
  });

  it('takes white space between tokens out, and leaves strings alone', () => {
    const body = '{\n "messages" : [ { "a" : " b , ] } \\" c " } ,\t[ 1 , 2 ] , 3 , "x" ] }';
    expect(scanBody(body).messages).toEqual(['{"a":" b , ] } \\" c "}', '[1,2]', '3', '"x"']);
  });

  it('reads the name as the parser does, and keeps the last of two', () => {
    expect(scanBody('{"messages":[1],"\\u006dessages":[2]}').messages).toEqual(['2']);
    expect(scanBody('{"messages":[]}').messages).toEqual([]);
    expect(scanBody('{"messages":null}').messages).toEqual([]);
    expect(scanBody('["messages",[1]]').messages).toEqual([]);
  });

  it('agrees with the parser on every body', () => {
    const message = fc.jsonValue({ maxDepth: 4 });
    const space = fc.constantFrom(undefined, 1, '\t', '  \r\n');
    fc.assert(
      fc.property(fc.array(message), fc.jsonValue(), space, (messages, other, indent) => {
        const body = JSON.stringify({ other, messages, last: other }, null, indent);
        const parsed: { messages: unknown[] } = JSON.parse(body);
        expect(scanBody(body).messages).toEqual(parsed.messages.map((each) => JSON.stringify(each)));
      }),
    );
  });

  it('says where nesting goes too deep, and only beyond the limit', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const body = (levels: number) => `{"messages":[{},{"x":${nested(levels)}}]}`;
    expect(scanBody(body(MAX_BODY_DEPTH - 3)).tooDeepAt).toBeNull();
    expect(scanBody(body(MAX_BODY_DEPTH - 2)).tooDeepAt).toBe('/messages/1');
    expect(scanBody(`{"metadata":${nested(100_000)}}`).tooDeepAt).toBe('/metadata');
    expect(scanBody(nested(100_000)).tooDeepAt).toBe('');
  });

  it('never throws on what is not JSON', () => {
    fc.assert(fc.property(fc.string(), (text) => scanBody(text).messages.length >= 0));
    for (const text of ['{"messages":[', '{"messages":["', '"\\', ']]]', '{"messages":[1,2}']) scanBody(text);
  });
});

describe('minify', () => {
  it('gives what the parser and writer give', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(minify(JSON.stringify(value, null, 3))).toBe(JSON.stringify(value));
      }),
    );
  });
});
