import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const docs = readdirSync(new URL('../../docs', import.meta.url)).filter((file) => file.endsWith('.md'));
const openapi: unknown = JSON.parse(read('openapi/openapi.json'));
const digest = (seed: string) => createHash('sha256').update(seed).digest();
const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

const REGIONS =
  'AT BE BR CA CH CL CN CZ DE DK EG ES FI FR GB GR HU IE IN IT JP KE KR MX NL NO NZ PE PL PT SE TH TR';

/** Sentences about one country after the other, by the names that its language has for them. */
function travels(language: string, sentences: readonly string[]): string {
  const names = new Intl.DisplayNames(language, { type: 'region' });
  return REGIONS.split(' ')
    .flatMap((code, index) => {
      const sentence = (offset: number) => sentences[(index + offset) % sentences.length] ?? '';
      return [sentence(0), sentence(3)].map((text) => text.replace('*', names.of(code) ?? code));
    })
    .join('\n');
}

const CHINESE = [
  '去年秋天，我们一家人坐火车去了*，一路上看到了许多古老的村庄和宽阔的河流。',
  '关于*的报告已经写好，但是第三章里的数据还需要财务部门再核对一遍。',
  '服务器在凌晨两点左右失去响应，值班工程师检查后发现是*机房的网络交换机出了故障。',
  '如果您打算在*停留超过三个月，请提前准备好护照、照片以及银行出具的证明。',
  '她从小就喜欢听外婆讲故事，后来把这些故事整理成书，在*出版后受到读者的欢迎。',
  '由于连日大雨，通往*的航班全部取消，旅客被安排在机场附近的酒店休息。',
  '会议决定，从下个月起由新成立的小组负责*市场的推广工作，并每周提交一次总结。',
];

const JAPANESE = [
  '昨年の秋、家族と一緒に列車で*へ行き、古い村や広い川をたくさん見ました。',
  '*についての報告書は完成しましたが、第三章の数字は経理部にもう一度確認してもらう必要があります。',
  '午前二時ごろサーバーの応答がなくなり、調べたところ*のデータセンターのスイッチが故障していました。',
  '*に三か月以上滞在する場合は、パスポートと写真、それに銀行の証明書を早めに用意してください。',
  '彼女は子どものころから祖母の昔話が大好きで、それをまとめた本は*でも多くの読者に愛されています。',
  '大雨が続いたため*行きの便はすべて欠航となり、乗客は空港の近くのホテルに泊まりました。',
  '来月から新しいチームが*での販売を担当し、毎週その結果をまとめて提出することになりました。',
];

const KOREAN = [
  '지난가을 우리 가족은 기차를 타고 *에 가서 오래된 마을과 넓은 강을 많이 보았습니다.',
  '*에 관한 보고서는 다 썼지만 세 번째 장의 숫자는 재무팀에서 다시 확인해야 합니다.',
  '새벽 두 시쯤 서버가 응답하지 않아 살펴보니 * 데이터 센터의 네트워크 장비가 고장 나 있었습니다.',
  '*에서 석 달 넘게 머무르실 계획이라면 여권과 사진, 은행 증명서를 미리 준비해 주세요.',
  '그녀는 어릴 때부터 할머니의 옛날이야기를 좋아했고, 그것을 엮은 책은 *에서도 사랑을 받았습니다.',
  '며칠째 이어진 큰비로 *행 비행기가 모두 취소되어 승객들은 공항 근처 호텔에서 쉬었습니다.',
  '다음 달부터 새로 만든 팀이 * 시장의 홍보를 맡고 매주 결과를 정리해서 내기로 했습니다.',
];

const RUSSIAN = [
  'Прошлой осенью мы всей семьёй ездили на поезде в страну *, видели старые деревни и широкие реки.',
  'Отчёт о стране * готов, но цифры в третьей главе бухгалтерия должна проверить ещё раз.',
  'Около двух часов ночи сервер перестал отвечать: вышел из строя сетевой коммутатор (*).',
  'Если вы собираетесь пробыть там дольше трёх месяцев (*), заранее подготовьте паспорт и фотографии.',
];

const GERMAN = [
  'Im vergangenen Herbst sind wir mit dem Zug nach * gefahren und haben viele alte Dörfer und breite Flüsse gesehen.',
  'Der Bericht über * ist fertig, aber die Zahlen im dritten Kapitel muss die Buchhaltung noch einmal prüfen.',
  'Gegen zwei Uhr nachts antwortete der Server nicht mehr: Der Netzwerkverteiler im Rechenzentrum in * war ausgefallen.',
  'Wegen des anhaltenden Regens wurden alle Flüge nach * gestrichen, und die Reisenden übernachteten im Hotel.',
];

const records = repeat(100, (i) => digest(`record ${i}`).toString('hex')).map((hex, id) => ({
  id,
  key: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`,
  email: `user.${id}@example.com`,
  createdAt: new Date(1_700_000_000_000 + id * 1_234_567).toISOString(),
  balance: Math.sin(id) * 1_000,
  tags: id % 3 === 0 ? ['new', 'überfällig'] : [],
}));

/** What conversations are made of, 2,000 chars or more of each. */
export const SAMPLES: Readonly<Record<string, string>> = {
  'English prose': docs.map((file) => read(`docs/${file}`)).join('\n'),
  German: travels('de', GERMAN),
  Russian: travels('ru', RUSSIAN),
  Chinese: travels('zh', CHINESE),
  Japanese: travels('ja', JAPANESE),
  Korean: travels('ko', KOREAN),
  TypeScript: `${read('src/compaction/service.ts')}${read('src/llm/client.ts')}${read('src/tokens/token-trie.ts')}`,
  'TypeScript, indented by tabs': read('src/compaction/service.ts').replaceAll('  ', '\t'),
  SQL: readdirSync(new URL('../../drizzle/sqlite', import.meta.url))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => read(`drizzle/sqlite/${file}`))
    .join('\n'),
  'JSON, compact': JSON.stringify(openapi),
  'JSON, pretty': JSON.stringify(openapi, null, 2),
  'JSON, indented by tabs': JSON.stringify(openapi, null, '\t'),
  'JSON records': JSON.stringify(records),
  'JSON records, pretty': JSON.stringify(records, null, 4),
  'JSON in JSON': JSON.stringify(JSON.stringify(records, null, 2)),
  'log lines': records
    .map(
      ({ key, createdAt, id }) =>
        `${createdAt} WARN [worker-${id % 8}] ${key} GET /v1/users/${id} took ${id * 7} ms`,
    )
    .join('\n'),
  base64: Buffer.concat(repeat(200, (i) => String(i)).map(digest)).toString('base64'),
  emoji: repeat(700, (i) => ['🚀', '👍🏽 ', '🇩🇪', '👨‍👩‍👧', 'done ✅ '][(i * i + i) % 5] ?? '').join(''),
};
