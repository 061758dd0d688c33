// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_page.h"

namespace detccl::cli {

// Cells that share a pixel show the worst of them. Causes are ringed.
const std::string_view kTracePage = R"page(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>DetCCL: where two runs part</title>
<style>
  :root { --page: #fff; --text: #1d2530; --dim: #66707e; --line: #d9dee5;
          --same: #c9dfd6; --different: #c8324a; --a: #e3a033; --b: #4f79c9; --none: #f1f3f6; --ring: #111; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #14181e; --text: #e4e8ee; --dim: #98a2b0; --line: #323a45;
            --same: #2c5546; --different: #ff6178; --a: #e3a033; --b: #7fa3ee; --none: #1f252d; --ring: #fff; } }
  body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: var(--page); color: var(--text);
         font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.3rem; margin: 0 0 .2rem; }
  p { margin: .2rem 0; }
  .dim, th { color: var(--dim); font-weight: normal; }
  #map { position: relative; margin: 1rem 0 .3rem 4.5rem; }
  canvas { display: block; outline: 1px solid var(--line); }
  .tick { position: absolute; color: var(--dim); font-size: 12px; line-height: 12px; white-space: nowrap; }
  #tip { position: absolute; pointer-events: none; padding: .15rem .5rem; background: var(--text); color: var(--page);
         font-size: 13px; border-radius: 3px; white-space: nowrap; display: none; z-index: 1; }
  .key { display: inline-block; margin-right: 1.2rem; }
  .key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; vertical-align: -1px;
           outline: 1px solid var(--line); }
  table { border-collapse: collapse; margin-top: 1.2rem; width: 100%; }
  th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  tr.cause td:first-child { font-weight: 600; color: var(--different); }
</style>
<h1 id="verdict"></h1>
<p id="runs" class="dim"></p>
<div id="notes"></div>
<div id="map"><canvas></canvas><div id="tip"></div></div>
<p id="keys" style="margin: 1.6rem 0 0 4.5rem"></p>
<table id="findings"></table>
<script type="application/json" id="data">@DATA@</script>
<script>
const data = JSON.parse(document.getElementById('data').textContent);
const names = ['same', 'different', 'only in A', 'only in B', 'not there'];
const colours = ['same', 'different', 'a', 'b', 'none'];
const worst = [1, 4, 2, 3, 0];
const rows = data.rows.map(runs => {
  const row = new Uint8Array(data.steps.length);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) { row.fill(runs[i + 1], at, at + runs[i]); at += runs[i]; }
  return row;
});
const stepName = step => step < 0 ? 'before the first step' : 'step ' + step;
const byId = id => document.getElementById(id);

byId('verdict').textContent =
  data.verdict === 0 ? 'The runs are the same: ' + data.operations + ' operations of ' + rows.length + ' ranks' :
  data.verdict === 1 ? data.total + ' of ' + rows.length + ' ranks differ; possible causes on ' + data.causes :
  'Cannot tell: ' + data.reason;
byId('runs').textContent = 'A: ' + data.a + ', B: ' + data.b;
for (const note of data.notes) {
  const line = document.createElement('p');
  line.textContent = note;
  byId('notes').appendChild(line);
}

const map = byId('map'), canvas = map.querySelector('canvas'), tip = byId('tip');
const columns = data.steps.length, lines = rows.length;
const width = Math.max(1, Math.min(map.clientWidth || 1000, columns * 24));
const height = Math.max(1, Math.min(640, lines * 18));
const cell = { w: Math.max(1, width / Math.max(1, columns)), h: Math.max(1, height / Math.max(1, lines)) };
function draw() {
  const style = getComputedStyle(document.documentElement), scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
  const c = canvas.getContext('2d');
  const fill = colours.map(name => style.getPropertyValue('--' + name));
  c.scale(scale, scale);
  const w = Math.min(columns, Math.floor(width)), h = Math.min(lines, Math.floor(height));
  const grid = new Uint8Array(w * h).fill(4);
  for (let r = 0; r < lines; ++r) {
    const y = Math.floor(r * h / lines);
    for (let s = 0; s < columns; ++s) {
      const at = y * w + Math.floor(s * w / columns);
      if (worst[rows[r][s]] > worst[grid[at]]) grid[at] = rows[r][s];
    }
  }
  const gap = width / w > 6 && height / h > 6 ? 1 : 0;
  for (let y = 0; y < h; ++y) for (let x = 0; x < w; ++x) {
    c.fillStyle = fill[grid[y * w + x]];
    const left = x * width / w, top = y * height / h;
    c.fillRect(left, top, width / w - gap + (gap ? 0 : .5), height / h - gap + (gap ? 0 : .5));
  }
  c.strokeStyle = style.getPropertyValue('--ring');
  c.lineWidth = 1.5;
  for (const f of data.findings) {
    const x = data.steps.indexOf(f.step), y = data.ranks.indexOf(f.rank);
    if (f.follows !== null || x < 0 || y < 0) continue;
    c.beginPath();
    c.arc((x + .5) * width / columns, (y + .5) * height / lines, Math.max(5, Math.min(cell.w, cell.h) * .42), 0, 7);
    c.stroke();
  }
}
function tick(text, left, top, right) {
  const mark = document.createElement('div');
  mark.className = 'tick';
  mark.textContent = text;
  mark.style.top = top + 'px';
  if (right) { mark.style.right = 'calc(100% + 6px)'; } else { mark.style.left = left + 'px'; }
  map.appendChild(mark);
}
function pick(count, room) {
  const least = count / Math.max(1, Math.floor(room)), unit = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const stride = [1, 2, 5, 10].map(n => n * unit).find(n => n >= least);
  return Array.from({length: Math.ceil(count / stride)}, (_, i) => i * stride);
}
if (columns && lines) {
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  for (const r of pick(lines, height / 16)) tick('rank ' + data.ranks[r], 0, (r + .5) * height / lines - 6, true);
  tick('step', 0, height + 4, true);
  for (const s of pick(columns, width / 56))
    tick(data.steps[s] < 0 ? 'start' : data.steps[s], s * width / columns, height + 4, false);
  canvas.addEventListener('mousemove', event => {
    const s = Math.min(columns - 1, Math.floor(event.offsetX * columns / width));
    const r = Math.min(lines - 1, Math.floor(event.offsetY * lines / height));
    tip.textContent = 'rank ' + data.ranks[r] + ', ' + stepName(data.steps[s]) + ': ' + names[rows[r][s]];
    tip.style.display = 'block';
    tip.style.left = Math.min(event.offsetX + 14, width - 100) + 'px';
    tip.style.top = event.offsetY + 14 + 'px';
  });
  canvas.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
} else {
  map.remove();
}
for (let i = 0; i < names.length; ++i) {
  if (!rows.some(row => row.includes(i))) continue;
  const key = document.createElement('span'), box = document.createElement('i');
  key.className = 'key';
  box.style.background = 'var(--' + colours[i] + ')';
  key.append(box, names[i]);
  byId('keys').appendChild(key);
}
if (data.findings.length) {
  const line = (cells, tag, name) => {
    const row = byId('findings').insertRow();
    row.className = name;
    for (const text of cells) {
      const item = document.createElement(tag);
      item.textContent = text;
      row.appendChild(item);
    }
  };
  line(['', 'rank', 'where', 'operation', 'what differs'], 'th', '');
  for (const f of data.findings) {
    const where = stepName(f.step) + (f.phase ? ', ' + f.phase : '');
    line([f.follows === null ? 'cause' : 'follows from rank ' + f.follows, f.rank, where, f.operation, f.text], 'td',
         f.follows === null ? 'cause' : '');
  }
  if (data.total > data.findings.length)
    line(['', '', '', '… and ' + (data.total - data.findings.length) + ' more ranks', ''], 'td', '');
}
</script>
</html>
)page";

}  // namespace detccl::cli
