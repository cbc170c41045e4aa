/** Encodings of real programs, and what is said of a file in another one than was chosen. */
import { decodeText, ENCODINGS } from '../../../nodes/DataPlatform/rows/decodeText.ts';
import type { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { asPieces } from '../rowStreams.cts';

type Known = keyof typeof ENCODINGS;

/** The text of bytes, or why they are none. */
async function decoded(bytes: Uint8Array[], encoding: Known | 'auto'): Promise<string | InputError> {
	try {
		let text = '';
		for await (const piece of decodeText(() => asPieces(...bytes), encoding)) text += piece;
		return text;
	} catch (error) {
		return error as InputError;
	}
}

/** A text in an encoding of one byte per character. */
function encoded(text: string, encoding: Known): Buffer {
	const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
	const characters = [...new TextDecoder(encoding).decode(all, { stream: true })];
	return Buffer.from([...text].map((character) => characters.indexOf(character)));
}

const JAPANESE = '山田太郎;東京都;カタカナ';
const SAMPLES: Array<[encoding: Known, text: string, hex?: string]> = [
	['windows-1252', 'Müller;Straße;5 €;Grüße'],
	['windows-1252', 'Hélène;déjà vu;cœur;façade'],
	['iso-8859-15', 'Hélène;déjà vu;cœur;façade'],
	['macintosh', 'Muñoz;José;niño;mañana'],
	['windows-1250', 'Łukasz;Gdańsk;zażółć gęślą;Kraków'],
	['iso-8859-2', 'Łukasz;Gdańsk;zażółć gęślą;Kraków'],
	['windows-1250', 'Dvořák;Příbram;žluťoučký kůň'],
	['windows-1250', 'Gyöngyösi;Szőke;árvíztűrő'],
	['windows-1251', 'Иванов;Москва;Пётр Ильич'],
	['windows-1251', 'Київ;Шевченко;Їжак'],
	['koi8-r', 'Иванов;Москва;Пётр Ильич'],
	['ibm866', 'Иванов;Москва;Пётр Ильич'],
	['iso-8859-5', 'Иванов;Москва;Пётр Ильич'],
	['windows-1253', 'Παπαδόπουλος;Αθήνα;5 €'],
	['iso-8859-7', 'Παπαδόπουλος;Αθήνα;Ελλάδα'],
	['windows-1254', 'Gökçe;İstanbul;Şişli;ağaç'],
	['windows-1257', 'Žilvinas;Šiauliai;ąčęėįšųūž'],
	['windows-1257', 'Jānis;Rīga;Ķekava'],
	['windows-1256', 'محمد;القاهرة'],
	['windows-874', 'สมชาย;กรุงเทพ'],
	['shift_jis', JAPANESE, '8e52936391be98593b938c8b9e93733b834a835e834a8369'],
	['euc-jp', JAPANESE, 'bbb3c5c4c2c0cfba3bc5ecb5fec5d43ba5aba5bfa5aba5ca'],
	['gb18030', '张伟;北京市;中华人民共和国', 'd5c5ceb03bb1b1bea9cad03bd6d0bbaac8cbc3f1b9b2bacdb9fa'],
	['big5', '王小明;臺北市;中文資料', 'a4fda470a9fa3bbb4fa55fa5ab3ba4a4a4e5b8eaaec6'],
	['euc-kr', '김철수;서울특별시;대한민국', 'b1e8c3b6bcf63bbcadbfefc6afbab0bdc33bb4ebc7d1b9ceb1b9'],
];

const BEFORE = 'name;city\nPlain;Town\n';

const bytesOf = ([encoding, text, hex]: (typeof SAMPLES)[number]) =>
	Buffer.concat([Buffer.from(BEFORE), hex === undefined ? encoded(text, encoding) : Buffer.from(hex, 'hex'), Buffer.from('\n')]);

test.each(SAMPLES)('%s: %s is read if it is chosen, and is not UTF-8', async (...sample) => {
	const [encoding, text] = sample;
	const bytes = bytesOf(sample);
	for (const pieces of [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))]) {
		expect(await decoded(pieces, encoding)).toBe(`${BEFORE}${text}\n`);
	}
	expect(await decoded([bytes], 'auto')).toMatchObject({
		message: 'The file is not UTF-8',
		hint: "Letters may be damaged in one place: then correct the file. Only if all of it is in another encoding, choose that under 'Encoding' in the options, such as Western European (Windows-1252).",
	});
});

test('every encoding can be read', async () => {
	for (const encoding of Object.keys(ENCODINGS) as Known[]) {
		const text = encoding.startsWith('utf-16') ? Buffer.from('a\0', 'latin1') : Buffer.from('a');
		expect(typeof (await decoded([text], encoding))).toBe('string');
	}
});

test('a file that is not even in the chosen encoding says so', async () => {
	const bytes = Buffer.from('a;b\xff\n', 'latin1');
	expect(await decoded([bytes], 'shift_jis')).toMatchObject({ message: 'The file is not Japanese (Shift JIS)' });
});
