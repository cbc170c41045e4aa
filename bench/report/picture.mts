/** The picture of docs/performance.md, in Mermaid's language: GitHub draws it. */
import { chosenRows } from './choice.mts';
import { showTimes, type Row } from './row.mts';

const PIXELS_PER_ROW = 28;
const PIXELS_AROUND = 70;

/** How many times as fast as the fastest hand-built workflow ours is. */
export function renderPicture(rows: Row[]): string {
	const compared = chosenRows(rows).flatMap(([{ name, ratioToPeer: ratio }]) =>
		ratio === null ? [] : [{ name, ratio }],
	);
	const names = compared.map(({ name, ratio }) => `"${name}: ${showTimes(ratio)}×"`);
	const longest = Math.max(...compared.map(({ ratio }) => ratio));
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
  y-axis 0 --> ${Math.ceil(longest)}
  bar [${compared.map(({ ratio }) => showTimes(ratio)).join(', ')}]
\`\`\``;
}
