import type { Resource } from '../../execution/operation';
import { downloadFiles, downloadThumbnails } from './download';
import { remove } from './remove';
import { upload } from './upload';

export const attachment: Resource = {
	value: 'attachment',
	name: 'Attachment',
	initial: upload,
	operations: [downloadFiles, downloadThumbnails, remove, upload],
};
