import type { FieldValues, PlatformRecord, TableDefinition } from '../../api/types';
import { planRows } from '../../bulk/pipeline';
import type { Plan } from '../../bulk/terms';
import { compareFiles, filesOf, uploadFiles, type UploadTarget } from '../../files/transfer';
import { readRecord } from '../../api/records';
import type { Upload } from '../../files/uploadValidation';
import { simplifiedRecord } from '../../input/recordOutput';
import { appendedFields } from '../../fields/values';
import { fileField as findField, guardUpload } from '../../files/uploadValidation';
import type { NameOf } from '../../parameterKinds/parameter';
import { choice, flag } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import {
	fileField,
	inputDataFieldName,
	maxFileSizeMiB,
	skipExisting,
} from '../../parameters/files/uploads';
import {
	linkResolver,
	linkRules,
	linkValues,
	type LinkParameter,
} from '../../parameters/write/writingLinks';
import { itemOperation } from '../../parameters/defineOperation';
import { maxRetryWait, timeout } from '../../parameters/requests';
import { recordIdOf, recordKeyOf, recordsAhead } from '../../parameters/select/records';
import {
	recordId,
	tableOf,
	tableParameters,
	type TableParameter,
} from '../../parameters/select/table';
import {
	columnsToCreate,
	columnsToUpdate,
	emptyValues,
	hintIgnored,
	planOptions,
	unknownFields,
	valuesReader,
	type PlanningParameter,
} from '../../parameters/write/columns';
import { undefinedIf403 } from '../../transport/errors';
import { membersOf } from '../../transport/json';
import { MIB } from '../../transport/streams';
import { inputError } from '../record/inputError';
import { uploadsOf } from './input';

/** The platform processes a large file for a while before it responds. */
const TIMEOUT_S = 300;

const target = choice('target', {
	label: 'Upload To',
	choices: {
		existing: ['Existing Record', 'Add the files to an existing record'],
		new: ['New Record', 'Create a record that has the files'],
	},
	preset: 'existing',
});

const IF_EXISTING = { target: ['existing'] };

const existingFiles = choice('existingFiles', {
	label: 'Existing Files',
	choices: {
		append: ['Keep', 'Add the new files to the existing ones'],
		replace: ['Replace', 'Only the new files remain'],
	},
	preset: 'append',
	show: IF_EXISTING,
});

const updateOtherFields = flag('updateOtherFields', {
	label: 'Update Other Fields',
	preset: false,
	show: IF_EXISTING,
	description: 'Whether to update other fields of the record in the same request',
});

/** @throws {InputError} */
function requireNoProblems({ problems }: Plan) {
	if (problems.length > 0) throw inputError(problems, 1, 0);
}

/**
 * The values of the fields that are written in the same request as a record's files, checked against
 * the table. Creates the linked records that they need.
 *
 * @param name the field that gets the files
 * @param id of an existing record; a new one is created if it is not set
 * @throws {InputError} that names all problems
 */
async function besideFiles(
	run: RunContext<
		TableParameter | PlanningParameter | LinkParameter | NameOf<typeof updateOtherFields>
	>,
	index: number,
	name: string,
	id?: string,
): Promise<FieldValues> {
	if (id !== undefined && !updateOtherFields.of(run, index)) return {};
	const handle = tableOf(run, index);
	const definition = await handle.definition();
	const mapped = membersOf(valuesReader(run, index, definition)(index));
	const values = Object.fromEntries(Object.entries(mapped).filter(([key]) => key !== name));
	const fields = definition.fields.filter((field) => field.name !== name);
	const table = { ...definition, fields };
	const links = linkResolver(run, handle);
	const kind = { mode: id === undefined ? 'create' : 'update', duplicates: 'error' } as const;
	const settings = {
		linkRules: linkRules(run, index, table),
		planning: { ...planOptions(run, index, kind), mayBeEmpty: true },
	};
	const plan = await planRows(handle.with(table), links, settings, [{ index, values, id }]);
	hintIgnored(run, plan);
	requireNoProblems(plan);
	await links.createMissing(plan, table);
	requireNoProblems(plan);
	return plan.records[0]!.fields;
}

const isNew = (run: RunContext<NameOf<typeof target>>, index: number) =>
	target.of(run, index) === 'new';

const COMPARED_BY_NAME = `The platform does not say how large its files are, so ${skipExisting} compared names only: a file that changed and kept its name was not sent. Turn ${skipExisting} off to send it.`;

type FilePlan = Pick<UploadTarget, 'existing'> & { files: Upload[] };

const isDone = ({ files, existing }: FilePlan) => files.length === 0 && existing === 'keep';

/** Which files to send, and which of the existing ones to keep. */
function planFiles(
	run: RunContext<NameOf<typeof existingFiles>>,
	index: number,
	{ name, files, before }: { name: string; files: Upload[]; before?: PlatformRecord },
	skipsExisting: boolean,
): FilePlan {
	const replaces = existingFiles.of(run, index) === 'replace';
	if (!before || !skipsExisting) return { files, existing: replaces ? 'remove' : 'keep' };
	const { missing, others, isByName } = compareFiles(files, filesOf(before, name));
	if (isByName) run.hintOnce(COMPARED_BY_NAME, 'warning');
	if (!replaces || others.length === 0) return { files: missing, existing: 'keep' };
	return { files: missing, existing: { remove: others.map(({ fileId }) => fileId) } };
}

export const upload = itemOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload attachments',
	description: 'Upload one or several files to a picture or file field of a record',
	fields: [
		...tableParameters,
		target,
		recordId.with({ show: IF_EXISTING }),
		fileField,
		inputDataFieldName,
		existingFiles,
		updateOtherFields,
		columnsToUpdate.with({ show: { ...IF_EXISTING, updateOtherFields: [true] } }),
		columnsToCreate.with({ show: { target: ['new'] } }),
	],
	options: [
		maxFileSizeMiB,
		skipExisting,
		emptyValues,
		linkValues,
		unknownFields,
		maxRetryWait,
		timeout.with({ preset: TIMEOUT_S }),
	],
	notIdempotent: true,
	insteadOfFiles: 'Put this operation into a workflow that the agent calls.',
	ifRunAgain: `Running it again adds the files of those items again, unless ${skipExisting} is on.`,
	concurrency: 4,
	// Records are created in the order of the items.
	concurrencyKey: (run, index) => (isNew(run, index) ? 'new' : recordKeyOf(run, index)),
	execute: async (run, index) => {
		const handle = tableOf(run, index);
		const id = isNew(run, index) ? undefined : await recordIdOf(run, index);
		const name = fileField.of(run, index);
		const limit = maxFileSizeMiB.of(run, index) * MIB;
		const given = await uploadsOf(run, index);
		const guard = (table?: TableDefinition) => {
			const field = table && findField(table, name);
			return { table, all: given.map((entry) => guardUpload(field, entry, limit)) };
		};
		const checked = await undefinedIf403(handle.checkWithKept(guard));
		const { table, all } = checked ?? guard();
		const fields = await besideFiles(run, index, name, id);

		// Reads first, so that a missing record is reported before a large file is sent.
		const skipsExisting = skipExisting.of(run, index);
		const ahead = recordsAhead(run, handle);
		const plan = (before?: PlatformRecord) =>
			planFiles(run, index, { name, files: all, before }, skipsExisting);
		// What is compared is read once more before it is changed: others may have added files.
		const readsAhead = !skipsExisting || ahead.wasUnchanged;
		let before = id === undefined ? undefined : await ahead.take(index, id, readsAhead);
		if (id !== undefined && (!before || (skipsExisting && !isDone(plan(before))))) {
			before = await (skipsExisting ? readRecord(handle, id) : ahead.readNow(id));
		}
		const planned = plan(before);
		const { files, existing } = planned;
		ahead.wasUnchanged = isDone(planned);
		const isNothing = isDone(planned) && Object.keys(fields).length === 0;
		if (before && isNothing) return { json: { ...simplifiedRecord(before), uploaded: [] } };
		const addsTwice = table && appendedFields(table.fields, fields).length > 0;
		const place = { table: handle, field: name, id, before, fields, existing, addsTwice };
		const record = await uploadFiles(place, files);
		const uploaded = files.map((entry) => entry.name);
		return { json: { ...simplifiedRecord(record), uploaded } };
	},
});
