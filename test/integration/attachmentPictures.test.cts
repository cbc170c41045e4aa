import sharp from 'sharp';
import { read, stored, useAttachmentHarness } from './attachmentFixtures.cts';

const harness = useAttachmentHarness();

const picture = async () =>
	await sharp({ create: { width: 600, height: 300, channels: 3, background: 'red' } })
		.png()
		.toBuffer();

describe('pictures', () => {
	const into = async (name: string, type: string) =>
		await harness.upload([await stored(name, await picture(), type)], { parameters: { fileField: 'photo' } });

	test.each([
		['photo.png', 'image/png', 'photo.png', 'image/png'],
		['photo.PNG', 'application/octet-stream', 'photo.PNG', 'image/png'],
		['photo', 'image/png', 'photo.png', 'image/png'],
		['photo', 'image/jpeg', 'photo.jpg', 'image/jpeg'],
	])('%s as %s', async (name, type, expectedName, expectedType) => {
		const { error } = await into(name, type);
		expect(error).toBeUndefined();
		const [file] = await harness.files('photo');
		expect(file).toMatchObject({ fileName: expectedName, mimetype: expectedType });
	});

	test.each([
		['notes.txt', 'text/plain', 'is not a picture'],
		['photo.png', 'text/html', 'its type is text/html'],
		['photo', 'application/octet-stream', 'is not a picture'],
		['photo.gif', 'image/gif', 'is not a picture'],
		['photo.constructor', 'image/png', 'is not a picture'],
	])('%s as %s is refused, nothing is sent', async (name, type, message) => {
		const { error } = await into(name, type);
		expect(error!.message).toContain(message);
		expect(error!.message).toContain(name);
		expect(await harness.writes()).toEqual([]);
	});

	test('a thumbnail, named after its type', async () => {
		await harness.upload([await stored('photo.png', await picture(), 'image/png')], { parameters: { fileField: 'photo' } });
		const parameters = { fileField: 'photo' };
		const result = await harness.run('download', { parameters, options: { thumbnails: true } });
		const [item] = result.output('Data Platform');
		expect(item!.binary!.data).toMatchObject({ fileName: 'photo.webp', mimeType: 'image/webp' });
		const { width, height } = await sharp(await read(item)).metadata();
		expect([width, height]).toEqual([200, 100]);
	});
});
