// Draws every <table data-chart="bars"> with two rows or more as bars: the first column names them, each other column is a series.
// A column whose head is marked with data-plain is not drawn. The table stays in the page: for screen readers,
// and to be read where it is marked with data-keep. With data-most, a line is drawn there, unless bars are far below it.
"use strict";

(() => {
  const HEIGHT = 200;
  const LABEL_PIXELS = 72;
  const MOST_LABEL = 14;
  const FAR = 5;
  const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (text) => (text.length > MOST_LABEL ? `${text.slice(0, MOST_LABEL - 1)}…` : text);
  const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

  const figures = (table) => {
    const heads = [...table.querySelectorAll("thead th")];
    const drawn = heads.map((_, at) => at).filter((at) => at > 0 && !("plain" in heads[at].dataset));
    const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.cells]);
    const value = (cell) => Number(cell.dataset.value ?? cell.textContent.replace(/[^0-9.-]/g, "")) || 0;
    const series = drawn.map((at) => rows.map((cells) => value(cells[at])));
    const high = Math.max(0, ...series.flat());
    const most = Number(table.dataset.most) || 0;
    return {
      whole: series.flat().every(Number.isInteger),
      most: high * FAR >= most ? most : 0,
      names: drawn.map((at) => heads[at].textContent.trim()),
      labels: rows.map((cells) => cells[0].textContent.trim()),
      series,
    };
  };

  // Bars of several series stand side by side.
  const bars = (count) => (plot, series, first, last) => {
    const path = new Path2D();
    const step = Math.abs(plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true));
    const room = Math.min(step * 0.76, 64 * devicePixelRatio * count);
    const width = room / count;
    const base = plot.valToPos(0, "y", true);
    for (let at = first; at <= last; at += 1) {
      const top = plot.valToPos(plot.data[series][at], "y", true);
      const left = plot.valToPos(plot.data[0][at], "x", true) - room / 2 + width * (series - 1);
      if (base - top > 0) path.rect(left, top, Math.max(1, width - devicePixelRatio), base - top);
    }
    return { fill: path, stroke: null, clip: null, band: null, gaps: null, flags: 0 };
  };

  const limit = (most) => (plot) => {
    const { ctx, bbox } = plot;
    const height = plot.valToPos(most, "y", true);
    ctx.save();
    ctx.strokeStyle = colour("--quiet");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, height);
    ctx.lineTo(bbox.left + bbox.width, height);
    ctx.stroke();
    ctx.restore();
  };

  const options = (found, width, legend) => {
    const quiet = colour("--quiet");
    const line = colour("--line");
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const every = Math.max(1, Math.ceil((found.labels.length * LABEL_PIXELS) / Math.max(1, width - 60)));
    const shown = found.labels.map((_, at) => at).filter((at) => at % every === 0);
    return {
      width,
      height: HEIGHT,
      padding: [12, 24, 0, 0],
      cursor: { points: { show: false }, y: false, drag: { x: false, y: false } },
      legend: { show: legend || found.names.length > 1, live: true },
      scales: {
        x: { time: false, range: [-0.5, found.labels.length - 0.5] },
        y: { range: (_, low, high) => [0, (Math.max(high, found.most) || 1) * 1.05] },
      },
      axes: [
        {
          stroke: quiet,
          font,
          size: 30,
          grid: { show: false },
          ticks: { show: false },
          splits: () => shown,
          values: (_, splits) => splits.map((at) => short(found.labels[at] ?? "")),
        },
        {
          stroke: quiet,
          font,
          size: 56,
          grid: { stroke: line, width: 1 },
          ticks: { show: false },
          incrs: [...(found.whole ? [] : [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]), 1, 2, 5, 10, 20, 50, 1e2, 2e2, 5e2, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8, 1e9],
          values: (_, splits) => splits.map((value) => (value < 1 ? Number(value.toPrecision(2)) : compact.format(value))),
        },
      ],
      hooks: { draw: found.most ? [limit(found.most)] : [] },
      series: [
        { label: "", value: (_, at) => (at === null ? "" : (found.labels[at] ?? "")) },
        ...found.names.map((label, at) => ({
          label,
          fill: colour(COLOURS[at % COLOURS.length]),
          paths: bars(found.names.length),
          points: { show: false },
          value: (_, value) => (value === null ? "" : value.toLocaleString()),
        })),
      ],
    };
  };

  const draw = (table) => {
    const found = figures(table);
    if (found.labels.length < 2 || table.dataset.drawn) return;
    table.dataset.drawn = "yes";
    const holder = document.createElement("div");
    holder.className = "plot";
    holder.setAttribute("aria-hidden", "true");
    if (table.caption) {
      const title = document.createElement("p");
      title.className = "plot-title";
      title.textContent = table.caption.textContent;
      holder.append(title);
    }
    const together = document.createElement("div");
    table.before(together);
    together.append(holder, table);
    const kept = "keep" in table.dataset;
    if (kept) table.caption?.classList.add("unseen");
    else table.classList.add("unseen");
    let plot = null;
    const again = () => {
      plot?.destroy();
      const width = holder.clientWidth;
      if (width) plot = new uPlot(options(found, width, !kept), [found.labels.map((_, at) => at), ...found.series], holder);
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    let drawn = 0;
    new ResizeObserver(() => {
      if (holder.clientWidth !== drawn) {
        drawn = holder.clientWidth;
        again();
      }
    }).observe(holder);
  };

  const drawAll = (within) => within.querySelectorAll('table[data-chart="bars"]').forEach(draw);
  drawAll(document);
  document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt));
})();
