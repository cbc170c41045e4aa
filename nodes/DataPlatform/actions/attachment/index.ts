import type { Resource } from '../../run/operation';
import { download } from './download';
import { remove } from './remove';
import { upload } from './upload';

export const attachment: Resource = {
	value: 'attachment',
	name: 'Attachment',
	initial: upload,
	operations: [download, remove, upload],
};
