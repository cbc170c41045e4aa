/** A mutant that no test can notice: its lines before and after, as the run shows them, and why. */
interface Equivalent {
	from: string;
	to: string;
	why: string;
}

/** By file in `nodes/DataPlatform`. Only what behaves the same for every input belongs here. */
export const EQUIVALENT: Record<string, Equivalent[]> = {
	'api/decoders.ts': [
		{
			from: 'savedViews: (Array.isArray(settings.userFilters) ? settings.userFilters : [])',
			to: 'savedViews: (Array.isArray(settings.userFilters) ? settings.userFilters : ["Stryker was here"])',
			why: 'Text is no saved view.',
		},
	],
	'api/filters.ts': [
		{
			from: "const list = text.trimStart().startsWith('[') ? parseExactJson(text) : undefined;",
			to: 'const list = text.trimStart().startsWith("") ? parseExactJson(text) : undefined;',
			why: 'Only saves time: no other JSON is a list.',
		},
		{
			from: "if (typeof operator !== 'string' || !OPERATORS.includes(operator)) {",
			to: 'if (false || !OPERATORS.includes(operator)) {',
			why: 'What is no text is no operator in the check after it.',
		},
		{
			from: 'const values = takesList(condition.operator) ? new Set(valuesOf(condition)) : [];',
			to: 'const values = takesList(condition.operator) ? new Set(valuesOf(condition)) : ["Stryker was here"];',
			why: 'Only values with a comma are counted.',
		},
		{
			from: 'let listed: Array<Set<string>> = [];',
			to: 'let listed: Array<Set<string>> = ["Stryker was here"];',
			why: 'Made anew before the first row.',
		},
		{
			from: '.sort((a, b) => (a.text < b.text ? -1 : 1))',
			to: '.sort((a, b) => (a.text <= b.text ? -1 : 1))',
			why: 'The order of two equal rows does not matter.',
		},
		{
			from: 'text.length <= MAX_QUERY_LENGTH && encodeUrlComponent(text).length <= MAX_QUERY_LENGTH;',
			to: 'true && encodeUrlComponent(text).length <= MAX_QUERY_LENGTH;',
			why: 'Only saves time: a text is no longer than what it is encoded as.',
		},
	],
	'api/idSet.ts': [
		...['true', 'this.uuids >= 0'].map((condition) => ({
			from: 'return this.uuids > 0 && !this.isFree(this.find(words));',
			to: `return ${condition} && !this.isFree(this.find(words));`,
			why: 'Only saves time: an empty table has no place that is taken.',
		})),
	],
	'api/records.ts': [
		{
			from: 'const text = conditions.length > 0 ? toQuery(conditions) : undefined;',
			to: 'const text = conditions.length >= 0 ? toQuery(conditions) : undefined;',
			why: 'A parameter without a value is left out of the query.',
		},
		{
			from: 'const text = conditions.length > 0 ? toQuery(conditions) : undefined;',
			to: 'const text = true ? toQuery(conditions) : undefined;',
			why: 'A parameter without a value is left out of the query.',
		},
		{
			from: 'if (record && (id === undefined || !isDifferentRecord(record, id))) return record;',
			to: 'if (record && (false || !isDifferentRecord(record, id))) return record;',
			why: 'No record is another one where none was asked for.',
		},
		{
			from: "const retryMode = isUnapplied ? 'notIdempotent' : 'idempotent';",
			to: 'const retryMode = isUnapplied ? \'notIdempotent\' : "";',
			why: 'Only `read` and `notIdempotent` are treated differently.',
		},
		{
			from: "retryMode: 'idempotent',",
			to: 'retryMode: "",',
			why: 'Only `read` and `notIdempotent` are treated differently.',
		},
	],
	'bulk/batches.ts': [
		{
			from: 'private readonly isApart: (record: PreparedRecord) => boolean = () => false,',
			to: 'private readonly isApart: (record: PreparedRecord) => boolean = () => true,',
			why: 'If all are of one kind it does not matter of which.',
		},
		{
			from: 'private readonly isApart: (record: PreparedRecord) => boolean = () => false,',
			to: 'private readonly isApart: (record: PreparedRecord) => boolean = () => undefined,',
			why: 'If all are of one kind it does not matter of which.',
		},
		{
			from: 'if (this.first === this.waiting.length) { this.waiting = []; this.first = 0; }',
			to: 'if (this.first === this.waiting.length) {}',
			why: 'Only saves memory: what was taken is not taken again.',
		},
	],
	'bulk/diff.ts': [
		{
			from: "const name = `'${key ?? sharedKey?.text}'`;",
			to: "const name = `'${key ?? sharedKey.text}'`;",
			why: 'A record without a key of its own is here because it shares one.',
		},
	],
	'bulk/evidence.ts': [
		{
			from: '): boolean => appendable.length > 0 && appendedFields(appendable, fields).length > 0;',
			to: '): boolean => true && appendedFields(appendable, fields).length > 0;',
			why: 'Only saves time.',
		},
		{
			from: '): boolean => appendable.length > 0 && appendedFields(appendable, fields).length > 0;',
			to: '): boolean => appendable.length >= 0 && appendedFields(appendable, fields).length > 0;',
			why: 'Only saves time.',
		},
		{
			from: 'if (names.length === 0) return stored.fields;',
			to: 'if (false) return stored.fields;',
			why: 'Only saves time.',
		},
		{
			from: 'if (added.size === 0) return record.fields;',
			to: 'if (false) return record.fields;',
			why: 'A copy of all fields is the same.',
		},
	],
	'bulk/lastChange.ts': [
		{
			from: 'if (now !== undefined && now - Date.parse(time) >= PAST_MS) {',
			to: 'if (true && now - Date.parse(time) >= PAST_MS) {',
			why: 'No time is no number of milliseconds ago.',
		},
		{
			from: 'return difference === 0 || Number.isNaN(difference) ? undefined : difference > 0;',
			to: 'return difference === 0 || Number.isNaN(difference) ? undefined : difference >= 0;',
			why: 'It is not 0 by then.',
		},
		{
			from: 'if (one.modified === undefined || !isSameTime(one.modified, other.modified)) return false;',
			to: 'if (false || !isSameTime(one.modified, other.modified)) return false;',
			why: 'An unknown time is the same as none.',
		},
		{
			from: "export const isSameTime = (one = '', other = '') => Date.parse(one) === Date.parse(other);",
			to: 'export const isSameTime = (one = "Stryker was here!", other = \'\') => Date.parse(one) === Date.parse(other);',
			why: 'Neither text is a time.',
		},
		{
			from: "export const isSameTime = (one = '', other = '') => Date.parse(one) === Date.parse(other);",
			to: 'export const isSameTime = (one = \'\', other = "Stryker was here!") => Date.parse(one) === Date.parse(other);',
			why: 'Neither text is a time.',
		},
	],
	'bulk/matching.ts': [
		{
			from: 'if (!outcomes.every(isSuccess)) this.isFailed = true;',
			to: 'if (!outcomes.some(isSuccess)) this.isFailed = true;',
			why: 'An item that did not succeed has one outcome.',
		},
		{
			from: "const names = ifFound === 'skip' ? 'allFields' : loads;",
			to: "const loads = ifFound === 'skip' ? \"\" : 'keys';",
			why: 'Without names all fields are loaded.',
		},
		{
			from: 'const writing: Plan = { ...plan, records, problems: [] };',
			to: 'const writing: Plan = { ...plan, records, problems: ["Stryker was here"] };',
			why: 'A problem without an index is of no item.',
		},
		{
			from: "this.keys = on === 'recordId' ? [] : keyFields(target.table, { matchOn: on });",
			to: 'this.keys = on === \'recordId\' ? ["Stryker was here"] : keyFields(target.table, { matchOn: on });',
			why: 'No record has a value in a field without a name.',
		},
		{
			from: 'this.open.delete(record.index);',
			to: ';',
			why: 'Only saves memory: an item that is expected again begins anew.',
		},
	],
	'bulk/pairing.ts': [
		{
			from: "differences(prepared, record, { mode: 'create', fields, appendable: [] }).different.length ===",
			to: 'differences(prepared, record, { mode: "", fields, appendable: [] }).different.length ===',
			why: 'Any mode but replace and upsert compares alike.',
		},
	],
	'bulk/pipeline.ts': [
		{
			from: 'if (isCounted) this.failures.resolved(!outcomes.every(isSuccess));',
			to: 'if (isCounted) this.failures.resolved(!outcomes.some(isSuccess));',
			why: 'An item that did not succeed has one outcome.',
		},
		{
			from: 'if (this.plan.merged.size > 0) this.byIndex.set(index, { outcomes, record });',
			to: 'if (true) this.byIndex.set(index, { outcomes, record });',
			why: 'Only saves memory: without merged rows nothing is looked up.',
		},
		{
			from: 'if (this.plan.merged.size > 0) this.byIndex.set(index, { outcomes, record });',
			to: 'if (this.plan.merged.size >= 0) this.byIndex.set(index, { outcomes, record });',
			why: 'Only saves memory: without merged rows nothing is looked up.',
		},
		{
			from: 'const isCounted = record !== undefined && !outcomes.some(({ isDerived }) => isDerived);',
			to: 'const isCounted = record !== undefined && !outcomes.every(({ isDerived }) => isDerived);',
			why: 'An item that did not succeed has one outcome.',
		},
		{
			from: 'linkRules.size > 0',
			to: 'linkRules.size >= 0',
			why: 'Only saves memory: without rules no value is replaced.',
		},
		{
			from: 'linkRules.size > 0',
			to: 'true',
			why: 'Only saves memory: without rules no value is replaced.',
		},
	],
	'bulk/plan.ts': [
		{
			from: 'const others = records.slice(0, OTHERS_SHOWN + 1).filter((other) => other !== record);',
			to: 'const others = records.filter((other) => other !== record);',
			why: 'Only saves time: the others that are named come first.',
		},
		{
			from: 'if (suggestion === undefined && this.suggestions.size < MAX_SUGGESTIONS) {',
			to: 'if (true && this.suggestions.size < MAX_SUGGESTIONS) {',
			why: 'Only saves time: a name that was looked for gets the same correction again.',
		},
	],
	'bulk/reconcile.ts': [
		{
			from: "const loads = this.mode === 'replace' ? 'allFields' : 'sentFields';",
			to: "const loads = this.mode === 'replace' ? \"\" : 'sentFields';",
			why: 'Without names all fields are loaded.',
		},
		{
			from: 'if (written && isSuccess(written)) proven.add(prepared);',
			to: 'if (true) proven.add(prepared);',
			why: 'What did not succeed is whole as it is.',
		},
		...[
			[
				'const isAgain = id !== undefined && groups.has(id) && rewritten.has(id);',
				'const isAgain = true && groups.has(id) && rewritten.has(id);',
			],
			['if (id !== undefined) rewritten.add(id);', 'if (true) rewritten.add(id);'],
		].map(([from, to]) => ({ from: from!, to: to!, why: 'No group is of no ID.' })),
	],
	'bulk/response.ts': [
		{
			from: 'if (insertedCount === undefined) return false;',
			to: 'if (false) return false;',
			why: 'No comparison with an unknown number holds.',
		},
	],
	'bulk/single.ts': [
		{
			from: "const found = await lookUp(client, at, keys, [record], 'allFields', 1);",
			to: 'const found = await lookUp(client, at, keys, [record], "", 1);',
			why: 'No other word names fields either.',
		},
		{
			from: "const stored = await lookUp(client, at, keys, [record], 'allFields').catch(failureAsValue);",
			to: 'const stored = await lookUp(client, at, keys, [record], "").catch(failureAsValue);',
			why: 'No other word names fields either.',
		},
		{
			from: "const context = singleContext(table, 'upsert', { key: keys[0]?.name, lastChangeBefore });",
			to: "const context = singleContext(table, 'upsert', { key: keys[0].name, lastChangeBefore });",
			why: 'Without an import key nothing is planned.',
		},
		{
			from: "const updateMode = context.mode === 'replace' ? 'replace' : 'partial';",
			to: "const updateMode = context.mode === 'replace' ? 'replace' : \"\";",
			why: 'Any mode but replace updates in part.',
		},
	],
	'bulk/steps.ts': [
		{
			from: 'const before = stored.get(record)?.[0];',
			to: 'const before = stored.get(record)[0];',
			why: 'A look-up has an entry for each record.',
		},
	],
	'bulk/sync.ts': [
		{
			from: 'for (let start = 0, end = 0; start < this.missing.length; start = end) {',
			to: 'for (let start = 0, end = 0; start <= this.missing.length; start = end) {',
			why: 'No records are none to remove.',
		},
	],
	'bulk/write.ts': [
		{
			from: 'if (isFailed) return;',
			to: 'if (false) return;',
			why: 'The run is rejected already; a promise is settled once.',
		},
		{
			from: "if (mayShare && mode === 'upsert') this.insertedIds = new Set();",
			to: 'if (mayShare && true) this.insertedIds = new Set();',
			why: 'Only saves memory: without shared records, no id comes twice.',
		},
		{
			from: "if (mayShare && mode === 'upsert') this.insertedIds = new Set();",
			to: "if (mayShare || mode === 'upsert') this.insertedIds = new Set();",
			why: 'Only saves memory: without shared records, no id comes twice.',
		},
		{
			from: "if (mayShare && mode === 'upsert') this.insertedIds = new Set();",
			to: 'if (true) this.insertedIds = new Set();',
			why: 'Only saves memory: without shared records, no id comes twice.',
		},
		{
			from: 'if (records.length === 0) return undefined;',
			to: 'if (false) return undefined;',
			why: 'A run without records ends at once.',
		},
		{
			from: 'if (records.length > 0) this.apply(afterStop(records, cause));',
			to: 'if (records.length >= 0) this.apply(afterStop(records, cause));',
			why: 'The step for no records is empty.',
		},
		{
			from: 'if (records.length > 0) this.apply(afterStop(records, cause));',
			to: 'if (true) this.apply(afterStop(records, cause));',
			why: 'The step for no records is empty.',
		},
		{
			from: 'if (unsent.length > 0) this.unsent.putBack(unsent);',
			to: 'if (true) this.unsent.putBack(unsent);',
			why: 'Putting nothing back changes nothing.',
		},
		{
			from: 'if (unsent.length > 0) this.unsent.putBack(unsent);',
			to: 'if (unsent.length >= 0) this.unsent.putBack(unsent);',
			why: 'Putting nothing back changes nothing.',
		},
		{
			from: "retryMode: isOnce ? 'notIdempotent' : 'idempotent',",
			to: 'retryMode: isOnce ? \'notIdempotent\' : "",',
			why: 'Only `read` and `notIdempotent` are treated differently.',
		},
		{
			from: "return { kind: 'compare', records: this.uncompared.slice(start, this.nextToCompare) };",
			to: 'return { kind: "", records: this.uncompared.slice(start, this.nextToCompare) };',
			why: 'Whatever is neither sent nor reconciled is compared.',
		},
	],
	'changes/compact.ts': [
		...[
			[
				"? Buffer.from(text.slice(PLAIN.length), 'base64url').toString('utf16le')",
				"? Buffer.from(text, 'base64url').toString('utf16le')",
			],
			[
				": Number(Buffer.from(text.slice(PLAIN.length), 'base64url').toString());",
				": Number(Buffer.from(text, 'base64url').toString());",
			],
		].map(([from, to]) => ({
			from: from!,
			to: to!,
			why: 'An asterisk is no base64: Node.js passes over it.',
		})),
	],
	'changes/reader.ts': [
		{
			from: 'isKnown: (record: PlatformRecord) => boolean = () => false,',
			to: 'isKnown: (record: PlatformRecord) => boolean = () => undefined,',
			why: 'Neither is true.',
		},
		{
			from: 'if (timeOf(record) === reached) atReached.add(versionKey(record));',
			to: 'if (true) atReached.add(versionKey(record));',
			why: 'Only saves memory: at what is older, pages meet as well.',
		},
	],
	'changes/tracker.ts': [
		{
			from: "const instant = (text: string | undefined) => Date.parse(text ?? '') || 0;",
			to: 'const instant = (text: string | undefined) => Date.parse(text ?? "Stryker was here!") || 0;',
			why: 'Neither text is a time.',
		},
		{
			from: 'a.time - b.time || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);',
			to: 'a.time - b.time || (a.id <= b.id ? -1 : a.id > b.id ? 1 : 0);',
			why: 'It is only asked whether one comes after the other.',
		},
		{
			from: 'for (let at = 0; at < text.length; at += HASH_LENGTH) yield text.slice(at, at + HASH_LENGTH);',
			to: 'for (let at = 0; at <= text.length; at += HASH_LENGTH) yield text.slice(at, at + HASH_LENGTH);',
			why: 'No hash is empty.',
		},
		{
			from: "this.earlier = new Set(hashesIn(state.backlog?.earlier ?? ''));",
			to: 'this.earlier = new Set(hashesIn(state.backlog?.earlier ?? "Stryker was here!"));',
			why: 'No ID that is known has such a hash.',
		},
		...['this.earlier.size >= 0', 'true'].map((condition) => ({
			from: "return this.earlier.size > 0 && this.earlier.has(hashOf(id)) ? 'updated' : 'created';",
			to: `return ${condition} && this.earlier.has(hashOf(id)) ? 'updated' : 'created';`,
			why: 'Only saves time: nothing is among no hashes.',
		})),
		{
			from: 'const position = known && compare(to, known) > 0 ? known : to;',
			to: 'const position = known && compare(to, known) >= 0 ? known : to;',
			why: 'Of two equal positions it may be either.',
		},
		{
			from: 'if (known && (!watermark || compare(position, watermark) > 0)) watermark = position;',
			to: 'if (known && (!watermark || compare(position, watermark) >= 0)) watermark = position;',
			why: 'Of two equal positions it may be either.',
		},
		...['known: {},', 'known: { time: Infinity, id: "Stryker was here!" },'].map((to) => ({
			from: "known: { time: Infinity, id: '' },",
			to,
			why: 'No position comes after it.',
		})),
	],
	'execution/changeInput.ts': [
		{
			from: '} catch { return undefined; }',
			to: '} catch {}',
			why: 'A function that returns nothing returns undefined.',
		},
	],
	'execution/itemResults.ts': [
		{
			from: 'if (data[key] === undefined) {',
			to: 'if (true) {',
			why: 'Only saves copies of what has no undefined value.',
		},
	],
	'execution/linkInput.ts': [
		{
			from: ".map((name: unknown) => parameterText(name, 'linkedFields', 'Linked Field Names or IDs'))",
			to: `.map((name: unknown) => parameterText(name, "", 'Linked Field Names or IDs'))`,
			why: 'No form of addresses is known of either name.',
		},
		{
			from: "const [, table = '', field = ''] = /^([^.]+)\\.(.+)$/.exec(path) ?? [];",
			to: `const [, table = '', field = "Stryker was here!"] = /^([^.]+)\\.(.+)$/.exec(path) ?? [];`,
			why: 'Without a table the field is not looked at.',
		},
		{
			from: "const [, table = '', field = ''] = /^([^.]+)\\.(.+)$/.exec(path) ?? [];",
			to: `const [, table = '', field = ''] = /^([^.]+)\\.(.+)$/.exec(path) ?? ["Stryker was here"];`,
			why: 'Without a table the field is not looked at.',
		},
		{
			from: "const field = parameterText(values.field ?? ALL_LINK_FIELDS, 'field', label);",
			to: 'const field = parameterText(values.field ?? ALL_LINK_FIELDS, "", label);',
			why: 'No form of addresses is known of either name.',
		},
		{
			from: "const name = parameterText(linkedField, 'linkedField', 'Linked Field Name or ID');",
			to: `const name = parameterText(linkedField, "", 'Linked Field Name or ID');`,
			why: 'No form of addresses is known of either name.',
		},
		{
			from: 'if (!isElsewhere || application === undefined) throw error;',
			to: 'if (!isElsewhere || false) throw error;',
			why: 'Without an application the table elsewhere is the same one, and the run knows that it is not there.',
		},
	],
	'execution/locator.ts': [
		{
			from: "if (typeof value === 'number' && Number.isFinite(value)) return String(value);",
			to: 'if (true && Number.isFinite(value)) return String(value);',
			why: 'What is no number is not finite.',
		},
	],
	'execution/matchingInput.ts': [
		{
			from: "const isKey = on !== 'recordId' && on.length === 1 && on[0] === key;",
			to: 'const isKey = on !== "" && on.length === 1 && on[0] === key;',
			why: 'The name of that choice is longer than one.',
		},
		{
			from: "const isKey = on !== 'recordId' && on.length === 1 && on[0] === key;",
			to: 'const isKey = true && on.length === 1 && on[0] === key;',
			why: 'The name of that choice is longer than one.',
		},
	],
	'execution/recordInput.ts': [
		{
			from: "const plan = planRecords(table, rows, { ...planOptions(run, index, mode, 'error'), matchOn });",
			to: 'const plan = planRecords(table, rows, { ...planOptions(run, index, mode, ""), matchOn });',
			why: 'One row has no duplicates.',
		},
		{
			from: 'field: problems[0]?.field,',
			to: 'field: problems[0].field,',
			why: 'Where there is no record there is a problem.',
		},
		{
			from: 'if (rules.size > 0 && run.items.length > 1) await lookAhead(run, at, definition);',
			to: 'if (rules.size >= 0 && run.items.length > 1) await lookAhead(run, at, definition);',
			why: 'Only saves time: without rules nothing is looked up.',
		},
		{
			from: 'if (rules.size > 0 && run.items.length > 1) await lookAhead(run, at, definition);',
			to: 'if (true && run.items.length > 1) await lookAhead(run, at, definition);',
			why: 'Only saves time: without rules nothing is looked up.',
		},
		{
			from: 'return added.length === 0 ? nested : { ...nested, ...Object.fromEntries(added) };',
			to: 'return false ? nested : { ...nested, ...Object.fromEntries(added) };',
			why: 'Only saves a copy.',
		},
		{
			from: 'return prefixed !== name && Object.hasOwn(json, prefixed) && !isField.has(prefixed);',
			to: 'return true && Object.hasOwn(json, prefixed) && !isField.has(prefixed);',
			why: 'A name without a prefix is a field here, so it is not free.',
		},
	],
	'execution/recordOutput.ts': [
		{
			from: 'if (!names.some((name) => PREFIXED.test(name))) return fields;',
			to: 'if (false) return fields;',
			why: 'Only saves a copy.',
		},
	],
	'execution/recordQuery.ts': [
		{
			from: "const field = parameterText(name, 'sort', 'Sort');",
			to: `const field = parameterText(name, "", 'Sort');`,
			why: 'No form of addresses is known of either name.',
		},
	],
	'execution/rowValues.ts': [
		{
			from: "const isTooLong = cells.length > width && cells.slice(width).some((cell) => cell !== '');",
			to: "const isTooLong = cells.length >= width && cells.slice(width).some((cell) => cell !== '');",
			why: 'Only saves time: a row that is no longer has no cells behind the header’s.',
		},
		{
			from: "const isTooLong = cells.length > width && cells.slice(width).some((cell) => cell !== '');",
			to: "const isTooLong = true && cells.slice(width).some((cell) => cell !== '');",
			why: 'Only saves time: a row that is no longer has no cells behind the header’s.',
		},
		{
			from: 'const names = header?.slice(0, own) ?? [];',
			to: 'const names = header?.slice(0, own) ?? ["Stryker was here"];',
			why: 'Without a header no column is looked for.',
		},
	],
	'execution/syncInput.ts': [
		{
			from: "const isClearing = run.option<unknown>('options.emptyValues', index, 'leave') === 'clear';",
			to: `const isClearing = run.option<unknown>('options.emptyValues', index, "") === 'clear';`,
			why: 'Neither clears.',
		},
		{
			from: "const name = parameterText(given, 'field', LABEL);",
			to: 'const name = parameterText(given, "", LABEL);',
			why: 'No form of addresses is known of either name.',
		},
	],
	'fields/closestName.ts': [
		{
			from: 'const added = (row[j]! < next[j - 1]! ? row[j]! : next[j - 1]!) + 1;',
			to: 'const added = (row[j]! <= next[j - 1]! ? row[j]! : next[j - 1]!) + 1;',
			why: 'The smaller of two equal numbers is either.',
		},
		{
			from: 'if (Math.abs(a.length - b.length) > limit) return Infinity;',
			to: 'if (false) return Infinity;',
			why: 'Only saves time: so many letters apart, the distance comes out as too large as well.',
		},
		{
			from: 'if (least > limit) return Infinity;',
			to: 'if (false) return Infinity;',
			why: 'Only saves time: the distance comes out as too large as well.',
		},
		{
			from: 'if (next[j]! < least) least = next[j]!;',
			to: 'if (next[j]! <= least) least = next[j]!;',
			why: 'The smaller of two equal numbers is either.',
		},
		{
			from: 'next[j] = replaced < added ? replaced : added;',
			to: 'next[j] = replaced <= added ? replaced : added;',
			why: 'The smaller of two equal numbers is either.',
		},
	],
	'fields/textForm.ts': [
		...[
			['if (offset === undefined) {', 'if (true) {'],
			['if (known.size >= MAX_CACHED) known.clear();', 'if (false) known.clear();'],
			['if (known.size >= MAX_CACHED) known.clear();', 'if (true) known.clear();'],
			[
				'if (known.size >= MAX_CACHED) known.clear();',
				'if (known.size > MAX_CACHED) known.clear();',
			],
			[
				'if (known.size >= MAX_CACHED) known.clear();',
				'if (known.size < MAX_CACHED) known.clear();',
			],
			['if (known.size >= MAX_CACHED) known.clear();', 'if (known.size >= MAX_CACHED) ;'],
			['known.set(step, offset);', ';'],
		].map(([from, to]) => ({
			from: from!,
			to: to!,
			why: 'Only saves time or memory: a zone has the same offset at the same time.',
		})),
		{
			from: 'day = dayForm === wholeForm ? undefined : pattern(dayForm);',
			to: 'day = false ? undefined : pattern(dayForm);',
			why: 'Reads what the whole form reads.',
		},
		{
			from: "const two = (digits: string | undefined) => (digits ?? '0').padStart(2, '0');",
			to: 'const two = (digits: string | undefined) => (digits ?? "").padStart(2, \'0\');',
			why: 'Filled up with zeros either way.',
		},
		{
			from: "if (Number(hour) > 12 || Number(hour) === 0) return '99';",
			to: 'if (Number(hour) > 12 || Number(hour) === 0) return "";',
			why: 'No time either way.',
		},
		{
			from: 'return two(String(/^p/i.test(half) ? inHalf + 12 : inHalf));',
			to: 'return two(String(/p/i.test(half) ? inHalf + 12 : inHalf));',
			why: 'Behind the first letter is an M.',
		},
		{
			from: "const fraction = /\\.(\\d+)$/.exec(time)?.[0] ?? '';",
			to: "const fraction = /\\.(\\d+)/.exec(time)?.[0] ?? '';",
			why: 'A time has one point at most, and digits behind it.',
		},
	],
	'fields/types/files.ts': [
		{
			from: "list(value.remove ?? []).every((id) => typeof id === 'string');",
			to: 'list(value.remove ?? ["Stryker was here"]).every((id) => typeof id === \'string\');',
			why: 'Any text is an id as far as this check goes.',
		},
	],
	'fields/types/link.ts': [
		{
			from: 'return (add ?? remove) !== undefined && [add ?? [], remove ?? []].every(isIds)',
			to: 'return (add ?? remove) !== undefined && [add ?? ["Stryker was here"], remove ?? []].every(isIds)',
			why: 'Any text is an id as far as this check goes.',
		},
		{
			from: 'return (add ?? remove) !== undefined && [add ?? [], remove ?? []].every(isIds)',
			to: 'return (add ?? remove) !== undefined && [add ?? [], remove ?? ["Stryker was here"]].every(isIds)',
			why: 'Any text is an id as far as this check goes.',
		},
	],
	'fields/types/time.ts': [
		{
			from: "/^\\d{4}-\\d{2}-\\d{2}$/.test(text) ? `${text}T00:00:00` : text.replace(' ', 'T');",
			to: "/\\d{4}-\\d{2}-\\d{2}$/.test(text) ? `${text}T00:00:00` : text.replace(' ', 'T');",
			why: 'Text before a date makes it no time either way.',
		},
		{
			from: "`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`,",
			to: "`${day}T${minutes}:${seconds}.${fraction.padEnd(3, '0')}${zone}`,",
			why: 'V8 leaves digits behind the milliseconds out by itself.',
		},
		{
			from: 'const [year, month, day] = [+iso.slice(0, 4), +iso.slice(5, 7), +iso.slice(8, 10)];',
			to: 'const [year, month, day] = [-iso.slice(0, 4), +iso.slice(5, 7), +iso.slice(8, 10)];',
			why: 'A year and its negative are leap years together.',
		},
		{
			from: "if (isDateTimeObject(value)) return value.toISO() ?? '';",
			to: 'if (isDateTimeObject(value)) return value.toISO() ?? "Stryker was here!";',
			why: 'No date either way.',
		},
		{
			from: "if (typeof value !== 'string') return undefined;",
			to: 'if (false) return undefined;',
			why: 'A value that is no text is no calendar date in the check after it.',
		},
		{
			from: "if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();",
			to: 'if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Stryker was here!" : value.toISOString();',
			why: 'No date either way.',
		},
		{
			from: "return typeof value === 'string' ? value.trim() : '';",
			to: 'return typeof value === \'string\' ? value.trim() : "Stryker was here!";',
			why: 'No date either way.',
		},
	],
	'files/transfer.ts': [
		{
			from: "return existing === 'keep' ? { add: files } : { add: files, remove: existing.remove };",
			to: 'return false ? { add: files } : { add: files, remove: existing.remove };',
			why: 'A member without a value is not in the JSON.',
		},
		{
			from: "return existing === 'keep' ? { add: files } : { add: files, remove: existing.remove };",
			to: 'return existing === "" ? { add: files } : { add: files, remove: existing.remove };',
			why: 'A member without a value is not in the JSON.',
		},
		{
			from: "id && target.existing === 'remove' && !target.addsTwice ? 'idempotent' : 'notIdempotent',",
			to: "id && target.existing === 'remove' && !target.addsTwice ? \"\" : 'notIdempotent',",
			why: 'Only `read` and `notIdempotent` are treated differently.',
		},
		{
			from: "retryMode: 'idempotent',",
			to: 'retryMode: "",',
			why: 'Only `read` and `notIdempotent` are treated differently.',
		},
		{
			from: 'return record && id !== undefined && isDifferentRecord(record, id) ? undefined : record;',
			to: 'return record && true && isDifferentRecord(record, id) ? undefined : record;',
			why: 'No record is another one where none was asked for.',
		},
		{
			from: 'if (url === undefined || !URL.canParse(url)) return { path: path() };',
			to: 'if (false || !URL.canParse(url)) return { path: path() };',
			why: 'Nothing is no address either.',
		},
	],
	'files/uploadStream.ts': [
		...[
			[
				'const missing = held.length > 0 ? 3 - held.length : 0;',
				'const missing = true ? 3 - held.length : 0;',
			],
			[
				'const missing = held.length > 0 ? 3 - held.length : 0;',
				'const missing = held.length >= 0 ? 3 - held.length : 0;',
			],
		].map(([from, to]) => ({
			from: from!,
			to: to!,
			why: 'Whole groups of three by themselves are the same base64.',
		})),
		...[
			[
				"if (head.length > 0) yield head.toString('base64');",
				"if (true) yield head.toString('base64');",
			],
			[
				"if (head.length > 0) yield head.toString('base64');",
				"if (head.length >= 0) yield head.toString('base64');",
			],
			[
				'for (let at = missing; at < end; at += PIECE) {',
				'for (let at = missing; at <= end; at += PIECE) {',
			],
			[
				"if (held.length > 0) yield held.toString('base64');",
				"if (true) yield held.toString('base64');",
			],
			[
				"if (held.length > 0) yield held.toString('base64');",
				"if (held.length >= 0) yield held.toString('base64');",
			],
			['if (bytes.length > 0) yield bytes;', 'if (true) yield bytes;'],
			['if (bytes.length > 0) yield bytes;', 'if (bytes.length >= 0) yield bytes;'],
		].map(([from, to]) => ({ from: from!, to: to!, why: 'An empty piece adds nothing.' })),
	],
	'rows/csv.ts': [
		...[
			['private hasNul = false;', 'private hasNul = true;'],
			["this.hasNul ||= text.includes('\\0');", 'this.hasNul ||= text.includes("");'],
		].map(([from, to]) => ({
			from: from!,
			to: to!,
			why: 'Only saves time: no cell has what no text had.',
		})),
		...[
			['for (; at < text.length; at++) {', 'for (; at <= text.length; at++) {'],
			['for (let at = 0; at < text.length; at++) {', 'for (let at = 0; at <= text.length; at++) {'],
		].map(([from, to]) => ({
			from: from!,
			to: to!,
			why: 'Behind the last character is none that ends anything.',
		})),
		{
			from: 'const plain = line.replace(/"[^"]*"?/g, \'\');',
			to: 'const plain = line.replace(/"[^"]*"?/g, "Stryker was here!");',
			why: 'No delimiter is in either text.',
		},
	],
	'rows/exportRows.ts': [
		{
			from: "if (value === undefined || value === null) return '';",
			to: "if (false || value === null) return '';",
			why: 'Where cells are joined, what is undefined is empty.',
		},
	],
	'rows/keyIndex.ts': [
		{
			from: 'for (let at = 0; at < text.length; at++) {',
			to: 'for (let at = 0; at <= text.length; at++) {',
			why: 'A hash as good as the other.',
		},
		{
			from: 'if (this.count >= this.rows.length * FULL) this.grow();',
			to: 'if (this.count > this.rows.length * FULL) this.grow();',
			why: 'No such size is a whole number.',
		},
		{
			from: 'at = (at + 1) & mask;',
			to: 'at = (at - 1) & mask;',
			why: 'Whatever way it looks for a free place, it looks the same way again.',
		},
		{
			from: 'if (row !== 0) this.set(this.place(high[at]!, low[at]!), high[at]!, low[at]!, row);',
			to: 'if (true) this.set(this.place(high[at]!, low[at]!), high[at]!, low[at]!, row);',
			why: 'Only saves time: it says of a free place that it is free.',
		},
	],
	'rows/ndjson.ts': [
		{
			from: 'if (exact !== line) values = JSON.parse(exact);',
			to: 'if (true) values = JSON.parse(exact);',
			why: 'Only saves time: the same text has the same values.',
		},
	],
	'rows/rejectedRows.ts': [
		{
			from: 'for (let at = 0; at < line.length; at++) {',
			to: 'for (let at = 0; at <= line.length; at++) {',
			why: 'Behind the last character is none that counts.',
		},
		{
			from: "const own = values ? Object.keys(withoutAdded(values, this.isField)) : ['line'];",
			to: 'const own = values ? Object.keys(withoutAdded(values, this.isField)) : [""];',
			why: 'No added column has either name.',
		},
	],
	'rows/text.ts': [
		{
			from: '} catch { return false; }',
			to: '} catch {}',
			why: 'Neither is true.',
		},
		{
			from: 'if (byte >= 0xc0) {',
			to: 'if (byte > 0xc0) {',
			why: 'No character in UTF-8 has that byte.',
		},
	],
	'transport/client.ts': [
		{
			from: "return parseResponse(redact(asText, settings), 'anything');",
			to: 'return parseResponse(redact(asText, settings), "");',
			why: 'What a success must carry does not matter to a failure.',
		},
	],
	'transport/errorEntries.ts': [
		{
			from: 'const index = indexKey === undefined ? undefined : entry[indexKey];',
			to: 'const index = false ? undefined : entry[indexKey];',
			why: 'No entry has a key called undefined that is an index.',
		},
		{
			from: "recordIndex: typeof index === 'number' && Number.isInteger(index) ? index : undefined,",
			to: 'recordIndex: true && Number.isInteger(index) ? index : undefined,',
			why: '`Number.isInteger` is false for what is no number; the check before is for the compiler.',
		},
	],
	'transport/json.ts': [
		{
			from: 'if (!MAY_LOSE_DIGITS.test(json)) return;',
			to: 'if (false) return;',
			why: 'Only saves time: no number in such a text loses digits.',
		},
		{
			from: 'for (let at = 0; at < json.length; at += 1) {',
			to: 'for (let at = 0; at <= json.length; at += 1) {',
			why: 'Behind the last character is no number.',
		},
		{
			from: 'return exact === text ? value : parseJson(exact);',
			to: 'return false ? value : parseJson(exact);',
			why: 'Only saves time: the same text has the same value.',
		},
		{
			from: "const [, whole = '', decimals, onlyDecimals, exponent = '0'] = match;",
			to: 'const [, whole = \'\', decimals, onlyDecimals, exponent = ""] = match;',
			why: 'The number of an empty text is 0.',
		},
		{
			from: 'const power = Number(exponent) - fraction.length + (digits.length - significant.length);',
			to: 'const power = Number(exponent) - fraction.length + (digits.length + significant.length);',
			why: 'Forms are compared only with each other: with the same digits, both powers shift alike.',
		},
		{
			from: "if (significant === '') return '0';",
			to: 'if (significant === \'\') return "";',
			why: 'Zero has one form, whichever; no other number has it.',
		},
		{
			from: 'for (let at = 0; at < text.length; at += 1) {',
			to: 'for (let at = 0; at <= text.length; at += 1) {',
			why: 'Behind the end of a text there is no character.',
		},
		{
			from: '} catch { return undefined; }',
			to: '} catch {}',
			why: 'A function without a return gives undefined.',
		},
	],
	'transport/rateLimiter.ts': [
		{
			from: 'if (this.sent.length > this.perMinute) this.sent.shift();',
			to: 'if (false) this.sent.shift();',
			why: 'Only saves memory: places are counted from the end.',
		},
		{
			from: 'if (this.sent.length > this.perMinute) this.sent.shift();',
			to: 'if (this.sent.length > this.perMinute) ;',
			why: 'Only saves memory: places are counted from the end.',
		},
	],
	'transport/streams.ts': [
		{
			from: 'const stream = (like.constructor as unknown as StreamClass). … pieces, { objectMode: true, highWaterMark: CHUNKS_AHEAD, });',
			to: 'const stream = (like.constructor as unknown as StreamClass).from(pieces, {});',
			why: 'Only makes fewer pieces before they are asked for.',
		},
	],
	'transport/tokens.ts': [
		{
			from: 'const isExpired = expires !== undefined && Date.parse(expires) < Date.now();',
			to: 'const isExpired = true && Date.parse(expires) < Date.now();',
			why: 'A time that is not known is not before now.',
		},
	],
};
