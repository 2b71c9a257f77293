"use strict";
// Draws the curves and lists the trades of a report. Reads #data, asks for nothing else.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const charts = new Map();

  // ---- plain things

  const pad = (number) => String(number).padStart(2, "0");
  const day = (seconds) => {
    const at = new Date(seconds * 1000);
    return `${at.getUTCFullYear()}.${pad(at.getUTCMonth() + 1)}.${pad(at.getUTCDate())}`;
  };
  const clock = (seconds) => {
    const at = new Date(seconds * 1000);
    return `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`;
  };
  const moment = (seconds) => (seconds === null ? "-" : `${day(seconds)} ${clock(seconds)}`);
  const fixed = (value, digits) => {
    if (value === null) return "-";
    const [whole, part] = Math.abs(value).toFixed(digits).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") + (part ? `.${part}` : "");
    return (value < 0 && Number(value.toFixed(digits)) !== 0 ? "-" : "") + grouped;
  };
  const make = (name, words, kind) => {
    const made = document.createElement(name);
    if (words !== undefined) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };
  const unpacked = (text, Kind) => {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  };
  // First place whose time is not before the given one.
  const place = (times, time) => {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  };
  const nice = (step) => {
    const power = 10 ** Math.floor(Math.log10(step));
    return [1, 2, 5, 10].find((times) => times * power >= step * 0.999999) * power;
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // ---- charts

  const STEPS = [60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600];
  const MONTH = 2629746;
  const RIGHT = 70, BOTTOM = 22, TOP = 6, GAP = 12;

  const drawdownOf = (values) => {
    const falls = new Float32Array(values.length);
    let peak = -Infinity;
    for (let i = 0; i < values.length; i++) {
      peak = Math.max(peak, values[i]);
      falls[i] = peak > 0 ? (values[i] / peak - 1) * 100 : 0;
    }
    return falls;
  };

  class Chart {
    constructor(canvas, about) {
      this.canvas = canvas;
      this.about = about;
      this.times = unpacked(about.time, Uint32Array);
      const lines = about.series.map((each) => ({ ...each, values: unpacked(each.values, Float32Array) }));
      this.panes = [{ lines, share: 1, digits: about.digits }];
      if (about.kind === "account" && lines[1].values.length) {
        this.panes[0].share = 0.72;
        const values = drawdownOf(lines[1].values);
        this.panes.push({
          lines: [{ name: "Drawdown %", colour: "fall", values, filled: true }],
          share: 0.28, digits: 1, top: 0,
        });
      }
      // The axis counts bars, so that nights and weekends take no room.
      this.first = 0;
      this.last = Math.max(this.times.length - 1, 1);
      this.least = Math.min(12, this.last);
      [this.from, this.to] = [this.first, this.last];
      this.cursor = null;
      this.marked = null;
      this.pending = false;
      this.addTools();
      this.listen();
      new ResizeObserver(() => this.draw()).observe(canvas);
    }

    addTools() {
      const bar = make("div", undefined, "bar");
      const button = (words, label, act) => {
        const made = make("button", words);
        made.type = "button";
        made.setAttribute("aria-label", label);
        made.addEventListener("click", act);
        bar.append(made);
      };
      button("\u2212", "Zoom out", () => this.zoom(1.6));
      button("+", "Zoom in", () => this.zoom(0.625));
      button("All", "Show all", () => this.show(this.first, this.last));
      const lengths = [["1Y", 365 * 86400, "a year"], ["3M", 92 * 86400, "three months"], ["1M", 31 * 86400, "a month"], ["1W", 7 * 86400, "a week"]];
      for (const [words, length, label] of lengths) {
        if (length < this.timeAt(this.last) - this.timeAt(this.first)) button(words, `Show ${label}`, () => {
          const end = Math.max(this.timeAt(this.to), this.timeAt(this.first) + length);
          this.show(this.place(end - length), this.place(end));
        });
      }
      this.legend = make("span", undefined, "legend");
      bar.append(this.legend);
      this.canvas.before(bar);
      this.rest();
    }

    rest() {
      this.legend.replaceChildren();
      for (const pane of this.panes) for (const line of pane.lines) this.legend.append(make("span", undefined, `key ${line.colour}`), line.name);
      if (this.about.spans.length) this.legend.append(make("span", undefined, "key trained"), "trained on");
    }

    listen() {
      const canvas = this.canvas, touched = new Map();
      const share = (event) => {
        const box = canvas.getBoundingClientRect();
        return (event.clientX - box.left) / (box.width - RIGHT);
      };
      canvas.addEventListener("wheel", (event) => {
        if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event));
      }, { passive: false });
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        touched.set(event.pointerId, event.clientX);
      });
      canvas.addEventListener("pointermove", (event) => {
        this.cursor = share(event);
        if (touched.has(event.pointerId)) this.drag(touched, event);
        this.draw();
      });
      for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => touched.delete(event.pointerId));
      canvas.addEventListener("pointerleave", () => { this.cursor = null; this.rest(); this.draw(); });
      canvas.addEventListener("dblclick", () => this.show(this.first, this.last));
      canvas.addEventListener("keydown", (event) => {
        const step = (this.to - this.from) / 8;
        const act = {
          ArrowLeft: () => this.show(this.from - step, this.to - step),
          ArrowRight: () => this.show(this.from + step, this.to + step),
          "+": () => this.zoom(0.625), "=": () => this.zoom(0.625), "-": () => this.zoom(1.6),
          0: () => this.show(this.first, this.last), Home: () => this.show(this.first, this.first + this.to - this.from),
          End: () => this.show(this.last - this.to + this.from, this.last),
        }[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      });
    }

    drag(touched, event) {
      const width = this.canvas.clientWidth - RIGHT, before = touched.get(event.pointerId);
      if (touched.size === 1) {
        const shift = (before - event.clientX) / width * (this.to - this.from);
        this.show(this.from + shift, this.to + shift);
      } else {
        const other = [...touched].find(([id]) => id !== event.pointerId)[1];
        const [was, is] = [Math.abs(before - other), Math.abs(event.clientX - other)];
        if (was > 10 && is > 10) this.zoom(was / is);
      }
      touched.set(event.pointerId, event.clientX);
    }

    zoom(times, share = 0.5) {
      const length = Math.min(Math.max((this.to - this.from) * times, this.least), this.last - this.first);
      const at = this.from + (this.to - this.from) * Math.min(Math.max(share, 0), 1);
      const from = at - length * (at - this.from) / (this.to - this.from);
      this.show(from, from + length);
    }

    show(from, to) {
      const length = Math.min(to - from, this.last - this.first);
      this.from = Math.min(Math.max(from, this.first), this.last - length);
      this.to = this.from + length;
      this.draw();
    }

    draw() {
      if (this.pending) return;
      this.pending = true;
      requestAnimationFrame(() => { this.pending = false; this.paint(); });
    }

    paint() {
      const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width || !this.times.length) return;
      const ratio = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      pen.font = "12px system-ui, sans-serif";
      this.across = width - RIGHT;
      const begin = Math.max(Math.floor(this.from), 0);
      const end = Math.min(Math.ceil(this.to) + 1, this.times.length);
      this.shade(pen, height);
      this.dates(pen, height);
      let top = TOP;
      const room = height - BOTTOM - TOP - GAP * (this.panes.length - 1);
      for (const pane of this.panes) {
        pane.from = top;
        pane.to = top + room * pane.share;
        this.scale(pane, begin, end);
        this.grid(pen, pane);
        for (const line of pane.lines) this.line(pen, pane, line, begin, end);
        top = pane.to + GAP;
      }
      this.trades(pen);
      if (this.cursor !== null) this.cross(pen, height);
    }

    // Pixel of a bar's number, number of a time (between two bars in proportion), time of a number.
    x(number) { return (number - this.from) / (this.to - this.from) * this.across; }

    place(time) {
      const after = place(this.times, time), last = this.times.length - 1;
      if (after === 0 || after > last) return Math.min(after, last);
      const before = this.times[after - 1];
      return after - 1 + (time - before) / (this.times[after] - before);
    }

    timeAt(number) {
      const below = Math.min(Math.max(Math.floor(number), 0), this.times.length - 1);
      const above = Math.min(below + 1, this.times.length - 1);
      return this.times[below] + (this.times[above] - this.times[below]) * (number - below);
    }

    shade(pen, height) {
      pen.fillStyle = colour("trained");
      for (const [first, last] of this.about.spans) {
        const left = Math.max(this.x(this.place(first)), 0), right = Math.min(this.x(this.place(last)), this.across);
        if (right > left) pen.fillRect(left, TOP, right - left, height - BOTTOM - TOP);
      }
    }

    // Where the time axis has a line: round times, or firsts of months and years.
    ticks() {
      const from = this.timeAt(this.from), to = this.timeAt(this.to);
      const wanted = (to - from) / Math.max(this.across / 100, 3);
      const step = STEPS.find((each) => each >= wanted);
      const found = [];
      if (step) {
        for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
        return found;
      }
      const months = [1, 2, 3, 6, 12, 24, 60, 120].find((each) => each * MONTH >= wanted) || 240;
      const begin = new Date(from * 1000);
      let month = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months;
      for (let at; (at = Date.UTC(Math.floor(month / 12), month % 12) / 1000) <= to; month += months) if (at >= from) found.push(at);
      return found;
    }

    dates(pen, height) {
      const found = this.ticks(), within = found.length > 1 && found[1] - found[0] < 86400;
      let taken = -Infinity;
      pen.textAlign = "center";
      for (const at of found) {
        const x = this.x(this.place(at)), words = within && at % 86400 ? clock(at) : day(at);
        const half = pen.measureText(words).width / 2;
        // Two times of a weekend are one place.
        if (x - half < taken || x < half || x > this.across - half + 20) continue;
        taken = x + half + 10;
        pen.fillStyle = colour("line");
        pen.fillRect(Math.round(x), TOP, 1, height - BOTTOM - TOP);
        pen.fillStyle = colour("soft");
        pen.fillText(words, x, height - 6);
      }
    }

    scale(pane, begin, end) {
      let low = Infinity, high = pane.top === undefined ? -Infinity : pane.top;
      for (const { values } of pane.lines) {
        for (let i = begin; i < end; i++) {
          if (values[i] < low) low = values[i];
          if (values[i] > high) high = values[i];
        }
      }
      const edge = (high - low) * 0.06 || Math.abs(high) * 0.01 || 1;
      pane.low = low - edge;
      pane.high = pane.top === undefined ? high + edge : high;
      pane.y = (value) => pane.to - (value - pane.low) / (pane.high - pane.low) * (pane.to - pane.from);
    }

    grid(pen, pane) {
      const step = nice((pane.high - pane.low) / Math.max((pane.to - pane.from) / 45, 1.5));
      const digits = Math.min(Math.max(-Math.floor(Math.log10(step) + 1e-9), 0), 8);
      pen.textAlign = "left";
      for (let value = Math.ceil(pane.low / step) * step; value <= pane.high + step / 1e6; value += step) {
        const y = Math.round(pane.y(value));
        pen.fillStyle = colour("line");
        pen.fillRect(0, y, this.across, 1);
        pen.fillStyle = colour("soft");
        pen.fillText(fixed(value, digits), this.across + 7, Math.min(y + 4, pane.to));
      }
    }

    // One stroke down each column of pixels where there are more points than columns.
    line(pen, pane, line, begin, end) {
      const { values } = line;
      pen.save();
      pen.beginPath();
      pen.rect(0, pane.from - 2, this.across, pane.to - pane.from + 4);
      pen.clip();
      pen.strokeStyle = pen.fillStyle = colour(line.colour);
      pen.lineWidth = 1.4;
      pen.lineJoin = "round";
      pen.beginPath();
      const dense = end - begin > this.across * 3;
      let column = -1, low = 0, high = 0;
      for (let i = begin; i < end; i++) {
        const x = this.x(i);
        if (!dense) { pen.lineTo(x, pane.y(values[i])); continue; }
        if (Math.floor(x) !== column) {
          if (column >= 0) { pen.lineTo(column, pane.y(low)); pen.lineTo(column, pane.y(high)); }
          column = Math.floor(x);
          low = high = values[i];
        } else if (values[i] < low) low = values[i]; else if (values[i] > high) high = values[i];
      }
      if (dense && column >= 0) { pen.lineTo(column, pane.y(low)); pen.lineTo(column, pane.y(high)); }
      pen.stroke();
      if (line.filled) {
        pen.lineTo(this.x(end - 1), pane.y(0));
        pen.lineTo(this.x(begin), pane.y(0));
        pen.globalAlpha = 0.22;
        pen.fill();
      }
      pen.restore();
    }

    trades(pen) {
      const [pane] = this.panes;
      const from = this.timeAt(this.from), to = this.timeAt(this.to);
      const seen = this.about.trades.filter((each) => each[3] >= from && each[1] <= to);
      const small = seen.length > this.across / 6;
      pen.save();
      pen.beginPath();
      pen.rect(0, pane.from - 4, this.across, pane.to - pane.from + 8);
      pen.clip();
      const [gain, loss, card] = [colour("gain"), colour("loss"), colour("card")];
      for (const [number, opened, open, closed, close, side] of seen) {
        const [x0, x1] = [opened, closed].map((at) => this.x(this.place(at))), [y0, y1] = [pane.y(open), pane.y(close)];
        pen.strokeStyle = pen.fillStyle = data.trades[number][7] >= 0 ? gain : loss;
        pen.lineWidth = number === this.marked ? 4 : 1.6;
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.stroke();
        if (small && number !== this.marked) continue;
        pen.lineWidth = 1.2;
        pen.beginPath();
        const tip = side > 0 ? 1 : -1;
        pen.moveTo(x0, y0);
        pen.lineTo(x0 - 5, y0 + 9 * tip);
        pen.lineTo(x0 + 5, y0 + 9 * tip);
        pen.closePath();
        pen.fill();
        pen.beginPath();
        pen.arc(x1, y1, 3.2, 0, 7);
        pen.fillStyle = card;
        pen.fill();
        pen.stroke();
      }
      pen.restore();
    }

    cross(pen, height) {
      const wanted = Math.round(this.from + (this.to - this.from) * this.cursor);
      const i = Math.min(Math.max(wanted, 0), this.times.length - 1), x = this.x(i);
      if (x < 0 || x > this.across) return;
      pen.fillStyle = colour("soft");
      pen.fillRect(Math.round(x), TOP, 1, height - BOTTOM - TOP);
      this.legend.replaceChildren(moment(this.times[i]));
      for (const pane of this.panes) {
        for (const { name, colour: kind, values } of pane.lines) {
          this.legend.append(make("span", undefined, `key ${kind}`), `${name} ${fixed(values[i], pane.digits)}`);
          pen.fillStyle = colour(kind);
          pen.beginPath();
          pen.arc(x, pane.y(values[i]), 3, 0, 7);
          pen.fill();
        }
      }
    }

    mark(number) {
      const [, opened, , closed] = this.about.trades.find(([each]) => each === number);
      const [begin, end] = [this.place(opened), this.place(closed)];
      const around = Math.max((end - begin) * 3, this.least * 2);
      this.marked = number;
      this.show(begin - around, end + around);
    }
  }

  for (const about of data.charts) {
    const canvas = document.getElementById(`chart-${about.id}`);
    if (canvas) charts.set(about.id, new Chart(canvas, about));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.draw()));
  addEventListener("beforeprint", () => charts.forEach((chart) => chart.paint()));

  // ---- list of trades

  const PAGE = 25;
  const list = document.getElementById("trade-list");
  if (!list) return;

  const digits = new Map(data.charts.filter((each) => each.symbol).map((each) => [each.symbol, each.digits]));
  const held = (row) => (row[0] === null ? null : row[1] - row[0]);
  const span = (seconds) => (seconds === null ? "-" : `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}`);
  const price = (value, row) => fixed(value, digits.get(row[2]) ?? 5);
  const signed = (value) => (!value ? "" : value > 0 ? "gain" : "loss");
  // Heading, what is sorted by, what is shown, class of the cell.
  const columns = [
    ["#", (row) => row.number, (row) => row.number + 1],
    ["Opened", (row) => row[0], (row) => moment(row[0])],
    [`Net, ${data.currency}`, (row) => row[7], (row) => fixed(row[7], 2), (row) => signed(row[7])],
    ["Side", (row) => row[3], (row) => row[3], () => "words"],
    ["Symbol", (row) => row[2], (row) => row[2], () => "words"],
    ["Lots", (row) => row[4], (row) => row[4]],
    ["Entry", (row) => row[5], (row) => price(row[5], row)],
    ["Exit", (row) => row[6], (row) => price(row[6], row)],
    ["Closed", (row) => row[1], (row) => moment(row[1])],
    ["Held", held, (row) => span(held(row))],
    ["Costs", (row) => row[8], (row) => fixed(row[8], 2)],
    ["Swap", (row) => row[9], (row) => fixed(row[9], 2)],
    ["MFE", (row) => row[10], (row) => fixed(row[10], 2)],
    ["MAE", (row) => row[11], (row) => fixed(row[11], 2)],
    ["Comment", (row) => row[12], (row) => row[12], () => "words"],
  ];
  const rows = data.trades.map((row, number) => Object.assign(row, {
    number, text: [moment(row[0]), moment(row[1]), row[2], row[3], row[12]].join(" ").toLowerCase(),
  }));
  const search = document.getElementById("search"), found = document.getElementById("found");
  const [previous, next] = ["previous", "next"].map((name) => document.getElementById(name));
  let sorted = 0, falling = false, shown = rows, number = 0;

  const head = make("tr"), body = make("tbody");
  columns.forEach(([title, , , kind], at) => {
    const cell = make("th", undefined, kind && kind.length === 0 ? "words" : ""), button = make("button", title);
    cell.scope = "col";
    button.type = "button";
    button.addEventListener("click", () => {
      falling = sorted === at ? !falling : false;
      sorted = at;
      number = 0;
      refresh();
    });
    cell.append(button);
    head.append(cell);
  });
  list.append(make("thead"), body);
  list.tHead.append(head);

  const compare = (one, other) => {
    const [a, b] = [columns[sorted][1](one), columns[sorted][1](other)];
    if (a === b) return one.number - other.number;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * (falling ? -1 : 1);
  };

  const refresh = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.filter((row) => words.every((word) => row.text.includes(word))).sort(compare);
    const pages = Math.max(Math.ceil(shown.length / PAGE), 1);
    number = Math.min(number, pages - 1);
    [...head.cells].forEach((cell, at) => {
      if (at === sorted) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren(...shown.slice(number * PAGE, (number + 1) * PAGE).map(line));
    const net = shown.reduce((sum, row) => sum + row[7], 0);
    found.textContent = `${shown.length} of ${rows.length} trades, net ${fixed(net, 2)} ${data.currency}`;
    document.getElementById("page").textContent = `page ${number + 1} of ${pages}`;
    previous.disabled = number === 0;
    next.disabled = number === pages - 1;
    previous.parentElement.hidden = pages === 1;
  };

  const line = (row) => {
    const made = make("tr");
    columns.forEach(([, , show, kind], at) => {
      const cell = make("td", undefined, kind ? kind(row) : "");
      const chart = charts.get(`price-${row[2]}`);
      if (at === 0 && chart && row[0] !== null) {
        const button = make("button", show(row));
        button.type = "button";
        button.setAttribute("aria-label", `Show trade ${show(row)} in its chart`);
        button.addEventListener("click", () => {
          chart.mark(row.number);
          chart.canvas.focus({ preventScroll: true });
          chart.canvas.scrollIntoView({ block: "center" });
        });
        cell.append(button);
      } else cell.textContent = show(row);
      made.append(cell);
    });
    return made;
  };

  search.addEventListener("input", () => { number = 0; refresh(); });
  previous.addEventListener("click", () => { number--; refresh(); });
  next.addEventListener("click", () => { number++; refresh(); });
  refresh();
})();
