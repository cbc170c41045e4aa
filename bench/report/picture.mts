/** The picture of docs/performance.md, in Mermaid's language: GitHub draws it. */
import type { Row } from './row.mts';

const GOAL = 2;
const PIXELS_PER_ROW = 30;
const PIXELS_AROUND = 90;

/** How many times as fast as the fastest hand-built workflow ours is; the goal is a line. */
export function renderPicture(rows: Row[]): string {
	const compared = rows.filter(({ ratioToPeer }) => ratioToPeer !== null);
	const ratios = compared.map(({ ratioToPeer }) => Number(ratioToPeer!.toFixed(1)));
	const names = compared.map(({ name }) => JSON.stringify(name));
	const most = Math.ceil(Math.max(GOAL, ...ratios)) + 1;
	return `\`\`\`mermaid
---
config:
  themeVariables:
    xyChart:
      plotColorPalette: '#4c8ed9, #cf4a3c'
  xyChart:
    width: 900
    height: ${PIXELS_AROUND + PIXELS_PER_ROW * compared.length}
    showDataLabel: true
---
xychart-beta horizontal
  title "Times as fast as the fastest hand-built workflow (line: the goal for writing)"
  x-axis [${names.join(', ')}]
  y-axis 0 --> ${most}
  bar [${ratios.join(', ')}]
  line [${ratios.map(() => GOAL).join(', ')}]
\`\`\``;
}
