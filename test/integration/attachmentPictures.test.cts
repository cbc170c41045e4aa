import sharp from 'sharp';
import { read, stored, useAttachmentHarness } from './attachmentFixtures.cts';

const harness = useAttachmentHarness();

const parameters = { fileField: 'photo' };

/** Uploads a picture of 600 x 300 pixels into the field for pictures. */
const upload = async (name: string, type: string) => {
	const picture = sharp({ create: { width: 600, height: 300, channels: 3, background: 'red' } });
	return await harness.upload([await stored(name, await picture.png().toBuffer(), type)], { parameters });
};

test.each([
	['photo.png', 'image/png', 'photo.png', 'image/png'],
	['photo.PNG', 'application/octet-stream', 'photo.PNG', 'image/png'],
	['photo', 'image/png', 'photo.png', 'image/png'],
	['photo', 'image/jpeg', 'photo.jpg', 'image/jpeg'],
])('a picture called %s of type %s is stored as %s, %s', async (name, type, fileName, mimetype) => {
	expect((await upload(name, type)).error).toBeUndefined();
	expect(await harness.files('photo')).toMatchObject([{ fileName, mimetype }]);
});

test.each([
	['notes.txt', 'text/plain', 'is not a picture'],
	['photo.png', 'text/html', 'its type is text/html'],
	['photo', 'application/octet-stream', 'is not a picture'],
	['photo.gif', 'image/gif', 'is not a picture'],
	['photo.constructor', 'image/png', 'is not a picture'],
])('%s of type %s is rejected, and nothing is sent', async (name, type, message) => {
	const { error } = await upload(name, type);
	expect(error!.message).toContain(message);
	expect(error!.message).toContain(name);
	expect(await harness.writes()).toEqual([]);
});

test('a thumbnail is downloaded in place of the picture, and has the name of its own type', async () => {
	await upload('photo.png', 'image/png');
	const result = await harness.run('download', { parameters, options: { thumbnails: true } });
	const [item] = result.output('Data Platform');
	expect(item!.binary!.data).toMatchObject({ fileName: 'photo.webp', mimeType: 'image/webp' });
	expect(await sharp(await read(item)).metadata()).toMatchObject({ width: 200, height: 100 });
});
