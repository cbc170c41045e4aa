/** Text from outside in messages: it stays on one line, and tells a terminal nothing. */
import { toErrorEntries } from '../../../nodes/DataPlatform/transport/errorEntries.ts';
import { nameList, shortened } from '../../../nodes/DataPlatform/transport/messageText.ts';

test.each([
	['plain', 'plain'],
	['two\r\nlines\u2028three', 'two lines three'],
	['\u001b[31mred\u001b[0m, bell\u0007', ' red , bell '],
	['\u009b2J[1m', ' 2J[1m'],
	['a\u001b[1mb'.repeat(3), 'a ba ba b'],
])('%j becomes %j', (text, expected) => {
	expect(shortened(text, 100)).toBe(expected);
	expect(shortened(text + 'x'.repeat(100), text.length)).toBe(`${expected}… (cut)`);
	expect(nameList([text])).toBe(`'${expected}'`);
	expect(toErrorEntries([{ message: `x${text}x` }])[0]!.message).toBe(`x${expected}x`);
});
