// Charts: drawn again at the width of the window, on another scale, or for a part of the x axis; as in chart.py.
(function () {
  "use strict";
  var LEFT = 64, RIGHT = 14, TOP = 10, BOTTOM = 26, DOTS = 12;
  function finite(v) { return v !== null && isFinite(v); }
  function drawable(v, log) { return finite(v) && (v > 0 || !log); }
  function extent(values, log, floor, share) {
    var good = values.filter(function (v) { return drawable(v, log) && (!log || v > floor); });
    if (!good.length) return log ? [1, 10] : [0, 1];
    var low = Math.min.apply(null, good), high = Math.max.apply(null, good), pad;
    if (log) {
      var a = Math.log10(low), b = Math.log10(high);
      pad = b > a ? share * (b - a) : 0.5;
      return [Math.pow(10, Math.max(a - pad, -307)), Math.pow(10, Math.min(b + pad, 307))];
    }
    pad = high > low ? share * (high - low) : Math.abs(high) / 2 || 1;
    return [low - pad, high + pad];
  }
  function raised(k) {
    return String(k).split("").map(function (c) { return c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]; }).join("");
  }
  function label(v, plain) {
    if (v === 0 || plain) return String(+v.toPrecision(6)).replace("-", "−");
    var parts = v.toExponential(2).split("e"), power = "10" + raised(+parts[1]), front = String(+parts[0]).replace("-", "−");
    return front === "1" ? power : front + "·" + power;
  }
  function ticks(low, high, log, most) {
    var plain = Math.max(Math.abs(low), Math.abs(high)) < 1e5 && (!log || low >= 1e-4), found = [], step, k;
    if (log && Math.log10(high / low) >= 1) {
      var a = Math.log10(low), b = Math.log10(high);
      step = Math.max(1, Math.ceil((b - a) / most));
      for (k = Math.floor(a); k <= Math.floor(b); k++) {
        if (k % step === 0) (b - a < most / 3 ? [1, 2, 5] : [1]).forEach(function (m) { found.push(m * Math.pow(10, k)); });
      }
    } else {
      var raw = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
      step = [1, 2, 5, 10].map(function (m) { return m * power; }).filter(function (s) { return s >= raw * (1 - 1e-9); })[0];
      plain = plain && step >= 1e-5;
      for (k = Math.ceil(low / step); k <= Math.floor(high / step); k++) found.push(k * step);
    }
    return found.filter(function (v) { return low <= v && v <= high; }).map(function (v) { return [v, label(v, plain)]; });
  }
  function axis(ends, log, start, end) {
    var low = log ? Math.log10(ends[0]) : ends[0], high = log ? Math.log10(ends[1]) : ends[1];
    var made = { log: log, ends: ends };
    made.place = function (v) { return start + (end - start) * ((log ? Math.log10(v) : v) - low) / (high - low); };
    made.value = function (pixel) {
      var at = low + (high - low) * (pixel - start) / (end - start);
      return log ? Math.pow(10, at) : at;
    };
    return made;
  }
  function path(points, x, y) {
    var pen = "M";
    return points.map(function (p) {
      if (!drawable(p[0], x.log) || !drawable(p[1], y.log)) { pen = "M"; return ""; }
      var text = pen + x.place(p[0]).toFixed(1) + " " + y.place(p[1]).toFixed(1);
      pen = "L";
      return text;
    }).join("");
  }
  function band(line, x, y) {
    var rows = [];
    line.x.forEach(function (at, k) {
      if (drawable(at, x.log) && drawable(line.high[k], y.log)) {
        rows.push([at, drawable(line.low[k], y.log) ? line.low[k] : y.ends[0], line.high[k]]);
      }
    });
    if (rows.length < 2) return "";
    var up = rows.map(function (r) { return [r[0], r[2]]; }), down = rows.map(function (r) { return [r[0], r[1]]; });
    return path(up.concat(down.reverse()), x, y) + "Z";
  }
  function escaped(text) { return text.replace(/&/g, "&amp;").replace(/</g, "&lt;"); }

  document.querySelectorAll(".chart").forEach(function (box) {
    var data = JSON.parse(box.querySelector("script").textContent), svg = box.querySelector("svg.plot");
    var drawn = svg.querySelector(".drawn"), clip = svg.querySelector("clipPath rect"), out = box.querySelector("output");
    var controls = box.querySelector(".controls"), height = data.height, at = -1, from = null;
    var log = data.log.slice(), part = null, x, y, width;
    var every = [].concat.apply([], data.lines.map(function (l) { return l.x; }));
    var cursor = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "g"));
    cursor.setAttribute("class", "cursor");

    function ends() {
      var whole = log[0] === data.log[0] ? data.x : extent(every, log[0], 0, 0.01), across = part || whole;
      if (!part && log[0] === data.log[0] && log[1] === data.log[1]) return [data.x, data.y];
      var seen = [];
      data.lines.forEach(function (line) {
        line.x.forEach(function (v, k) {
          if (!drawable(v, log[0]) || v < across[0] || v > across[1]) return;
          [line.y, line.low, line.high].forEach(function (s) { if (s.length) seen.push(s[k]); });
        });
      });
      return [across, extent(seen, log[1], part ? 0 : data.floor, 0.04)];
    }
    function draw() {
      width = Math.max(260, Math.round(svg.getBoundingClientRect().width) || 860);
      svg.setAttribute("viewBox", "0 0 " + width + " " + height);
      clip.setAttribute("width", width - LEFT - RIGHT);
      var both = ends(), text = [];
      x = axis(both[0], log[0], LEFT, width - RIGHT);
      y = axis(both[1], log[1], height - BOTTOM, TOP);
      ticks(both[0][0], both[0][1], log[0], Math.max(3, Math.floor((width - LEFT - RIGHT) / 90))).forEach(function (t) {
        var p = x.place(t[0]).toFixed(1);
        text.push('<path class="grid" d="M' + p + " " + TOP + "V" + (height - BOTTOM) + '"/>');
        text.push('<text x="' + p + '" y="' + (height - 8) + '" text-anchor="middle">' + t[1] + "</text>");
      });
      ticks(both[1][0], both[1][1], log[1], Math.max(3, Math.floor((height - TOP - BOTTOM) / 45))).forEach(function (t) {
        var p = y.place(t[0]);
        text.push('<path class="grid" d="M' + LEFT + " " + p.toFixed(1) + "H" + (width - RIGHT) + '"/>');
        text.push('<text x="' + (LEFT - 7) + '" y="' + (p + 4).toFixed(1) + '" text-anchor="end">' + t[1] + "</text>");
      });
      text.push('<path class="frame" d="M' + LEFT + " " + TOP + "V" + (height - BOTTOM) + "H" + (width - RIGHT) + '"/>');
      text.push('<g clip-path="url(#' + svg.querySelector("clipPath").id + ')">');
      data.lines.forEach(function (line) {
        var points = line.x.map(function (v, k) { return [v, line.y[k]]; });
        if (line.low.length) text.push('<path class="band s-' + line.role + '" d="' + band(line, x, y) + '"/>');
        text.push('<path class="line s-' + line.role + '" stroke-width="' + line.width + '"' +
          (line.dash ? ' stroke-dasharray="' + line.dash + '"' : "") + ' d="' + path(points, x, y) + '"/>');
        if (points.length <= DOTS || part) points.forEach(function (p) {
          if (drawable(p[0], x.log) && drawable(p[1], y.log)) {
            text.push('<circle class="dot s-' + line.role + '" r="3" cx="' + x.place(p[0]).toFixed(1) + '" cy="' +
              y.place(p[1]).toFixed(1) + '"/>');
          }
        });
      });
      text.push("</g>");
      data.rings.forEach(function (r) {
        if (!drawable(r[0], x.log) || !drawable(r[1], y.log) || r[0] < both[0][0] || r[0] > both[0][1]) return;
        var a = x.place(r[0]), b = y.place(r[1]), left = a > width - 140;
        text.push('<circle class="ring" r="8" cx="' + a.toFixed(1) + '" cy="' + b.toFixed(1) + '"/>');
        text.push('<text class="ring" x="' + (a + (left ? -12 : 12)).toFixed(1) + '" text-anchor="' +
          (left ? "end" : "start") + '" y="' + Math.max(b - 10, 12).toFixed(1) + '">' + escaped(r[2]) + "</text>");
      });
      drawn.innerHTML = text.join("");
      cursor.innerHTML = "";
      controls.querySelector("[data-do=x]").textContent = log[0] ? "Linear x axis" : "Logarithmic x axis";
      controls.querySelector("[data-do=y]").textContent = log[1] ? "Linear y axis" : "Logarithmic y axis";
      controls.querySelector("[data-do=all]").disabled = part === null;
    }
    function show(k) {
      if (!data.words.length) return;
      at = Math.max(0, Math.min(data.words.length - 1, k));
      var line = data.lines[0];
      if (!drawable(line.x[at], x.log)) { out.textContent = data.words[at]; cursor.innerHTML = ""; return; }
      var a = x.place(line.x[at]).toFixed(1);
      cursor.innerHTML = '<path d="M' + a + " " + TOP + "V" + (height - BOTTOM) + '"/>' + data.lines.slice(0, 2).map(function (l) {
        return drawable(l.y[at], y.log) ? '<circle r="4" cx="' + a + '" cy="' + y.place(l.y[at]).toFixed(1) + '"/>' : "";
      }).join("");
      out.textContent = data.words[at];
    }
    function pixel(event) { return event.clientX - svg.getBoundingClientRect().left; }
    function zoom(a, b) {  // to the values between two pixels
      var low = x.value(Math.max(LEFT, Math.min(a, b))), high = x.value(Math.min(width - RIGHT, Math.max(a, b)));
      if (high > low && finite(low) && finite(high)) { part = [low, high]; draw(); }
    }
    function inwards() { var w = width - LEFT - RIGHT, c = at >= 0 && drawable(data.lines[0].x[at], x.log) ?
      x.place(data.lines[0].x[at]) : LEFT + w / 2; zoom(c - w / 4, c + w / 4); }
    function can(k) {
      var values = k ? [].concat.apply([], data.lines.map(function (l) { return l.y; })) : every;
      return values.filter(function (v) { return finite(v) && v > 0; }).length > 1;
    }
    function act(what) {
      if (what === "all") part = null;
      if (what === "in") { inwards(); return; }
      if (what === "x" || what === "y") { log[what === "y" ? 1 : 0] = !log[what === "y" ? 1 : 0]; part = null; }
      draw();
    }
    controls.hidden = false;
    controls.querySelector("[data-do=x]").hidden = !can(0);
    controls.querySelector("[data-do=y]").hidden = !can(1);
    controls.onclick = function (event) { if (event.target.dataset.do) act(event.target.dataset.do); };
    svg.setAttribute("tabindex", "0");
    svg.onpointerdown = function (event) { from = pixel(event); };
    svg.onpointermove = function (event) {
      var here = pixel(event), best = -1;
      if (from !== null && Math.abs(here - from) > 4) {
        cursor.innerHTML = '<rect x="' + Math.min(from, here) + '" y="' + TOP + '" width="' + Math.abs(here - from) +
          '" height="' + (height - TOP - BOTTOM) + '"/>';
        return;
      }
      (data.lines[0] || { x: [] }).x.forEach(function (v, k) {
        if (drawable(v, x.log) && (best < 0 || Math.abs(x.place(v) - here) < Math.abs(x.place(data.lines[0].x[best]) - here))) best = k;
      });
      if (best >= 0) show(best);
    };
    svg.onpointerup = function (event) {
      var start = from, here = pixel(event);
      from = null;
      if (start !== null && Math.abs(here - start) > 8) zoom(start, here);
    };
    svg.onpointerleave = function () { from = null; };
    svg.ondblclick = function () { act("all"); };
    svg.onkeydown = function (event) {
      var step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], what = { "+": "in", "-": "all", "0": "all" }[event.key];
      if (step) { event.preventDefault(); show(at + step); }
      if (what) { event.preventDefault(); act(what); }
    };
    draw();
    var waiting = null;
    window.addEventListener("resize", function () { clearTimeout(waiting); waiting = setTimeout(draw, 60); });
  });
})();
