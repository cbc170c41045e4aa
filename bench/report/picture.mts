/** The picture of docs/performance.md, in Mermaid's language: GitHub draws it. */
import { chosenRows } from './choice.mts';
import { showTimes, type Row } from './row.mts';

/** Longer bars would make the others too short to compare. */
const LONGEST_BAR = 6;
const PIXELS_PER_ROW = 28;
const PIXELS_AROUND = 70;

/** How many times as fast as the fastest hand-built workflow ours is. */
export function renderPicture(rows: Row[]): string {
	const compared = chosenRows(rows)
		.map(([row]) => row)
		.filter(({ ratioToPeer }) => ratioToPeer !== null);
	const names = compared.map(({ name, ratioToPeer }) => `"${name}: ${showTimes(ratioToPeer!)}×"`);
	const bars = compared.map(({ ratioToPeer }) => Math.min(ratioToPeer!, LONGEST_BAR).toFixed(2));
	return `\`\`\`mermaid
---
config:
  themeVariables:
    xyChart:
      plotColorPalette: '#4c8ed9'
  xyChart:
    width: 900
    height: ${PIXELS_AROUND + PIXELS_PER_ROW * compared.length}
---
xychart-beta horizontal
  title "How many times as fast as the fastest hand-built workflow"
  x-axis [${names.join(', ')}]
  y-axis 0 --> ${LONGEST_BAR}
  bar [${bars.join(', ')}]
\`\`\``;
}
