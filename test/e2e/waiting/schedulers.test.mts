/**
 * The trigger under each scheduler of n8n, in a real n8n: nothing lost, nothing emitted twice. Each
 * situation prints how many changes were lost and emitted twice.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8N_VERSION } from '../../../harness/install.mts';
import { setUpTestEnvironment, type TestEnvironment } from '../../../harness/testEnvironment.mts';
import { IS_PART } from '../../support/part.mts';
import { ActiveWorkflow, manyPollTimes, onceAMinute, type Scheduler, SCHEDULERS, type Verdict } from './activeWorkflow.mts';

/** Time for n8n to poll again after a failed poll, and to store an execution, on a slow machine. */
const TIME_LIMIT_MS = 600_000;

/** n8n waits up to 30 minutes after polls that failed one after the other. */
const BACK_OFF_MS = 31 * 60_000;

/** How much happens in a situation. */
const ROUNDS = IS_PART ? 20 : 60;
const KILLS = IS_PART ? 1 : 3;
const BACKLOG = IS_PART ? 2_000 : 10_000;

/** n8n 1 has only the first. */
const schedulers = (Object.keys(SCHEDULERS) as Scheduler[]).slice(0, N8N_VERSION.startsWith('1.') ? 1 : undefined);

// Each has its own n8n and sandbox, and mostly waits.
describe('schedulers', { concurrency: true }, () => {
	for (const scheduler of schedulers) testScheduler(scheduler);
});

function testScheduler(scheduler: Scheduler) {
	// One test after the other, because all of them use one n8n.
	describe(scheduler, { concurrency: false }, () => {
		let environment: TestEnvironment;
		let workflow: ActiveWorkflow;

		before(async () => {
			environment = await setUpTestEnvironment();
			workflow = new ActiveWorkflow(environment, scheduler);
			await workflow.start();
		});

		after(async () => {
			await workflow?.stop();
			await environment?.tearDown();
		});

		const expectExact = (situation: string, verdict: Verdict) => {
			console.log(JSON.stringify({ scheduler, situation, ...verdict }));
			const { lost, doubled, early } = verdict;
			assert.deepEqual({ lost, doubled, early }, { lost: 0, doubled: 0, early: 0 });
		};

		test('changes between activation and the first scheduled poll', async () => {
			await workflow.create(3);
			await workflow.activate(onceAMinute(20));
			await workflow.create(3);
			expectExact('activation', await workflow.verdict(TIME_LIMIT_MS, 1000));
		});

		test('killed before the first scheduled poll', async () => {
			await workflow.activate(onceAMinute(25));
			await workflow.create(2);
			await workflow.kill();
			await workflow.create(2);
			await workflow.start();
			expectExact('activation, kill', await workflow.verdict(TIME_LIMIT_MS, 1000));
		});

		test('several poll times, two of them at each moment', async () => {
			await workflow.activate(manyPollTimes());
			for (let round = 0; round < ROUNDS; round += 1) {
				const [id] = await workflow.create(1 + (round % 3));
				await sleep(500);
				if (round % 10 === 9) {
					await workflow.emitted(TIME_LIMIT_MS);
					await workflow.update(id!);
				}
			}
			expectExact('several poll times', await workflow.verdict(TIME_LIMIT_MS));
		});

		test('killed while records are written', async () => {
			for (let kill = 0; kill < KILLS; kill += 1) {
				for (let round = 0; round < 10; round += 1) {
					await workflow.create(1);
					await sleep(300 + 130 * kill);
				}
				await workflow.kill();
				await workflow.create(5);
				await workflow.start();
			}
			expectExact('several poll times, kills', await workflow.verdict(TIME_LIMIT_MS));
		});

		test(`a backlog of ${BACKLOG} records`, async () => {
			for (let batch = 0; batch < BACKLOG / 1000; batch += 1) await workflow.create(1000);
			expectExact('backlog', await workflow.verdict(TIME_LIMIT_MS));
		});

		if (IS_PART) return;

		test('stopped and started again', async () => {
			await workflow.create(5);
			await workflow.stop();
			await workflow.create(5);
			await workflow.start();
			await workflow.create(5);
			expectExact('restart', await workflow.verdict(TIME_LIMIT_MS));
		});

		test('polls that take longer than n8n grants', async () => {
			await workflow.stop();
			await workflow.start({ N8N_SCHEDULER_POLL_TIMEOUT: '12' });
			await workflow.create(5);
			await workflow.slowDown(15_000, 3);
			for (let round = 0; round < 10; round += 1) {
				await workflow.create(1);
				await sleep(1000);
			}
			const verdict = await workflow.verdict(BACK_OFF_MS);
			await workflow.slowDown(0, 0);
			await workflow.stop();
			await workflow.start();
			expectExact('polls that take too long', verdict);
		});

		test('Record Created: polls that only see updates, then a restart', async () => {
			await workflow.activate(manyPollTimes(), { triggerOn: 'created' });
			const ids = await workflow.create(4);
			await workflow.emitted(TIME_LIMIT_MS);
			for (const id of ids) await workflow.update(id, false);
			await workflow.polls(4);
			for (const id of ids) await workflow.update(id, false);
			await workflow.polls(4);
			await workflow.stop();
			await workflow.start();
			await workflow.create(3);
			expectExact('null polls', await workflow.verdict(TIME_LIMIT_MS));
		});
	});
}
